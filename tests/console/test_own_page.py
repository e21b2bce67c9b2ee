"""A person's own page: who gets in, what they see, and that their word stands."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryhub.console.pages.own import access, corrections
from memoryhub.console.pages.own.views import CONFIRM_WORDS, urlpatterns
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.models import SealedErasure
from memoryhub.policies.services import set_policy
from memoryhub.tenants import person_links
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import PersonLink, Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import pause_space, resume_space
from notes.models import EvolutionEvent, Fact, Note, Proposal, Receipt, Revision
from personas.models import CoreBlock, ProfileAttribute, Trait
from personas.traits import get_owner_name
from tests.console.conftest import ConsoleWorld, make_plans, make_world
from tests.support.factories import (
    make_event,
    make_fact,
    make_note,
    make_receipt,
    make_trait,
    make_turns,
)

POSTED = {
    "me-open",
    "me-close",
    "me-tell",
    "me-note-forget",
    "me-trait",
    "me-pause",
    "me-export",
    "me-wish-undo",
}
# Neither needs a link.
OPEN = {"me-open", "me-close"}


def make_token(space: Space, **more: int) -> str:
    now = timezone.now()
    return person_links.create_person_link(
        space, "ida", now, now + timedelta(**more or {"days": 1})
    )[1]


@pytest.fixture
def me(world: ConsoleWorld) -> Client:
    """A browser in which the person has opened their link."""
    browser = Client()
    assert open_with_token(browser, make_token(world.space)).status_code == 302
    return browser


def open_with_token(browser: Client, token: str) -> Any:
    return browser.post(reverse("me-open"), {"token": token})


def build_address(name: str, world: ConsoleWorld) -> str:
    pattern = next(each for each in urlpatterns if each.name == name)
    return reverse(name, args=[world.collect_ids()[each] for each in pattern.pattern.converters])


def call_page(browser: Client, name: str, world: ConsoleWorld) -> Any:
    return (browser.post if name in POSTED else browser.get)(build_address(name, world))


def get_page(browser: Client, name: str, *args: object) -> str:
    answer = browser.get(reverse(name, args=args))
    assert answer.status_code == 200
    return answer.content.decode()


def get_fact(world: ConsoleWorld) -> Fact:
    with tenant_scope(world.tenant.id):
        return Fact.objects.get(id=world.fact.id)


# Who gets in

ENDS: dict[str, Callable[[ConsoleWorld, str], str]] = {
    "made up": lambda world, token: "hello",
    "empty": lambda world, token: "",
    "tampered": lambda world, token: ("0" if token[0] != "0" else "1") + token[1:],
    "cut": lambda world, token: token[:-1],
    "of another kind": lambda world, token: person_links.build_link_name(
        world.tenant.id, world.link.id
    ),
}


def revoke_links(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for link in PersonLink.objects.all():
            person_links.revoke_person_link(link, timezone.now())


def expire_links(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        PersonLink.objects.update(expires_at=timezone.now())


def delete_spaces(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Space.objects.all().delete()


@pytest.mark.parametrize("name", ENDS)
def test_no_other_text_opens_it(client: Client, world: ConsoleWorld, name: str) -> None:
    answer = client.post(reverse("me-open"), {"token": ENDS[name](world, make_token(world.space))})
    assert answer.status_code == 404
    assert answer.content == client.get(reverse("me")).content  # as a stranger is answered


@pytest.mark.parametrize("end", [revoke_links, expire_links, delete_spaces])
def test_a_link_that_is_over_looks_like_one_that_never_was(
    client: Client, me: Client, world: ConsoleWorld, end: Callable[[ConsoleWorld], None]
) -> None:
    token = make_token(world.space)
    end(world)
    late, stranger = client.post(reverse("me-open"), {"token": token}), Client().get(reverse("me"))
    assert late.status_code == stranger.status_code == 404
    assert late.content == stranger.content
    within = me.get(reverse("me"))  # who was in is out at once
    assert (within.status_code, within.content) == (404, stranger.content)
    assert b"Nothing to see here" in stranger.content


@pytest.mark.parametrize("name", [str(p.name) for p in urlpatterns if p.name not in OPEN])
def test_strangers_get_one_page_at_every_address(
    browser: Client, world: ConsoleWorld, name: str
) -> None:
    """Also an operator of the hub who is signed in: an account opens nothing here."""
    for who in (Client(), browser):
        answer = call_page(who, name, world)
        assert answer.status_code == 404
        assert answer.content == Client().get(reverse("me")).content
    assert get_fact(world).text == "I keep bees in Ghent"


@pytest.mark.parametrize("name", ["me-memory", "me-memory-erase", "me-note-forget"])
def test_ids_of_other_people_do_not_exist(me: Client, world: ConsoleWorld, name: str) -> None:
    other = make_world("Other")
    with tenant_scope(world.tenant.id):
        space = Space.objects.create(tenant=world.tenant, subject="neighbour")
        neighbour = {"fact": make_fact(space, "Mine"), "note": make_note(space, "Mine")}
    kind = "note" if "note" in name else "fact"
    for row in (neighbour[kind], getattr(other, kind)):
        for form in ({"action": "forget"}, {"action": "wrong", "words": "Not any more"}):
            assert me.post(reverse(name, args=[row.id]), form).status_code == 404
        with tenant_scope(row.tenant_id):
            row.refresh_from_db()
        assert row.retired_at is None


def test_a_made_up_token_is_refused_without_asking_the_database(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert open_with_token(client, "a" * 64 + ":1abc:sig").status_code == 404


def test_the_token_is_nowhere_but_in_the_form(
    client: Client, world: ConsoleWorld, caplog: pytest.LogCaptureFixture
) -> None:
    token = make_token(world.space)
    with caplog.at_level(logging.DEBUG):
        answer = open_with_token(client, token)
        shown = client.get(answer["Location"])
    assert answer["Location"] == reverse("me")
    assert token not in caplog.text
    assert token not in shown.content.decode()
    assert token not in client.cookies[access.VISIT_COOKIE].value
    with tenant_scope(world.tenant.id):
        kept = json.dumps(list(PersonLink.objects.values()), default=str)
    assert token.partition(":")[2] not in kept


def test_what_it_sends_is_kept_nowhere_and_told_to_nobody(me: Client, world: ConsoleWorld) -> None:
    cookie = me.cookies[access.VISIT_COOKIE]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/me/", True, "Strict")
    assert cookie["max-age"] == 1800
    for answer in (me.get(reverse("me")), Client().get(reverse("me")), me.get(reverse("me-open"))):
        assert answer["Referrer-Policy"] == "same-origin"
        assert "noindex" in answer["X-Robots-Tag"]
        assert "no-store" in answer["Cache-Control"]
        assert "default-src 'self'" in answer["Content-Security-Policy"]
        assert "sessionid" not in answer.cookies


def test_a_visit_that_rests_too_long_is_over(me: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_IDLE", timedelta(seconds=-1))
    assert me.get(reverse("me")).status_code == 404


def test_closing_it_ends_the_visit(me: Client) -> None:
    assert me.post(reverse("me-close"))["Location"] == reverse("me-open")
    assert me.get(reverse("me")).status_code == 404


def test_more_than_a_person_reads_is_put_off(
    me: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MAX_REQUESTS_A_MINUTE", 0)
    answer = me.get(reverse("me"))
    assert answer.status_code == 429
    assert b"keep bees" not in answer.content


def test_visits_are_counted_by_the_minute(world: ConsoleWorld) -> None:
    now = timezone.now().replace(second=1)
    name = person_links.read_token(make_token(world.space))
    assert name
    counts = [
        person_links.count_link_visit(name, now + timedelta(seconds=at)) for at in (0, 30, 60)
    ]
    assert [visit.count for visit in counts if visit] == [1, 2, 1]


def test_forms_are_guarded_against_other_sites(world: ConsoleWorld) -> None:
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post(reverse("me-open"), {"token": make_token(world.space)})
    assert answer.status_code == 403


# What is seen


def test_memories_stand_in_plain_words_under_their_topic(me: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        name = get_owner_name(world.space)
        (turn,) = make_turns(world.space, "I live in Ghent. 我喜欢茶。")
        make_fact(world.space, "Lives in Ghent", turn, owner=name, predicate_key="lives_in")
        make_fact(world.space, "我喜欢茶", turn, owner=name, kind="preference")
        make_fact(world.space, "Rui keeps goats", turn, owner="Rui")
    shown = get_page(me, "me")
    order = ["Home and family", "Lives in Ghent", "Likes and habits", "我喜欢茶</a>"]
    order += ["Other people and things you mentioned", "Rui keeps goats"]
    places = [shown.index(words) for words in order]
    assert places == sorted(places)
    assert 'lang="zh">我喜欢茶' in shown
    assert "Believed since 12 May" in shown
    assert "You said" in shown


def test_a_plan_whose_day_is_over_no_longer_stands_among_the_plans(
    me: Client, world: ConsoleWorld
) -> None:
    make_plans(world, owner=get_owner_name(world.space))
    page = get_page(me, "me")
    ahead, over = page.split("Plans whose day is over")
    assert "Nora walks to Bruges." in ahead.split("Plans and dates")[1]
    assert "Nora flies to Rome." in over
    assert "Was planned for" in over


def test_a_quote_ends_where_its_words_do(me: Client, world: ConsoleWorld) -> None:
    assert "Do you?</q>" in get_page(me, "me")


def test_who_is_known_by_an_id_is_whoever_spoke(me: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Space.objects.filter(id=world.space.id).update(subject="u-4711", speakers=["Nora"])
        Fact.objects.filter(id=world.fact.id).update(owner="Nora")
    assert "Other people" not in get_page(me, "me")


def test_what_they_said_before_their_name_was_known_is_theirs_too(
    me: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        spoke = ["Nora", "the user"]
        Space.objects.filter(id=world.space.id).update(name="Nora", speakers=spoke)
        Turn.objects.filter(id=world.turn.id).update(speaker="the user")
    assert "You said" in get_page(me, "me")
    memory = get_page(me, "me-memory", world.fact.id)
    assert "You, " in memory
    assert "the user" not in memory


def test_what_the_hub_put_right_is_no_operators_correction(me: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for actor in ("ida", HUB_ACTOR):
            event = make_event(world.space, kind="manual", actor=actor)
            changed = {"before": {"text": "Keeps bees"}, "after": {"text": world.fact.text}}
            row = {"row_type": "fact", "row_id": world.fact.id, "space": world.space}
            row |= {"version_after": 1}
            Revision.objects.create(event=event, tenant=world.tenant, **row, **changed)
    memory = get_page(me, "me-memory", world.fact.id)
    assert memory.count("by an operator") == 1


def test_a_memory_tells_where_it_comes_from(me: Client, world: ConsoleWorld) -> None:
    shown = get_page(me, "me-memory", world.fact.id)
    assert "<mark>I keep bees in Ghent</mark>" in shown
    assert "Where it comes from" in shown


def test_what_holds_no_longer_is_found_by_asking_for_it(me: Client, world: ConsoleWorld) -> None:
    me.post(reverse("me-memory", args=[world.fact.id]), {"action": "wrong"})
    assert "I keep bees in Ghent" not in get_page(me, "me")
    withdrawn = me.get(reverse("me"), {"show": "withdrawn", "q": "bees"}).content.decode()
    assert "I keep bees in Ghent" in withdrawn
    assert "No matches" in me.get(reverse("me"), {"q": "goats"}).content.decode()


def test_the_persona_is_told_in_words(me: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn)
        ProfileAttribute.objects.create(
            tenant=world.tenant,
            space=world.space,
            owner=get_owner_name(world.space),
            key="home_town",
            value="Ghent",
        )
    shown = get_page(me, "me-about")
    assert "Ghent" in shown
    assert "openness" in shown.lower()
    assert "What you said" in shown


@pytest.mark.parametrize("name", ["me", "me-notes", "me-about", "me-data"])
def test_statements_do_not_grow_with_the_memories(
    me: Client, world: ConsoleWorld, name: str
) -> None:
    def statements() -> int:
        with tenant_scope(world.tenant.id):
            turns = make_turns(world.space, *(f"I keep hive {n}" for n in range(12)))
            for turn in turns:
                make_fact(world.space, turn.text, turn)
                make_note(world.space, turn.text)
        with CaptureQueriesContext(connection) as asked:
            get_page(me, name)
        return len(asked)

    few = statements()
    assert few == statements() < 25  # a third of them open and close scopes


# What is put right


def test_their_own_words_stand_in_its_place_and_the_pipeline_does_not_overwrite_them(
    me: Client, world: ConsoleWorld
) -> None:
    form = {"action": "wrong", "words": "I keep bees in Bruges"}
    answer = me.post(reverse("me-memory", args=[world.fact.id]), form, follow=True)
    assert b"Corrected. Your version stands" in answer.content
    assert b"by you" in answer.content
    with tenant_scope(world.tenant.id):
        new = Fact.objects.get(text="I keep bees in Bruges")
        event = EvolutionEvent.objects.get(actor=corrections.ACTOR)
    assert new.is_protected
    assert new.corrected_by == corrections.ACTOR
    assert get_fact(world).retired_at is not None
    assert event.kind == EvolutionEvent.Kind.MANUAL


def test_what_is_read_later_only_proposes_against_their_word(
    me: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        name = get_owner_name(world.space)
        home = make_fact(
            world.space,
            f"{name} lives in Ghent",
            world.turn,
            owner=name,
            predicate_key="lives_in",
            cardinality="single",
            object="Ghent",
        )
    words = f"{name} lives in Bruges"
    me.post(reverse("me-memory", args=[home.id]), {"action": "wrong", "words": words})
    ingest_messages(
        world.tenant.id,
        IngestRequest(world.space.subject, [Message("user", "I live in Ghent.", name)]),
    )
    run_space(world.tenant.id, world.space.id)
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(text=words).valid_to is None
        assert Proposal.objects.filter(space=world.space, kind="overwrite").exists()


def test_what_is_no_longer_so_ends_and_gives_way(me: Client, world: ConsoleWorld) -> None:
    form = {"action": "over", "words": "Now I keep goats", "at": ""}
    answer = me.post(reverse("me-memory", args=[world.fact.id]), form, follow=True)
    assert b"Marked as ended" in answer.content
    assert get_fact(world).valid_to is not None
    with tenant_scope(world.tenant.id):
        new = Fact.objects.get(text="Now I keep goats")
        turn = Turn.objects.get(text="Now I keep goats")
    assert new.is_protected
    assert turn.state == Turn.State.PROCESSED  # nothing is read into it


def test_forgetting_and_bringing_back(me: Client, world: ConsoleWorld) -> None:
    where = reverse("me-memory", args=[world.fact.id])
    assert b"no longer used" in me.post(where, {"action": "forget"}, follow=True).content
    assert get_fact(world).retired_at is not None
    assert b"It is used again" in me.post(where, {"action": "restore"}, follow=True).content
    assert get_fact(world).retired_at is None
    me.post(reverse("me-note-forget", args=[world.note.id]))
    with tenant_scope(world.tenant.id):
        assert Note.objects.get(id=world.note.id).retired_at is not None


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"action": "over", "at": "soon"}, "this date is not valid"),
        ({"action": "over", "at": "1999-01-01"}, "that is before it began"),
        ({"action": "wrong", "words": "I keep bees in Ghent"}, "that is what it says already"),
        ({"action": "wrong", "words": "x" * 1_100_000}, "at most 1048576 bytes"),
        ({"action": "restore"}, "this holds already"),
        ({"action": "burn"}, "there is no such action"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(
    me: Client, world: ConsoleWorld, form: dict[str, str], words: str
) -> None:
    answer = me.post(reverse("me-memory", args=[world.fact.id]), form)
    assert answer.status_code in (409, 413, 422)
    assert f"Nothing was changed: {words}" in answer.content.decode()
    assert get_fact(world).version == world.fact.version


@pytest.mark.parametrize("words", ["", "   ", "\0"])
def test_nothing_said_is_nothing_to_remember(me: Client, world: ConsoleWorld, words: str) -> None:
    answer = me.post(reverse("me-tell"), {"words": words})
    assert answer.status_code == 422
    assert b"the text is empty" in answer.content


def test_erasing_one_memory_takes_the_words_it_was_read_from(
    me: Client, world: ConsoleWorld
) -> None:
    where = reverse("me-memory-erase", args=[world.fact.id])
    assert "I keep bees in Ghent.</li>" in me.get(where).content.decode()
    assert b"Permanently erased" in me.post(where, follow=True).content
    with tenant_scope(world.tenant.id):
        assert not Fact.objects.filter(id=world.fact.id).exists()
        assert not Turn.objects.filter(text__contains="bees in Ghent").exists()
        assert Receipt.objects.get(actor=corrections.ACTOR).target == "facts"


def test_what_can_still_be_got_back_and_goes_with_a_memory_is_said(
    me: Client, world: ConsoleWorld
) -> None:
    where = reverse("me-memory-erase", args=[world.fact.id])
    said = "could still get back will be gone for good"
    assert said not in me.get(where).content.decode()
    now = timezone.now()
    until = now + timedelta(days=1)
    with tenant_scope(world.tenant.id):
        receipt = make_receipt(world.tenant, undoable_until=until)
        SealedErasure.objects.create(
            tenant=world.tenant, space=world.space, receipt=receipt, event_id=world.event.id,
            turn_ids=[world.turn.id], sealed="", created_at=now, until=until,
        )  # fmt: skip
    assert said in me.get(where).content.decode()


def post_trait(me: Client, key: str = "openness", **form: str) -> str:
    answer = me.post(reverse("me-trait", args=[key]), form, follow=True)
    return str(answer.content.decode())


def list_trait_levels(world: ConsoleWorld, key: str = "openness") -> list[tuple[str, str]]:
    """(level, who set it) of what is thought of the person now."""
    with tenant_scope(world.tenant.id):
        held = Trait.objects.filter(space=world.space, key=key, valid_to=None, retired_at=None)
        return list(held.values_list("level", "corrected_by"))


@pytest.fixture
def curious(world: ConsoleWorld) -> ConsoleWorld:
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn)
    set_policy(world.tenant.id, actor="ida", overrides={"portrait.enabled": True})
    return world


def test_a_person_takes_back_what_is_thought_of_them_and_that_too(
    me: Client, curious: ConsoleWorld
) -> None:
    assert "Removed: it is no longer assumed about you" in post_trait(me, level="")
    assert list_trait_levels(curious) == []
    assert "removed by you" in get_page(me, "me-about")
    assert "The earlier assessment applies again" in post_trait(me, action="back")
    assert list_trait_levels(curious) == [("high", "")]
    assert "What you said" in get_page(me, "me-about")  # with the words it rested on
    with tenant_scope(curious.tenant.id):
        kinds = EvolutionEvent.objects.filter(actor=corrections.ACTOR).order_by("created_at")
        assert list(kinds.values_list("kind", flat=True)) == ["manual", "undo"]


def test_a_person_says_how_it_is_instead_and_takes_back_one_word_after_another(
    me: Client, curious: ConsoleWorld
) -> None:
    assert "Your version stands" in post_trait(me, level="medium")
    post_trait(me, level="low")
    assert list_trait_levels(curious) == [("low", corrections.ACTOR)]
    assert "set by you" in get_page(me, "me-about")
    post_trait(me, action="back")
    assert list_trait_levels(curious) == [("medium", corrections.ACTOR)]
    post_trait(me, action="back")
    assert list_trait_levels(curious) == [("high", "")]
    assert "Nothing was changed: you have said nothing about it" in post_trait(me, action="back")


def test_the_portrait_follows_their_word_at_once(me: Client, curious: ConsoleWorld) -> None:
    def portrait() -> str:
        with tenant_scope(curious.tenant.id):
            held = CoreBlock.objects.filter(space=curious.space, generated=True, retired_at=None)
            return "".join(held.values_list("value", flat=True))

    post_trait(me, level="low")
    assert "fond of the familiar" in portrait()
    post_trait(me, level="")
    assert "familiar" not in portrait()


@pytest.mark.parametrize("key", ["extraversion", "gender", "height"])
def test_what_is_not_thought_of_them_is_nothing_to_put_right(
    me: Client, curious: ConsoleWorld, key: str
) -> None:
    """Never assessed, switched off by the policy, registered nowhere."""
    with tenant_scope(curious.tenant.id):
        make_trait(curious.space, "gender", "high", curious.turn)
    assert me.post(reverse("me-trait", args=[key]), {"level": "low"}).status_code == 404
    with tenant_scope(curious.tenant.id):
        assert not Trait.objects.exclude(corrected_by="").exists()


def test_a_level_that_is_none_is_refused(me: Client, curious: ConsoleWorld) -> None:
    assert "Nothing was changed: one of high, low, medium" in post_trait(me, level="very")
    assert list_trait_levels(curious) == [("high", "")]


# Pausing, taking along, erasing


def test_while_it_is_paused_nothing_said_is_kept(me: Client, world: ConsoleWorld) -> None:
    said = IngestRequest(world.space.subject, [Message("user", "I moved to Bruges.")])
    shown = me.post(reverse("me-pause"), {"paused": "yes"}, follow=True).content.decode()
    assert "Paused. Nothing you say is kept" in shown
    with pytest.raises(Conflict, match="memory is paused here"):
        ingest_messages(world.tenant.id, said)
    with tenant_scope(world.tenant.id):
        assert not Turn.objects.filter(text=said.messages[0].content).exists()
        assert Space.objects.get(id=world.space.id).paused_by == corrections.ACTOR
    me.post(reverse("me-tell"), {"words": "Call me Nora."})  # the person's own wish
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(text="Call me Nora.").corrected_by == corrections.ACTOR
    me.post(reverse("me-pause"), {"paused": "no"})
    assert len(ingest_messages(world.tenant.id, said).new) == 1


def test_pausing_twice_keeps_the_first_time(world: ConsoleWorld) -> None:
    now = timezone.now()
    pause_space(world.space, "ida", now)
    pause_space(world.space, corrections.ACTOR, now + timedelta(hours=1))
    with tenant_scope(world.tenant.id):
        world.space.refresh_from_db()
    assert (world.space.paused_at, world.space.paused_by) == (now, "ida")
    resume_space(world.space)
    with tenant_scope(world.tenant.id):
        world.space.refresh_from_db()
    assert world.space.paused_at is None


def test_the_export_is_of_their_own_space(me: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        other = Space.objects.create(tenant=world.tenant, subject="neighbour")
        make_fact(other, "A neighbour's secret")
    answer = me.post(reverse("me-export"))
    lines = b"".join(answer).decode()
    assert answer["Content-Type"] == "application/x-ndjson"
    assert "I keep bees in Ghent" in lines
    assert "secret" not in lines
    assert json.loads(lines.splitlines()[0])["scope"] == "space"


def test_erasing_everything_asks_shows_and_leaves_a_receipt(
    me: Client, world: ConsoleWorld
) -> None:
    where = reverse("me-erase")
    assert "What would be erased" in get_page(me, "me-erase")
    refused = me.post(where, {"confirm": "yes"})
    assert refused.status_code == 422
    assert b"Nothing was erased" in refused.content
    assert get_fact(world)
    done = me.post(where, {"confirm": CONFIRM_WORDS})
    with tenant_scope(world.tenant.id):
        assert not Space.objects.filter(id=world.space.id).exists()
        receipt = Receipt.objects.get(actor=corrections.ACTOR)
    assert str(receipt.id) in done.content.decode()
    assert b"bees" not in done.content
    assert me.get(reverse("me")).status_code == 404


# How operators make and close links


def test_an_operator_makes_a_link_sees_its_use_and_closes_it(
    browser: Client, world: ConsoleWorld
) -> None:
    where = reverse("space-person", args=[world.space.id])
    sent = browser.post(where, {"days": "1", "note": "by mail"})
    assert sent["Location"] == where
    shown = browser.get(where).content.decode()
    token = shown.partition("/me/open#")[2].partition("<")[0]
    assert token
    assert token not in browser.get(where).content.decode()
    person = Client()
    open_with_token(person, token)
    with tenant_scope(world.tenant.id):
        link = PersonLink.objects.get(note="by mail")
    assert link.last_used_at is not None
    assert link.created_by == world.admin.username
    browser.post(reverse("space-person-revoke", args=[world.space.id, link.id]))
    assert person.get(reverse("me")).status_code == 404
    assert "closed" in browser.get(where).content.decode()


def test_the_space_says_that_it_is_paused(browser: Client, world: ConsoleWorld) -> None:
    browser.post(reverse("space-pause", args=[world.space.id]), {"paused": "yes"})
    shown = browser.get(reverse("space-facts", args=[world.space.id])).content.decode()
    assert f"Paused by {world.admin.username}" in shown
    answer = browser.post(reverse("chat-say", args=[world.space.id]), {"text": "Hi"}, follow=True)
    assert "Not sent: memory is paused here" in answer.content.decode()
