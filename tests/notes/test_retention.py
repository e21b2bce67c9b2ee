"""Fading and coming back (spec §11.6, §15.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest
from django.db import connection

from memoryhub.policies import services as policies
from memoryhub.policies.schema import Forget, Policy
from memoryhub.policies.services import Effective
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes import retention
from notes.forgetting import draw, fades_at
from notes.models import EvolutionEvent, Fact, Note, Page, Revision
from notes.recording import ChangeSet
from tests.support.factories import MAY, make_fact, make_note, make_source, make_space, make_turns

pytestmark = pytest.mark.django_db
SAMPLE = Forget(mode="sample", keep_evidence=False)


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    in_force(monkeypatch, SAMPLE)
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        yield make_space(tenant)


def in_force(monkeypatch: pytest.MonkeyPatch, forget: Forget) -> None:
    effective = Effective(Policy(forget=forget), "t1.s0")
    for module in (policies, retention):
        monkeypatch.setattr(module, "policy_of", lambda space: effective)


def sweep(space: Space, now: datetime, forget: Forget = SAMPLE) -> tuple[int, int]:
    changes = ChangeSet(space, EvolutionEvent.Kind.FORGET, "pipeline", now)
    retention.set_dates(space, forget)
    counts = retention.settle(space, forget, now, changes)
    changes.save()
    return counts


def dormant(model: Any) -> set[UUID]:
    return set(model.objects.filter(visibility="dormant").values_list("id", flat=True))


def pages(space: Space, *texts: str) -> list[Page]:
    """One page a text."""
    keys = {"tenant_id": space.tenant_id, "space": space}
    return [
        Page.objects.create(session=turn.session, first_seq=turn.seq, last_seq=turn.seq, **keys)
        for turn in make_turns(space, *texts)
    ]


def note_drawn_near_half(space: Space) -> Note:
    """A note whose frozen draw is within 0.01 of one half."""
    number = next(n for n in range(10_000) if abs(draw(UUID(int=n + 1), 0) - 0.5) < 0.001)
    return make_note(space, "A note", id=UUID(int=number + 1))


def test_MB3_visible_just_before_and_dormant_just_after(space: Space) -> None:
    note = note_drawn_near_half(space)
    retention.set_dates(space, SAMPLE)
    note.refresh_from_db()
    assert note.forget_at is not None
    days = (note.forget_at - MAY).total_seconds() / 86_400
    assert days == pytest.approx(0.6931, abs=0.005)

    sweep(space, note.forget_at - timedelta(seconds=1))
    assert Note.objects.filter(retention.visible(SAMPLE)).exists()
    sweep(space, note.forget_at + timedelta(seconds=1))
    assert not Note.objects.filter(retention.visible(SAMPLE)).exists()


def ten_thousand(space: Space) -> None:
    Note.objects.bulk_create(
        Note(
            id=UUID(int=n),
            tenant_id=space.tenant_id,
            space=space,
            content=f"note {n}",
            occurred_at=MAY,
            created_at=MAY,
        )
        for n in range(1, 10_001)
    )


def test_MB4_hourly_sweeps_hide_what_one_sweep_hides(space: Space) -> None:
    ten_thousand(space)
    for hour in range(1, 25):
        sweep(space, MAY + timedelta(hours=hour))
    hourly = dormant(Note)
    Note.objects.update(visibility="active", forget_at=None)
    sweep(space, MAY + timedelta(hours=24))
    assert dormant(Note) == hourly
    assert 1 - len(hourly) / 10_000 == pytest.approx(0.368, abs=0.015)


def test_MB5_recall_strengthens_and_draws_anew(space: Space) -> None:
    recalled, other = pages(space, "I have a dog.", "I have a cat.")
    retention.set_dates(space, SAMPLE)
    other.refresh_from_db()
    day_three = MAY + timedelta(days=3)
    retention.recalled(space, [retention.Answer([("page", recalled.id)], day_three)])
    recalled.refresh_from_db()
    assert (recalled.strength, recalled.recall_count) == (2, 1)
    assert recalled.last_recall_at == day_three
    assert recalled.forget_at == fades_at(day_three, 2, draw(recalled.id, 1), 1.0)
    untouched = (other.strength, other.last_recall_at, other.forget_at)
    other.refresh_from_db()
    assert (other.strength, other.last_recall_at, other.forget_at) == untouched


def test_MB5_a_turn_recalled_strengthens_its_page_once(space: Space) -> None:
    (page,) = pages(space, "I have a dog.")
    turn = page.session.turns.get()
    retention.recalled(space, [retention.Answer([("turn", turn.id), ("page", page.id)], MAY)])
    page.refresh_from_db()
    assert page.strength == 2


def test_MB5_several_answers_at_once_leave_what_they_would_one_by_one(space: Space) -> None:
    both, once = pages(space, "I have a dog.", "I have a cat.")
    note = make_note(space, "A note")
    turn = both.session.turns.get(seq=both.first_seq)
    first = retention.Answer([("turn", turn.id), ("note", note.id)], MAY + timedelta(days=2))
    second = retention.Answer([("page", both.id), ("page", once.id)], MAY + timedelta(days=1))
    assert retention.recalled(space, [first, second]) == [{both.id}, {both.id, once.id}]
    for row, times, last in ((both, 2, first.at), (once, 1, second.at), (note, 1, first.at)):
        row.refresh_from_db()
        assert (row.strength, row.recall_count, row.last_recall_at) == (1 + times, times, last)
        assert row.forget_at == fades_at(last, 1 + times, draw(row.id, times), 1.0)


def test_MB6_a_dormant_page_that_is_recalled_is_active_again(space: Space) -> None:
    (page,) = pages(space, "I have a dog.")
    later = MAY + timedelta(days=400)
    sweep(space, later)
    assert dormant(Page) == {page.id}
    retention.recalled(space, [retention.Answer([("page", page.id)], later)])
    page.refresh_from_db()
    assert page.visibility == "active"
    assert page.forget_at is not None
    assert page.forget_at > later
    told = Revision.objects.filter(row_id=page.id).order_by("version_after")
    assert [(r.version_before, r.version_after) for r in told] == [(1, 2), (2, 3)]
    assert sweep(space, later) == (0, 0)


def test_MB7_E29_a_future_recall_is_no_error(space: Space) -> None:
    note = make_note(space, "A note", last_recall_at=MAY + timedelta(days=10))
    standing = retention.standing(note, note.occurred_at, SAMPLE, MAY)
    assert standing.r == 1.0
    assert sweep(space, MAY) == (0, 0)


def test_I6_fading_has_its_event_and_revisions(space: Space) -> None:
    note = make_note(space, "A note")
    sweep(space, MAY + timedelta(days=400))
    event = EvolutionEvent.objects.get(kind="forget")
    (revision,) = event.revisions.all()
    assert (revision.row_id, revision.version_after) == (note.id, 2)
    before, after = cast("dict[str, Any]", revision.before), cast("dict[str, Any]", revision.after)
    assert (before["visibility"], after["visibility"]) == ("active", "dormant")
    note.refresh_from_db()
    assert note.version == 2


def test_I11_recall_of_what_is_seen_writes_no_event(space: Space) -> None:
    note = make_note(space, "A note")
    retention.recalled(space, [retention.Answer([("note", note.id), ("fact", UUID(int=1))], MAY)])
    note.refresh_from_db()
    assert (note.strength, note.version) == (2, 1)
    assert not EvolutionEvent.objects.exists()


def test_pinned_and_shelved_do_not_fade(space: Space) -> None:
    make_note(space, "Pinned", pinned=True)
    make_fact(space, "Shelved", shelf="user_kb")
    faded = make_fact(space, "Neither")
    sweep(space, MAY + timedelta(days=400))
    assert dormant(Note) == set()
    assert dormant(Fact) == {faded.id}


def test_what_is_pinned_later_comes_back(space: Space) -> None:
    note = make_note(space, "A note")
    later = MAY + timedelta(days=400)
    sweep(space, later)
    Note.objects.filter(id=note.id).update(pinned=True)
    assert sweep(space, later) == (0, 1)
    assert dormant(Note) == set()


@pytest.mark.parametrize("kept", [True, False])
def test_the_only_support_of_a_current_fact_is_kept_if_so_wished(space: Space, kept: bool) -> None:
    evidence, other = pages(space, "I have a dog.", "Nice weather.")
    make_fact(space, "Ana has a dog", evidence.session.turns.get(seq=evidence.first_seq))
    policy = Forget(mode="sample", keep_evidence=kept)
    sweep(space, MAY + timedelta(days=400), policy)
    assert dormant(Page) == ({other.id} if kept else {other.id, evidence.id})


def test_evidence_of_a_fact_that_is_over_or_has_more_fades(space: Space) -> None:
    over, first, second = pages(space, "I live in Rome.", "A dog.", "My dog.")

    def turn(page: Page) -> Any:
        return page.session.turns.get(seq=page.first_seq)

    make_fact(space, "Ana lives in Rome", turn(over), valid_to=MAY + timedelta(days=1))
    both = make_fact(space, "Ana has a dog", turn(first))
    make_source(both, turn(second))
    sweep(space, MAY + timedelta(days=400), Forget(mode="sample"))
    assert dormant(Page) == {over.id, first.id, second.id}


@pytest.mark.parametrize("mode", ["off", "rank"])
def test_modes_that_hide_nothing_show_even_what_was_dormant(space: Space, mode: Any) -> None:
    make_note(space, "A note", visibility="dormant")
    forget = Forget(mode=mode)
    assert sweep(space, MAY + timedelta(days=400), forget) == (0, 0)
    assert Note.objects.filter(retention.visible(forget)).count() == 1
    assert retention.visible_sql("n", forget) == "(TRUE)"


def test_a_turn_is_seen_while_its_page_is(space: Space) -> None:
    seen, hidden = pages(space, "I have a dog.", "I have a cat.")
    Page.objects.filter(id=hidden.id).update(visibility="dormant")
    assert shown(space, SAMPLE) == [seen.first_seq]
    assert shown(space, Forget(mode="off")) == [seen.first_seq, hidden.first_seq]


def shown(space: Space, forget: Forget) -> Sequence[int]:
    seen = retention.turn_visible_sql("t", forget)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t.seq FROM dialogues_turn t WHERE {seen} ORDER BY t.seq")
        return [row[0] for row in cursor.fetchall()]


def test_a_changed_unit_moves_the_dates_of_all(space: Space) -> None:
    note = make_note(space, "A note")
    retention.set_dates(space, SAMPLE)
    retention.set_dates(space, Forget(mode="sample", unit_days=5), anew=True)
    note.refresh_from_db()
    assert note.forget_at == fades_at(MAY, 1, draw(note.id, 0), 5.0)


def test_the_next_sweep_is_due_when_the_next_row_fades(space: Space) -> None:
    assert retention.next_date(space, MAY) is None
    note = make_note(space, "A note")
    make_note(space, "Pinned", pinned=True)
    retention.set_dates(space, SAMPLE)
    note.refresh_from_db()
    assert retention.next_date(space, MAY) == note.forget_at
    assert retention.next_date(space, MAY + timedelta(days=400)) is None


def test_what_is_spared_says_so_and_has_no_date(space: Space) -> None:
    note = make_note(space, "A note", pinned=True, forget_at=MAY)
    standing = retention.standing(note, note.occurred_at, SAMPLE, MAY)
    assert (standing.spared, standing.forget_at, standing.percent) == (True, None, 100)
