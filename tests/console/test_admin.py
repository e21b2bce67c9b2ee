"""Django's admin: every table, the tenant's own rows, and no change behind a service's back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from memoryhub.console.admin.actions import ACTIONS, list_actions
from memoryhub.console.admin.base import HubAdmin
from memoryhub.console.admin.elsewhere import WAYS
from memoryhub.console.admin.names import list_unnamed_columns, list_unnamed_tables
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline import corrections
from memoryhub.pipeline.jobs.queue import plan_step
from memoryhub.pipeline.models import Job, SealedErasure
from memoryhub.tenants.models import ApiKey, AuditEntry, Space, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from notes.history.row_kinds import list_row_kinds
from notes.models import (
    EvolutionEvent,
    Fact,
    Link,
    Note,
    Page,
    Receipt,
    Revision,
    Segment,
    SegmentPage,
)
from personas import profile
from personas.blocks import BlockWriter, rethink_block
from personas.models import BlockVersion, ProfileAttribute
from personas.traits import get_owner_name
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.attack import take_fingerprints
from tests.support.factories import (
    make_block,
    make_entity,
    make_episode,
    make_event,
    make_fact,
    make_job,
    make_link,
    make_member,
    make_note,
    make_segment,
    make_trait,
    make_turns,
)

LOOKED_AT = sorted(admin.site._registry, key=lambda model: model._meta.label)

# Of a list: its rows, their number, its filters, the policies of its spaces; ten are the frame's.
MOST_STATEMENTS = 17


def build_list_address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def test_every_model_can_be_looked_at_and_none_changed(browser: Client) -> None:
    for model in LOOKED_AT:
        assert browser.get(build_list_address(model)).status_code == 200, model
        assert browser.get(build_list_address(model) + "add/").status_code == 403, model


def test_every_row_of_every_table_has_a_page(browser: Client, world: ConsoleWorld) -> None:
    """With what hangs on it."""
    opened = set()
    for model in LOOKED_AT:
        for row in browser.get(build_list_address(model)).context["cl"].result_list:
            assert browser.get(build_row_address(row)).status_code == 200, row
            opened.add(model)
    assert len(opened) > 30, {m.__name__ for m in LOOKED_AT} - {m.__name__ for m in opened}


def test_what_is_shown_is_of_the_tenant_in_use(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    for model, own, foreign in (
        (type(world.space), world.space.subject, other.space.subject),
        (User, world.admin.username, other.admin.username),
        (type(world.tenant), world.tenant.name, other.tenant.name),
    ):
        page = browser.get(build_list_address(model)).content.decode()
        assert own in page
        assert foreign not in page


def test_an_operator_sees_the_tenant_in_use_too(client: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    client.force_login(make_member(world.tenant, is_superuser=True))
    assert other.admin.username not in client.get(build_list_address(User)).content.decode()


def test_no_account_is_changed_here(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("admin:tenants_user_change", args=[world.admin.id])
    form = {"username": "x", "is_superuser": "on", "password": "x"}
    assert browser.post(where, form).status_code == 403
    assert not User.objects.get(id=world.admin.id).is_superuser
    assert browser.get(f"{where}password/").status_code in (302, 404)


def test_a_key_shows_no_digest(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(reverse("admin:tenants_apikey_change", args=[world.key.id]))
    assert world.key.name in page.content.decode()
    assert world.key.digest not in page.content.decode()


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_it_takes_an_admin_of_the_tenant(client: Client, world: ConsoleWorld, role: str) -> None:
    client.force_login(make_member(world.tenant, role, is_staff=True))
    assert client.get(reverse("admin:index"), follow=True).status_code == 403


def test_an_operator_of_no_tenant_finds_none_here(client: Client, world: ConsoleWorld) -> None:
    client.force_login(User.objects.create_superuser("root", password="x"))
    assert client.get(build_list_address(type(world.space)), follow=True).status_code == 403


def test_there_is_one_way_to_sign_in(client: Client, db: None) -> None:
    answer = client.get(reverse("admin:index"), follow=True)
    assert answer.redirect_chain[-1][0].startswith(reverse("sign-in"))
    form = {"username": "x", "password": "x"}
    assert client.post(reverse("admin:login"), form).status_code == 302


def build_row_address(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def reread(row: Any) -> None:
    with tenant_scope(row.tenant_id):
        row.refresh_from_db()


def add_rows(world: ConsoleWorld, count: int) -> None:
    """Several of what lists show most, each with what its columns name."""
    with tenant_scope(world.tenant.id):
        for at in range(count):
            turn, answer = make_turns(world.space, f"I met Rui {at} times.", "Did you?")
            make_fact(world.space, f"I met Rui {at} times", turn)
            ends = [make_note(world.space, f"Rui {at}, {side}") for side in ("a", "b")]
            make_link(*ends)
            make_segment(world.space, f"Rui {at}", turn, answer)
            make_episode(world.space, f"Rui again, {at}.", turn, answer)
            make_event(world.space)
            make_job(world.space, "done")


def count_statements(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(address).status_code == 200
    return len(asked)


def test_lists_ask_as_much_for_many_rows_as_for_few(browser: Client, world: ConsoleWorld) -> None:
    before = {model: count_statements(browser, build_list_address(model)) for model in LOOKED_AT}
    add_rows(world, 6)
    after = {model: count_statements(browser, build_list_address(model)) for model in LOOKED_AT}
    assert after == before
    assert max(after.values()) <= MOST_STATEMENTS


def test_a_rows_page_asks_as_much_for_much_that_hangs_on_it(
    browser: Client, world: ConsoleWorld
) -> None:
    address = build_row_address(world.space)
    add_rows(world, 10)
    count_statements(browser, address)  # what is read once a process
    before = count_statements(browser, address)
    add_rows(world, 5)
    assert count_statements(browser, address) == before


def test_the_first_page_says_how_it_stands(browser: Client, world: ConsoleWorld) -> None:
    before = count_statements(browser, reverse("admin:index"))
    page = browser.get(reverse("admin:index")).content.decode()
    for model in (Fact, Note, Link, Segment, EvolutionEvent, Job, Space, Tenant, ApiKey):
        assert build_list_address(model) in page
    assert world.segment.summary in page
    for name in ("space-graph", "space-history", "space-heat"):
        assert reverse(name, args=[world.space.id]) in page
    add_rows(world, 3)
    assert count_statements(browser, reverse("admin:index")) == before


def test_lists_are_searched_and_filtered(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "I sold the boat", world.turn, status="retracted")
    address = build_list_address(Fact)
    for asked, shown in (
        ({"q": "bees"}, ["bees in Ghent"]),
        ({"q": world.space.subject}, ["bees in Ghent", "sold the boat"]),
        ({"status__exact": "retracted"}, ["sold the boat"]),
        ({"space": str(world.space.id), "held": "yes"}, ["bees in Ghent", "sold the boat"]),
        ({"space": str(world.tenant.id)}, []),
        ({"held": "no"}, []),
    ):
        page = browser.get(address, asked).content.decode()
        listed = page.partition("<tbody>")[2].partition("</tbody>")[0]
        for words in ("bees in Ghent", "sold the boat"):
            assert (words in listed) == (words in shown), (asked, words)


def test_a_rows_page_shows_its_life_and_leads_to_its_page(
    browser: Client, world: ConsoleWorld
) -> None:
    for row, name, told in (
        (world.fact, "space-fact", "Listen, "),
        (world.note, "space-note", "Two hives."),
        (world.segment, "space-segment", "Heat"),
        (world.episode, "space-episode", "Nora keeps bees."),
        (world.event, "space-event", "What it changed"),
        (world.block, "space-block", "Keeps bees."),
    ):
        page = browser.get(build_row_address(row)).content.decode()
        console = reverse(name, args=[world.space.id, row.id])
        assert console in page
        assert told in page
        assert build_row_address(row) in browser.get(console).content.decode()


def test_a_notes_page_draws_its_links(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        other = make_note(world.space, "Honey from the roof")
        make_link(world.note, other)
    page = browser.get(build_row_address(world.note)).content.decode()
    assert "edge-link" in page
    assert page.count("Honey from the roof") >= 2  # in the picture and in the table
    assert build_row_address(other) in page


def test_a_row_whose_lists_hold_ids_has_a_page(browser: Client, world: ConsoleWorld) -> None:
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        receipt = Receipt.objects.create(
            tenant=world.tenant, target="facts", target_digest="d", actor="a wish", created_at=now
        )
        sealed = SealedErasure.objects.create(
            tenant=world.tenant, space=world.space, receipt=receipt, event_id=world.event.id,
            row_ids=[world.fact.id], sealed="", created_at=now, until=now,
        )  # fmt: skip
    answer = browser.get(build_row_address(sealed))
    assert answer.status_code == 200
    assert str(world.fact.id) in answer.content.decode()


def send_action(browser: Client, row: Model, name: str, **more: Any) -> Any:
    form = {"action": name, "_selected_action": str(row.pk), **more}
    return browser.post(build_list_address(type(row)), form, follow=True)


def test_an_action_is_shown_before_it_is_done_and_can_be_undone(
    browser: Client, world: ConsoleWorld
) -> None:
    asked = send_action(browser, world.fact, "retract").content.decode()
    assert "marks 1 fact as false" in asked
    reread(world.fact)
    assert world.fact.status == Fact.Status.ACTIVE
    done = send_action(browser, world.fact, "retract", confirmed="1", reason="a mix-up")
    reread(world.fact)
    assert world.fact.status == Fact.Status.RETRACTED
    assert world.fact.corrected_by == world.admin.username
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.get(space=world.space, reason="a mix-up")
    assert reverse("space-event", args=[world.space.id, event.id]) in done.content.decode()


def test_what_does_not_fit_a_row_is_refused_with_its_reason(
    browser: Client, world: ConsoleWorld
) -> None:
    done = send_action(browser, world.note, "restore", confirmed="1")
    assert "Nothing was changed" in done.content.decode()
    for name in ("erase", "", "retract"):
        assert "select rows" in send_action(browser, world.note, name).content.decode()


def test_jobs_keys_and_spaces_have_their_actions(browser: Client, world: ConsoleWorld) -> None:
    send_action(browser, world.job, "retry", confirmed="1")
    reread(world.job)
    assert world.job.state == Job.State.QUEUED
    send_action(browser, world.key, "revoke", confirmed="1")
    reread(world.key)
    assert world.key.revoked_at is not None
    with tenant_scope(world.tenant.id):
        assert AuditEntry.objects.filter(action="key.revoked").exists()
    send_action(browser, world.space, "pause", confirmed="1")
    reread(world.space)
    assert world.space.paused_by == world.admin.username


def make_amendable(world: ConsoleWorld) -> dict[str, Any]:
    """A row of each kind that has an action of its own, by the action's name and the kind's."""
    with tenant_scope(world.tenant.id):
        page = Page.objects.filter(space=world.space).earliest("id")
        merged = make_entity(world.space, "Gent")
        trait = make_trait(world.space, "openness", "high", world.turn)
    with tenant_scope(world.tenant.id):
        _, entry = profile.write_attribute(world.space, "town", "Ghent", "ida", timezone.now())
        first = BlockVersion.objects.get(block=world.block)
        writer = BlockWriter("ida", "person", timezone.now(), world.space)
        rethink_block(writer, world.block.id, "Keeps wasps.")
    # What is told of an entity that stands for itself is nothing to be taken back.
    corrections.merge_memories(
        world.space, "entity", merged.id, world.entity.id, "ida", timezone.now()
    )
    made = corrections.end_fact(world.space, world.fact.id, "ida", timezone.now())
    rows = {"pin": page, "split": merged, "withdraw": trait, "remove": entry, "restore": first}
    found = rows | {"undo": made.event, "remove block": world.block}
    for row in found.values():
        reread(row)
    return found


def read_state(name: str, row: Any) -> Any:
    """What the action of this name is to change about the row, as it is now."""
    with tenant_scope(row.tenant_id):
        row = type(row).objects.get(pk=row.pk)
        if name == "restore":
            return row.block.value
        if name == "undo":
            return Fact.objects.get(space=row.space, text="I keep bees in Ghent").status
        columns = {"pin": "pinned", "split": "merged_into_id", "withdraw": "valid_to"}
        return getattr(row, columns.get(name, "retired_at"))


AMENDED = ("pin", "split", "withdraw", "remove", "restore", "undo", "remove block")


@pytest.mark.parametrize("name", AMENDED)
def test_each_kind_is_put_right_by_its_service_and_that_is_undone(
    browser: Client, world: ConsoleWorld, name: str
) -> None:
    """Asked for first, with its reason in the history; the undo that is offered takes it back."""
    row = make_amendable(world)[name]
    action = next(a for a in list_actions(type(row)) if a.name == name.split()[0])
    assert f'value="{action.name}"' in browser.get(build_row_address(row)).content.decode()
    before = read_state(name, row)
    asked = send_action(browser, row, action.name).content.decode()
    assert escape(str(action.help)) in asked
    assert 'name="reason"' in asked
    assert read_state(name, row) == before
    done = send_action(browser, row, action.name, confirmed="1", reason="a mix-up")
    assert escape(str(action.done)) in done.content.decode()
    assert read_state(name, row) != before
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.get(space=world.space, reason__contains="a mix-up")
    assert event.actor == world.admin.username
    undo = reverse("space-event", args=[world.space.id, event.id])
    assert undo in done.content.decode()
    assert f'value="{action.name}"' not in browser.get(build_row_address(row)).content.decode()
    browser.post(undo)
    assert read_state(name, row) == before


def test_undoing_says_what_it_changes_and_what_stands_in_its_way(
    browser: Client, world: ConsoleWorld
) -> None:
    ended = corrections.end_fact(world.space, world.fact.id, "ida", timezone.now()).event
    asked = send_action(browser, ended, "undo").content.decode()
    assert "reopens 1 fact" in asked
    assert f"<li>{ended.get_kind_display()}: ended</li>" in asked
    corrections.set_pinned(world.space, "fact", world.fact.id, True, "ida", timezone.now())
    asked = send_action(browser, ended, "undo").content.decode()
    assert "1 later change built on this" in asked
    done = send_action(browser, ended, "undo", confirmed="1").content.decode()
    assert "Nothing was changed: 1 later change built on this" in done
    reread(world.fact)
    assert world.fact.valid_to is not None


def test_a_trait_is_called_by_its_words(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        trait = make_trait(world.space, "openness", "high", world.turn)
    shown = browser.get(build_row_address(trait))
    assert shown.context["headline"] == str(trait)
    browser.cookies["django_language"] = "zh-hans"
    assert browser.get(build_row_address(trait)).context["headline"] == "对新事物好奇"


def test_what_follows_from_something_else_is_not_edited_here(
    browser: Client, world: ConsoleWorld
) -> None:
    """No action is offered, and one that is sent all the same changes nothing."""
    with tenant_scope(world.tenant.id):
        generated = make_block(world.space, "portrait", "Keeps bees.", generated=True)
        shared = make_block(world.space, "rules", "Be kind.", shared=True)
        mirrored = ProfileAttribute.objects.create(
            tenant=world.tenant, space=world.space, owner=get_owner_name(world.space),
            key="town", value="Ghent", fact=world.fact,
        )  # fmt: skip
        theirs = make_trait(world.space, "openness", "high", world.turn, owner="an agent")
    for row in (generated, shared, mirrored, theirs):
        assert 'name="action"' not in browser.get(build_row_address(row)).content.decode()
    for row, name in ((generated, "remove"), (mirrored, "remove")):
        send_action(browser, row, name, confirmed="1")
        reread(row)
        assert row.retired_at is None


def test_a_kind_without_an_action_says_what_can_be_done_instead(
    browser: Client, world: ConsoleWorld
) -> None:
    """Every kind of memory has the one or the other, and so has what was said."""
    for model in (Turn, BlockVersion, *(kind.model for kind in list_row_kinds())):
        assert model in ACTIONS or model in WAYS, model
    with tenant_scope(world.tenant.id):
        link = make_link(world.note, make_note(world.space, "Honey from the roof"))
        page = Page.objects.filter(space=world.space).earliest("id")
        place = SegmentPage.objects.get(page=page)
    space, note, topic = world.space.id, world.note, world.segment.id
    erase = f"{reverse('space-erase', args=[space])}?turns={world.turn.id}"
    to_topic = reverse("space-segment", args=[space, topic])
    describe = f"{reverse('space-note', args=[space, note.id])}?action=describe"
    for row, told, address in (
        (link, "one of its notes is hidden", reverse("space-note", args=[space, link.a_id])),
        (world.segment, "forms topics by itself", to_topic),
        (place, "places exchanges by itself", to_topic),
        (page, "until it is erased", erase),
        (world.turn, "until it is erased", erase),
        (note, "Its description is edited", describe),
        (world.entity, "chosen in their list", reverse("space-entities", args=[space])),
    ):
        page_text = browser.get(build_row_address(row)).content.decode()
        (line,) = [each for each in page_text.splitlines() if told in each]
        assert f'<a href="{address}">' in line
        assert browser.get(address).status_code == 200


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_actions_take_an_admin(client: Client, world: ConsoleWorld, role: str) -> None:
    client.force_login(make_member(world.tenant, role))
    send_action(client, world.fact, "retract", confirmed="1")
    reread(world.fact)
    assert world.fact.status == Fact.Status.ACTIVE


def test_actions_reach_no_other_tenant(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    rows = [other.fact, other.note, other.episode, other.job, other.key, other.space]
    rows += make_amendable(other).values()
    assert {type(row) for row in rows} == set(ACTIONS)
    before = take_fingerprints(other.tenant.id)
    for row in rows:
        for action in ACTIONS[type(row)]:
            send_action(browser, row, action.name, confirmed="1")
    assert take_fingerprints(other.tenant.id) == before


def test_every_column_has_a_name_that_reads_well_or_is_book_keeping() -> None:
    for model, shown in admin.site._registry.items():
        hidden = cast("HubAdmin", shown)._list_hidden_columns()
        assert set(list_unnamed_columns(model)) <= hidden, model._meta.label


def test_what_the_hub_writes_in_english_is_said_in_the_readers_language(
    browser: Client, world: ConsoleWorld
) -> None:
    browser.cookies["django_language"] = "zh-hans"
    page = browser.get(build_list_address(Turn)).content.decode()
    assert "用户" in page
    assert "User<" not in page
    with tenant_scope(world.tenant.id):
        make_event(world.space)
    page = browser.get(build_list_address(EvolutionEvent)).content.decode()
    assert ">系统<" in page
    assert ">pipeline<" not in page
    page = browser.get(build_list_address(Revision)).content.decode()
    assert "行的种类" in page
    assert "Row type" not in page


def test_every_table_of_a_tenant_has_a_name_that_reads_well(browser: Client) -> None:
    assert list_unnamed_tables() == []
    page = browser.get(build_list_address(AuditEntry)).content.decode()
    assert "Tenant changes" in page
    browser.cookies["django_language"] = "zh-hans"
    page = browser.get(build_list_address(AuditEntry)).content.decode()
    assert "租户变更" in page


def test_jobs_that_wait_are_as_many_in_the_list_as_the_overview_says(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_job(world.space, "queued")
        plan_step(world.space, Job.Step.SWEEP, "later", timezone.now() + timedelta(weeks=4))
        planned = Job.objects.get(dedupe_key="sweep:later")
    assert planned.created_at <= timezone.now()
    front = browser.get(reverse("admin:index"))
    address = build_list_address(Job)
    assert f"{address}?state__exact=queued&amp;due=now" in front.content.decode()
    waiting = browser.get(address, {"state__exact": "queued", "due": "now"}).context["cl"]
    assert waiting.result_count == front.context["queue"].waiting
    later = browser.get(address, {"due": "later"}).context["cl"]
    assert planned in later.result_list


def test_lists_find_what_they_show(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        job = make_job(world.space, "done", step=Job.Step.SWEEP)
        page = Page.objects.filter(space=world.space).first()
    assert page is not None
    found = browser.get(build_list_address(Job), {"q": "tidy memories"}).context["cl"]
    assert job in found.result_list
    with tenant_scope(world.tenant.id):
        said = Turn.objects.get(session_id=page.session_id, seq=page.first_seq).text
    for words, there in ((said[:20], True), ("nothing like it", False)):
        found = browser.get(build_list_address(Page), {"q": words}).context["cl"]
        assert (page in found.result_list) == there


def test_a_row_is_told_in_short_figures_and_by_its_name(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        fact = make_fact(world.space, "bees " * 40, world.turn, confidence=0.6000000000000001)
        page = Page.objects.filter(space=world.space).first()
    assert page is not None
    shown = browser.get(reverse("admin:notes_fact_change", args=[fact.id]))
    assert "0.60" in {each.value for each in shown.context["stored"]}
    assert str(fact).endswith("…")
    with tenant_scope(world.tenant.id):
        said = Turn.objects.get(session_id=page.session_id, seq=page.first_seq).text
    told = browser.get(reverse("admin:notes_page_change", args=[page.id]))
    assert told.context["headline"] == said
    listed = browser.get(build_list_address(Page)).content.decode()
    assert said in listed
    assert "first message" in listed.lower()
    of_session = browser.get(reverse("admin:dialogues_session_change", args=[page.session_id]))
    assert "first message" in of_session.content.decode().lower()
