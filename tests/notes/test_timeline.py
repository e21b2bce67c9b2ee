"""As-of reads by system time, the difference, and rolling a space back (spec §11.8)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memoryhub.errors import Conflict
from notes.history import timeline
from notes.history.undo import plan_roll_back, plan_undo, write_plan
from notes.models import EvolutionEvent, Fact, IndexEntry, Note
from tests.support.hand_writer import HandWriter
from tests.support.hub import ScriptedHub


def list_texts(rows: Any) -> set[str]:
    return {str(values.get("text") or values.get("content")) for values in rows.values()}


def get_state() -> list[Any]:
    return [*Fact.objects.order_by("id").values(), *Note.objects.order_by("id").values()]


def undo(hand: HandWriter, event: EvolutionEvent) -> None:
    """Without what follows a correction: nothing but these rows changes."""
    now = hand.hub.now
    write_plan(hand.space.tenant_id, lambda: plan_undo(event, "eva", now))


def roll_back(hand: HandWriter, to: datetime) -> list[EvolutionEvent]:
    now = hand.hub.now
    plan = write_plan(hand.space.tenant_id, lambda: plan_roll_back(hand.space, to, "eva", now))
    return [changes.event for changes in plan.change_sets]


def test_as_of_tells_what_was_held_then(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    noon = hub.now
    hub.pass_time(hours=1)
    moved = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    one = hub.now
    hub.pass_time(hours=1)
    undo(hand, moved)
    assert list_texts(timeline.load_state_at(hand.space, noon)) == {"Ana lives in Porto"}
    assert list_texts(timeline.load_state_at(hand.space, one)) == {
        "Ana lives in Porto",
        "Ana lives in Rome",
    }
    assert list_texts(timeline.load_state_at(hand.space, hub.now)) == {"Ana lives in Porto"}
    (then,) = timeline.load_state_at(hand.space, noon).values()
    assert then["valid_to"] is None


def test_the_difference_says_added_changed_and_removed(hub: ScriptedHub, hand: HandWriter) -> None:
    note = hand.add_note("Paddling in spring")
    made = EvolutionEvent.objects.get()
    hand.add_claim("Ana lives in Porto", "Porto")
    noon = hub.now
    hub.pass_time(hours=1)
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    undo(hand, made)
    changes = timeline.load_changes_since(hand.space, noon, hub.now)
    assert sorted((c.kind, c.how) for c in changes) == [
        ("fact", "added"),
        ("fact", "changed"),
        ("note", "removed"),
    ]
    (closed,) = (c for c in changes if c.how == "changed")
    assert {name for name, _, _ in closed.fields} == {"status", "valid_to"}
    assert next(c for c in changes if c.how == "removed").row_id == note.id


def test_a_preview_changes_nothing_and_says_what_rolling_back_does(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    noon = hub.now
    hub.pass_time(hours=1)
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    before = get_state()
    planned = timeline.preview_changes(plan_roll_back(hand.space, noon, "eva", hub.now))
    assert get_state() == before
    assert sorted((c.kind, c.how) for c in planned) == [("fact", "changed"), ("fact", "removed")]


def test_rolling_back_undoes_what_came_later_newest_first(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    note = hand.add_note("Paddling in spring")
    noon, then = hub.now, timeline.load_state_at(hand.space, hub.now)
    hub.pass_time(hours=1)
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    hand.evolve_note(note, "kayak")
    hand.add_claim("Ana lives in Oslo", "Oslo", day=6)
    latest, late = hub.now, timeline.load_state_at(hand.space, hub.now)
    hub.pass_time(hours=1)
    made = roll_back(hand, noon)
    assert len(made) == 3
    assert timeline.compute_row_changes(then, timeline.load_state_at(hand.space, hub.now)) == []
    assert IndexEntry.objects.count() == 2
    hub.pass_time(hours=1)
    roll_back(hand, latest)  # and forward again
    assert timeline.compute_row_changes(late, timeline.load_state_at(hand.space, hub.now)) == []
    assert Note.objects.get().keywords == ["kayak"]
    assert IndexEntry.objects.count() == 4


def test_rolling_back_twice_changes_nothing(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    noon = hub.now
    hub.pass_time(hours=1)
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    roll_back(hand, noon)
    before = get_state()
    assert roll_back(hand, noon) == []
    assert get_state() == before


def test_a_space_is_not_rolled_back_behind_an_erasure(hub: ScriptedHub, hand: HandWriter) -> None:
    noon = hub.now
    hub.pass_time(hours=1)
    hand.add_claim("Ana lives in Porto", "Porto")
    EvolutionEvent.objects.update(is_purged=True)
    with pytest.raises(Conflict) as refused:
        roll_back(hand, noon)
    assert refused.value.extra["since"] == hub.now.isoformat()
