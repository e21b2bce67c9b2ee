"""Fading and coming back (spec §11.6, §15.2)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest

from memoryhub.policies import services as policies
from memoryhub.policies.schema import ForgetPolicy, Policy
from memoryhub.policies.services import EffectivePolicy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent, Fact, Note, Page, Revision
from notes.retention import decay
from notes.retention.curve import compute_fade_time, draw_chance
from tests.support.factories import MAY, make_fact, make_note, make_source, make_space, make_turns

pytestmark = pytest.mark.django_db
SAMPLE = ForgetPolicy(mode="sample", keep_evidence=False)


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    put_in_force(monkeypatch, SAMPLE)
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        yield make_space(tenant)


def put_in_force(monkeypatch: pytest.MonkeyPatch, forget: ForgetPolicy) -> None:
    effective = EffectivePolicy(Policy(forget=forget), "t1.s0")
    for module in (policies, decay):
        monkeypatch.setattr(module, "load_effective_policy", lambda space: effective)


def sweep_space(space: Space, now: datetime, forget: ForgetPolicy = SAMPLE) -> tuple[int, int]:
    changes = ChangeSet(space, EvolutionEvent.Kind.FORGET, "pipeline", now)
    decay.set_forget_dates(space, forget)
    counts = decay.update_visibility(space, forget, now, changes)
    changes.save()
    return counts


def list_dormant(model: Any) -> set[UUID]:
    return set(model.objects.filter(visibility="dormant").values_list("id", flat=True))


def make_pages(space: Space, *texts: str) -> list[Page]:
    """One page a text."""
    keys = {"tenant_id": space.tenant_id, "space": space}
    return [
        Page.objects.create(session=turn.session, first_seq=turn.seq, last_seq=turn.seq, **keys)
        for turn in make_turns(space, *texts)
    ]


def note_drawn_near_half(space: Space) -> Note:
    """A note whose frozen draw is within 0.01 of one half."""
    number = next(n for n in range(10_000) if abs(draw_chance(UUID(int=n + 1), 0) - 0.5) < 0.001)
    return make_note(space, "A note", id=UUID(int=number + 1))


def test_MB3_visible_just_before_and_dormant_just_after(space: Space) -> None:
    note = note_drawn_near_half(space)
    decay.set_forget_dates(space, SAMPLE)
    note.refresh_from_db()
    assert note.forget_at is not None
    days = (note.forget_at - MAY).total_seconds() / 86_400
    assert days == pytest.approx(0.6931, abs=0.005)

    sweep_space(space, note.forget_at - timedelta(seconds=1))
    assert Note.objects.filter(decay.build_visible_q(SAMPLE)).exists()
    sweep_space(space, note.forget_at + timedelta(seconds=1))
    assert not Note.objects.filter(decay.build_visible_q(SAMPLE)).exists()


def make_ten_thousand(space: Space) -> None:
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
    make_ten_thousand(space)
    for hour in range(1, 25):
        sweep_space(space, MAY + timedelta(hours=hour))
    hourly = list_dormant(Note)
    Note.objects.update(visibility="active", forget_at=None)
    sweep_space(space, MAY + timedelta(hours=24))
    assert list_dormant(Note) == hourly
    assert 1 - len(hourly) / 10_000 == pytest.approx(0.368, abs=0.015)


def test_MB5_recall_strengthens_and_draws_anew(space: Space) -> None:
    recalled, other = make_pages(space, "I have a dog.", "I have a cat.")
    decay.set_forget_dates(space, SAMPLE)
    other.refresh_from_db()
    day_three = MAY + timedelta(days=3)
    decay.strengthen_recalled(space, [decay.RecalledContext([("page", recalled.id)], day_three)])
    recalled.refresh_from_db()
    assert (recalled.strength, recalled.recall_count) == (2, 1)
    assert recalled.last_recall_at == day_three
    assert recalled.forget_at == compute_fade_time(day_three, 2, draw_chance(recalled.id, 1), 1.0)
    untouched = (other.strength, other.last_recall_at, other.forget_at)
    other.refresh_from_db()
    assert (other.strength, other.last_recall_at, other.forget_at) == untouched


def test_MB5_a_turn_recalled_strengthens_its_page_once(space: Space) -> None:
    (page,) = make_pages(space, "I have a dog.")
    turn = page.session.turns.get()
    decay.strengthen_recalled(
        space, [decay.RecalledContext([("turn", turn.id), ("page", page.id)], MAY)]
    )
    page.refresh_from_db()
    assert page.strength == 2


def test_MB5_several_answers_at_once_leave_what_they_would_one_by_one(space: Space) -> None:
    both, once = make_pages(space, "I have a dog.", "I have a cat.")
    note = make_note(space, "A note")
    turn = both.session.turns.get(seq=both.first_seq)
    first = decay.RecalledContext([("turn", turn.id), ("note", note.id)], MAY + timedelta(days=2))
    second = decay.RecalledContext([("page", both.id), ("page", once.id)], MAY + timedelta(days=1))
    assert decay.strengthen_recalled(space, [first, second]) == [{both.id}, {both.id, once.id}]
    for row, times, last in ((both, 2, first.at), (once, 1, second.at), (note, 1, first.at)):
        row.refresh_from_db()
        assert (row.strength, row.recall_count, row.last_recall_at) == (1 + times, times, last)
        assert row.forget_at == compute_fade_time(last, 1 + times, draw_chance(row.id, times), 1.0)


def test_MB6_a_dormant_page_that_is_recalled_is_active_again(space: Space) -> None:
    (page,) = make_pages(space, "I have a dog.")
    later = MAY + timedelta(days=400)
    sweep_space(space, later)
    assert list_dormant(Page) == {page.id}
    decay.strengthen_recalled(space, [decay.RecalledContext([("page", page.id)], later)])
    page.refresh_from_db()
    assert page.visibility == "active"
    assert page.forget_at is not None
    assert page.forget_at > later
    told = Revision.objects.filter(row_id=page.id).order_by("version_after")
    assert [(r.version_before, r.version_after) for r in told] == [(1, 2), (2, 3)]
    assert sweep_space(space, later) == (0, 0)


def test_MB7_E29_a_future_recall_is_no_error(space: Space) -> None:
    note = make_note(space, "A note", last_recall_at=MAY + timedelta(days=10))
    standing = decay.compute_retention_state(note, note.occurred_at, SAMPLE, MAY)
    assert standing.r == 1.0
    assert sweep_space(space, MAY) == (0, 0)


def test_I6_fading_has_its_event_and_revisions(space: Space) -> None:
    note = make_note(space, "A note")
    sweep_space(space, MAY + timedelta(days=400))
    event = EvolutionEvent.objects.get(kind="forget")
    (revision,) = event.revisions.all()
    assert (revision.row_id, revision.version_after) == (note.id, 2)
    before, after = cast("dict[str, Any]", revision.before), cast("dict[str, Any]", revision.after)
    assert (before["visibility"], after["visibility"]) == ("active", "dormant")
    note.refresh_from_db()
    assert note.version == 2


def test_I11_recall_of_what_is_seen_writes_no_event(space: Space) -> None:
    note = make_note(space, "A note")
    decay.strengthen_recalled(
        space, [decay.RecalledContext([("note", note.id), ("fact", UUID(int=1))], MAY)]
    )
    note.refresh_from_db()
    assert (note.strength, note.version) == (2, 1)
    assert not EvolutionEvent.objects.exists()


def test_pinned_and_shelved_do_not_fade(space: Space) -> None:
    make_note(space, "Pinned", pinned=True)
    make_fact(space, "Shelved", shelf="user_kb")
    faded = make_fact(space, "Neither")
    sweep_space(space, MAY + timedelta(days=400))
    assert list_dormant(Note) == set()
    assert list_dormant(Fact) == {faded.id}


def test_what_is_pinned_later_comes_back(space: Space) -> None:
    note = make_note(space, "A note")
    later = MAY + timedelta(days=400)
    sweep_space(space, later)
    Note.objects.filter(id=note.id).update(pinned=True)
    assert sweep_space(space, later) == (0, 1)
    assert list_dormant(Note) == set()


@pytest.mark.parametrize("kept", [True, False])
def test_the_only_support_of_a_current_fact_is_kept_if_so_wished(space: Space, kept: bool) -> None:
    evidence, other = make_pages(space, "I have a dog.", "Nice weather.")
    make_fact(space, "Ana has a dog", evidence.session.turns.get(seq=evidence.first_seq))
    policy = ForgetPolicy(mode="sample", keep_evidence=kept)
    sweep_space(space, MAY + timedelta(days=400), policy)
    assert list_dormant(Page) == ({other.id} if kept else {other.id, evidence.id})


def test_evidence_of_a_fact_that_is_over_or_has_more_fades(space: Space) -> None:
    over, first, second = make_pages(space, "I live in Rome.", "A dog.", "My dog.")

    def turn(page: Page) -> Any:
        return page.session.turns.get(seq=page.first_seq)

    make_fact(space, "Ana lives in Rome", turn(over), valid_to=MAY + timedelta(days=1))
    both = make_fact(space, "Ana has a dog", turn(first))
    make_source(both, turn(second))
    sweep_space(space, MAY + timedelta(days=400), ForgetPolicy(mode="sample"))
    assert list_dormant(Page) == {over.id, first.id, second.id}


@pytest.mark.parametrize("mode", ["off", "rank"])
def test_modes_that_hide_nothing_show_even_what_was_dormant(space: Space, mode: Any) -> None:
    make_note(space, "A note", visibility="dormant")
    forget = ForgetPolicy(mode=mode)
    assert sweep_space(space, MAY + timedelta(days=400), forget) == (0, 0)
    assert Note.objects.filter(decay.build_visible_q(forget)).count() == 1
    assert decay.build_row_visible_sql("n", forget) == "(TRUE)"


def test_a_changed_unit_moves_the_dates_of_all(space: Space) -> None:
    note = make_note(space, "A note")
    decay.set_forget_dates(space, SAMPLE)
    decay.set_forget_dates(space, ForgetPolicy(mode="sample", unit_days=5), anew=True)
    note.refresh_from_db()
    assert note.forget_at == compute_fade_time(MAY, 1, draw_chance(note.id, 0), 5.0)


def test_the_next_sweep_is_due_when_the_next_row_fades(space: Space) -> None:
    assert decay.find_next_fade_date(space, MAY) is None
    note = make_note(space, "A note")
    make_note(space, "Pinned", pinned=True)
    decay.set_forget_dates(space, SAMPLE)
    note.refresh_from_db()
    assert decay.find_next_fade_date(space, MAY) == note.forget_at
    assert decay.find_next_fade_date(space, MAY + timedelta(days=400)) is None


def test_what_is_spared_says_so_and_has_no_date(space: Space) -> None:
    note = make_note(space, "A note", pinned=True, forget_at=MAY)
    standing = decay.compute_retention_state(note, note.occurred_at, SAMPLE, MAY)
    assert (standing.spared, standing.forget_at, standing.percent) == (True, None, 100)
