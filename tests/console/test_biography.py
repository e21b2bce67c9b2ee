"""A memory's page: what can be done to it, what that would do, and what was done."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import load_supports
from notes.models import Derivation, EvolutionEvent, Fact, Link, Note, Relation
from personas.models import ProfileAttribute
from personas.traits import get_owner_name
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import (
    make_call,
    make_entity,
    make_event,
    make_fact,
    make_link,
    make_member,
    make_note,
    make_source,
    make_turns,
)


def build_address(world: ConsoleWorld, kind: str = "fact", row: Any = None) -> str:
    return reverse(f"space-{kind}", args=[world.space.id, (row or getattr(world, kind)).id])


def get_form(browser: Client, world: ConsoleWorld, query: str, kind: str = "fact") -> str:
    """The form alone, as the browser fetches it."""
    answer = browser.get(f"{build_address(world, kind)}?{query}", headers={"HX-Request": "true"})
    return answer.content.decode()


def list_rows(world: ConsoleWorld) -> list[Any]:
    with tenant_scope(world.tenant.id):
        facts = Fact.objects.order_by("id").values("id", "text", "version", "status", "valid_to")
        return [*facts, EvolutionEvent.objects.count()]


def test_every_action_says_what_it_would_do_and_does_nothing_yet(
    browser: Client, world: ConsoleWorld
) -> None:
    before = list_rows(world)
    said = {
        "retract": "marks 1 fact as false",
        "end": "ends 1 fact",
        "forget": "removes 1 fact",
        "pin": "changes 1 fact",
        "edit&text=I+keep+bees+in+Bruges": "writes 1 fact, removes 1 fact",
    }
    for query, words in said.items():
        assert f"<b>This {words}.</b>" in get_form(browser, world, f"action={query}")
    assert list_rows(world) == before


def test_a_correction_that_begins_later_warns_that_nothing_is_held_until_then(
    browser: Client, world: ConsoleWorld
) -> None:
    query = "action=correct&text=I+keep+bees+in+Bruges&since="
    warning = "until then nothing is held"
    assert warning in get_form(browser, world, f"{query}2199-01-01T00:00")
    assert warning not in get_form(browser, world, f"{query}2026-05-13T00:00")
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(valid_from=datetime(2198, 1, 1, tzinfo=UTC))
    assert warning not in get_form(browser, world, f"{query}2199-01-01T00:00")


def test_what_follows_from_it_is_said_too(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        entities = [make_entity(world.space, f"{name}") for name in ("Nora", "bees")]
        Relation.objects.create(
            tenant=world.tenant, space=world.space, fact=world.fact,
            src=entities[0], label="keeps", dst=entities[1],
        )  # fmt: skip
        ProfileAttribute.objects.create(
            tenant=world.tenant, space=world.space, owner=get_owner_name(world.space),
            key="hobby", value="bees", fact=world.fact,
        )  # fmt: skip
    page = get_form(browser, world, "action=retract")
    assert "1 relation between entities is updated" in page
    assert "1 profile entry is updated" in page
    assert "profile" not in get_form(browser, world, "action=pin")


def test_the_new_words_are_set_off_before_they_are_saved(
    browser: Client, world: ConsoleWorld
) -> None:
    page = get_form(browser, world, "action=correct&text=I+keep+bees+in+Bruges")
    assert "I keep bees in <del>Ghent</del><ins>Bruges</ins>" in page


def test_a_value_changed_alone_takes_the_place_of_the_old_one_in_the_sentence(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(text="Nora lives in Oslo.", object="Oslo")
    form = {"action": "correct", "text": "Nora lives in Oslo.", "value": "Bergen"}
    page = get_form(browser, world, urlencode(form))
    assert "Nora lives in <del>Oslo</del><ins>Bergen</ins>." in page
    browser.post(build_address(world), form)
    with tenant_scope(world.tenant.id):
        held = Fact.objects.get(retired_at=None)
    assert (held.text, held.object) == ("Nora lives in Bergen.", "Bergen")


def test_other_facts_that_name_the_old_value_change_only_where_they_are_ticked(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(text="Nora lives in Oslo.", object="Oslo")
        garage, desk = (
            make_fact(world.space, f"Nora rents a {what} in Oslo.", world.turn)
            for what in ("garage", "desk")
        )
    form = {"action": "correct", "text": "Nora lives in Bergen.", "value": "Bergen"}
    page = get_form(browser, world, urlencode(form))
    ticks = re.findall(r'type="checkbox" name="also" value="([^"]+)"( checked)?', page)
    assert sorted(ticks) == sorted([(str(garage.id), ""), (str(desk.id), "")])
    browser.post(build_address(world), form | {"also": [str(garage.id)]})
    with tenant_scope(world.tenant.id):
        held = set(Fact.objects.filter(retired_at=None).values_list("text", flat=True))
    assert held == {
        "Nora lives in Bergen.",
        "Nora rents a garage in Bergen.",
        "Nora rents a desk in Oslo.",
    }


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("Nora lives in Norway.", False),
        ("Nora lives in Osloville.", False),
        ("Nora lives in bergen now.", True),
    ],
)
def test_a_value_that_the_sentence_does_not_say_is_refused(
    browser: Client, world: ConsoleWorld, text: str, is_said: bool
) -> None:
    held = "Nora lives in Osloville."
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(text=held, object="Oslo")
    form = {"action": "correct", "text": text, "value": "Bergen"}
    missing = "Not possible yet: the sentence doesn’t say “Bergen”".replace("’", "&#x27;")
    assert (missing in get_form(browser, world, urlencode(form))) is not is_said
    browser.post(build_address(world), form)
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(retired_at=None).text == (text if is_said else held)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Callum takes 10 mg of ramipril every morning.", "10 mg of ramipril"),
        ("Callum takes 10 mg of ramipril every evening, with water.", "10 mg of ramipril"),
        ("Callum takes 5 mg of ramipril at noon.", "5 mg of ramipril"),
        ("Callum is on 15 mg of ramipril now.", ""),
    ],
)
def test_a_value_left_as_it_was_is_read_from_the_sentence_or_left_out(
    browser: Client, world: ConsoleWorld, text: str, value: str
) -> None:
    held = "Callum takes 5 mg of ramipril every morning."
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(text=held, object="5 mg of ramipril")
    browser.post(
        build_address(world), {"action": "correct", "text": text, "value": "5 mg of ramipril"}
    )
    with tenant_scope(world.tenant.id):
        now_held = Fact.objects.get(retired_at=None)
    assert (now_held.text, now_held.object) == (text, value)


def test_a_hidden_memory_is_told_from_a_reworded_one(browser: Client, world: ConsoleWorld) -> None:
    browser.post(build_address(world), {"action": "correct", "text": "I keep bees in Bruges"})
    with tenant_scope(world.tenant.id):
        newer = Fact.objects.get(retired_at=None)
    browser.post(build_address(world, row=newer), {"action": "forget"})
    reworded = browser.get(build_address(world)).content.decode()
    hidden = browser.get(build_address(world, row=newer)).content.decode()
    for page, words in ((reworded, "Reworded on "), (hidden, "Hidden on ")):
        assert f"<p>{words}" in page
    rows = browser.get(reverse("space-facts", args=[world.space.id]), {"status": "past"})
    assert b"Reworded on " in rows.content
    assert b"Hidden on " in rows.content


def test_what_tells_of_an_end_is_not_said_to_have_ended(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        over = make_fact(world.space, "Nora and Isla broke up", polarity="ended")
    page = browser.get(build_address(world, row=over)).content.decode()
    assert '<span class="badge warn">tells of an end</span>' in page
    assert "<p>True since 12 May" in page


def test_a_refused_form_keeps_what_was_typed(browser: Client, world: ConsoleWorld) -> None:
    form = {"action": "correct", "text": "I keep goats", "value": "hens", "reason": "she told me"}
    page = browser.post(build_address(world), form).content.decode()
    assert "Nothing was changed" in page
    assert ">I keep goats</textarea>" in page
    assert 'value="hens"' in page
    assert 'value="she told me"' in page


def test_a_correction_stands_in_the_history_with_name_reason_and_undo(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"action": "correct", "text": "I keep bees in Bruges", "reason": "said so on the phone"}
    page = browser.post(build_address(world), form, follow=True).content.decode()
    assert '<h2 class="statement">I keep bees in Bruges</h2>' in page
    assert "Corrected." in page
    assert f"by {world.admin.username}" in page
    assert "said so on the phone" in page
    assert "Made by</dt><dd>" + world.admin.username in page
    assert "local/1" not in page.split("Made by</dt>")[1].split("</dd>")[0]
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.filter(kind="manual")[0]
    undo = reverse("space-event", args=[world.space.id, event.id])
    assert f'action="{undo}"' in page
    back = browser.post(undo, {"back": build_address(world)}, follow=True)
    assert back.redirect_chain[-1][0] == build_address(world)
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(retired_at=None).id == world.fact.id


def test_the_history_keeps_a_reason_in_one_language_whoever_acts(
    browser: Client, world: ConsoleWorld
) -> None:
    said = browser.post(
        build_address(world), {"action": "pin"}, headers={"Accept-Language": "zh-CN"}, follow=True
    )
    assert "Pinned." not in said.content.decode()
    with tenant_scope(world.tenant.id):
        assert EvolutionEvent.objects.filter(kind="manual")[0].reason == "pinned"


def test_undoing_leads_back_to_no_other_host(browser: Client, world: ConsoleWorld) -> None:
    browser.post(build_address(world), {"action": "pin"})
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.filter(kind="manual")[0]
    undo = reverse("space-event", args=[world.space.id, event.id])
    answer = browser.post(undo, {"back": "https://elsewhere.example/"})
    assert answer["Location"].startswith(f"/spaces/{world.space.id}/history/")


def test_a_merged_fact_hands_over_what_it_rests_on(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        (turn,) = make_turns(world.space, "I have bees in the city of Ghent.")
        kept = make_fact(world.space, "I have bees in the city of Ghent", turn)
    page = get_form(browser, world, "action=merge&find=city")
    assert str(kept.id) in page
    assert "Not possible yet" in page
    page = get_form(browser, world, f"action=merge&other={kept.id}")
    assert "changes 1 fact, removes 1 fact" in page
    browser.post(build_address(world), {"action": "merge", "other": str(kept.id)})
    with tenant_scope(world.tenant.id):
        kept.refresh_from_db()
        assert kept.mention_count == 2
        assert Fact.objects.get(id=world.fact.id).retired_at is not None
        turns = Derivation.objects.filter(child_id=kept.id).values_list("turn_id", flat=True)
        assert set(turns) == {turn.id, world.turn.id}


def test_a_merge_undone_gives_back_what_was_handed_over(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        (turn,) = make_turns(world.space, "I have bees in the city of Ghent.")
        kept = make_fact(world.space, "I have bees in the city of Ghent", turn)
    browser.post(build_address(world), {"action": "merge", "other": str(kept.id)})
    for expected in ({turn.id}, {turn.id, world.turn.id}, {turn.id}):
        with tenant_scope(world.tenant.id):
            last = EvolutionEvent.objects.order_by("created_at", "id").last()
        assert last is not None
        browser.post(reverse("space-event", args=[world.space.id, last.id]))
        with tenant_scope(world.tenant.id):
            supports = load_supports("fact", [kept.id, world.fact.id])
        assert {source.turn_id for source in supports[kept.id]} == expected
        assert {source.turn_id for source in supports[world.fact.id]} == {world.turn.id}


def test_a_merged_note_hands_over_its_links(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        kept = make_note(world.space, "Hives in Ghent", keywords=["hives"])
        third = make_note(world.space, "Honey")
        make_link(world.note, third)
        make_link(world.note, kept)
    browser.post(build_address(world, "note"), {"action": "merge", "other": str(kept.id)})
    with tenant_scope(world.tenant.id):
        (link,) = Link.objects.filter(active=True)
        assert {link.a_id, link.b_id} == {kept.id, third.id}
        assert Note.objects.get(id=kept.id).keywords == ["hives", "bees"]
        assert Note.objects.get(id=world.note.id).retired_at is not None


def test_what_was_forgotten_can_be_restored(browser: Client, world: ConsoleWorld) -> None:
    for kind in ("fact", "note"):
        browser.post(build_address(world, kind), {"action": "forget"})
        page = browser.get(build_address(world, kind)).content.decode()
        assert "action=restore" in page
        assert "action=retract" not in page
        browser.post(build_address(world, kind), {"action": "restore"})
        with tenant_scope(world.tenant.id):
            row = {"fact": Fact, "note": Note}[kind].objects.get(id=getattr(world, kind).id)
        assert row.retired_at is None


def test_a_note_is_described_anew(browser: Client, world: ConsoleWorld) -> None:
    form = {"action": "describe", "context": "Bees", "keywords": "bees、 honey", "tags": ""}
    browser.post(build_address(world, "note"), form)
    with tenant_scope(world.tenant.id):
        note = Note.objects.get(id=world.note.id)
    assert (note.context, note.keywords, note.tags) == ("Bees", ["bees", "honey"], [])
    assert note.corrected_by == world.admin.username


def test_what_is_sent_wrongly_changes_nothing_and_says_why(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Other")
    before = list_rows(world)
    long = ", ".join(str(n) for n in range(51))
    for kind, form, why in (
        ("fact", {"action": "fly"}, "there is no such action"),
        ("fact", {}, "there is no such action"),
        ("fact", {"action": "describe"}, "there is no such action"),
        ("fact", {"action": "correct", "text": " "}, "empty"),
        ("fact", {"action": "end", "at": "soon"}, "this time is not valid"),
        ("fact", {"action": "merge", "other": "x"}, "choose the memory"),
        ("fact", {"action": "merge", "other": str(world.fact.id)}, "with itself"),
        ("fact", {"action": "merge", "other": str(other.fact.id)}, "no such fact"),
        ("fact", {"action": "restore"}, "holds already"),
        ("note", {"action": "describe", "keywords": long}, "at most 50"),
        ("note", {"action": "merge", "other": str(other.note.id)}, "no such note"),
    ):
        page = browser.post(build_address(world, kind), form, follow=True).content.decode()
        assert "Nothing was changed" in page, form
        assert why.lower() in page.lower(), form
    assert list_rows(world) == before


def test_a_viewer_reads_the_life_and_is_offered_nothing(
    client: Client, world: ConsoleWorld
) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    for kind in ("fact", "note"):
        page = client.get(f"{build_address(world, kind)}?action=forget").content.decode()
        assert "action=" not in page.split('<article class="stack">')[1]
        assert client.post(build_address(world, kind), {"action": "forget"}).status_code == 403


def test_a_change_names_the_prompts_and_models_that_were_asked(
    browser: Client, world: ConsoleWorld
) -> None:
    from tests.console.test_escaping import make_revision

    with tenant_scope(world.tenant.id):
        event = make_event(world.space, job_id=world.job.id)
        make_call(world.space, job=world.job, template="judge/4", model="small")
        make_revision(event, world.fact, "I keep bees")
    page = browser.get(build_address(world)).content.decode()
    assert '<span class="mono">small</span> with <span class="mono">judge/4</span>' in page
    assert "Undo…" in page


def test_what_stands_around_a_fact_is_one_step_away(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        other = make_fact(world.space, "I talk of bees", world.turn)
        about = make_note(world.space, "A keeper of bees", fact=world.fact)
        make_source(about, world.turn)
    page = browser.get(build_address(world)).content.decode()
    for row, kind in ((other, "fact"), (about, "note"), (world.segment, "segment")):
        assert f'href="{build_address(world, kind, row)}"' in page


def test_recalls_are_drawn_by_day_and_what_never_fades_has_no_curve(
    browser: Client, world: ConsoleWorld
) -> None:
    page = browser.get(build_address(world)).content.decode()
    assert '<svg class="daily"' in page
    assert "Nothing fades under the policy of this space" in page
