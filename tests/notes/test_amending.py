"""What a caller changes of its own memories: undoable, and no word against the pipeline."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import FactCorrection, correct_facts, forget_facts, undo_event
from memoryhub.tenants.ids import new_id
from notes.facts.validity import filter_current
from notes.models import EvolutionEvent, Fact, IndexEntry
from tests.support.hand_writer import HandWriter
from tests.support.hub import ScriptedHub


@pytest.fixture
def fact(hand: HandWriter) -> Fact:
    hand.add_claim("Ana lives in Porto", "Porto")
    return Fact.objects.get()


def test_other_words_are_a_new_version_that_the_pipeline_may_still_end(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    event = correct_facts(
        hand.space,
        {fact.id: FactCorrection(text="Ana lives in Braga")},
        "key:1",
        hub.now,
        protects=False,
    ).event
    held = Fact.objects.get(retired_at=None)
    assert (held.text, held.lineage, held.lineage_version) == (
        "Ana lives in Braga",
        fact.lineage,
        2,
    )
    assert not held.is_protected
    assert IndexEntry.objects.get(owner_id=held.id).embedding is not None
    assert EvolutionEvent.objects.get(id=event.id).actor == "key:1"
    undo_event(event, "eva", hub.now)
    assert Fact.objects.get(retired_at=None).id == fact.id


def test_metadata_and_end_are_changed_in_one_event_and_undone_with_it(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    until = hub.now + timedelta(days=2)
    wanted = FactCorrection(metadata={"team": "red"}, until=until)
    event = correct_facts(hand.space, {fact.id: wanted}, "key:1", hub.now, protects=False).event
    fact.refresh_from_db()
    assert (fact.metadata, fact.valid_to, fact.version) == ({"team": "red"}, until, 2)
    assert filter_current(Fact.objects.all(), until).count() == 0
    correct_facts(
        hand.space, {fact.id: FactCorrection(until=None)}, "key:1", hub.now, protects=False
    )
    fact.refresh_from_db()
    assert (fact.valid_to, fact.status) == (None, "active")
    with pytest.raises(Conflict, match="later change"):
        undo_event(event, "eva", hub.now)
    undo_event(event, "eva", hub.now, cascade=True)
    fact.refresh_from_db()
    assert (fact.metadata, fact.valid_to) == ({}, None)


def test_nothing_to_change_changes_nothing(hub: ScriptedHub, hand: HandWriter, fact: Fact) -> None:
    before = EvolutionEvent.objects.count()
    correct_facts(
        hand.space, {fact.id: FactCorrection(text=fact.text)}, "key:1", hub.now, protects=False
    )
    fact.refresh_from_db()
    assert fact.version == 1
    assert EvolutionEvent.objects.count() == before


def test_what_is_removed_is_not_found_and_comes_back_when_that_is_undone(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    event = forget_facts(hand.space, [fact.id], "key:1", hub.now).event
    assert filter_current(Fact.objects.all(), hub.now).count() == 0
    assert not IndexEntry.objects.filter(owner_id=fact.id).exists()
    undo_event(event, "eva", hub.now)
    assert filter_current(Fact.objects.all(), hub.now).count() == 1
    assert IndexEntry.objects.filter(owner_id=fact.id).exists()


def test_several_are_changed_together_or_not_at_all(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    wanted = {
        fact.id: FactCorrection(text="Ana lives in Braga"),
        new_id(): FactCorrection(text="x"),
    }
    with pytest.raises(NotFound):
        correct_facts(hand.space, wanted, "key:1", hub.now, protects=False)
    assert Fact.objects.get().text == "Ana lives in Porto"
    with pytest.raises(NotFound):
        forget_facts(hand.space, wanted, "key:1", hub.now)
    assert Fact.objects.get().retired_at is None


def test_what_is_gone_pinned_or_corrected_is_left_alone(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    corrections.set_pinned(hand.space, "fact", fact.id, True, "eva", hub.now)
    with pytest.raises(Conflict) as refused:
        correct_facts(
            hand.space, {fact.id: FactCorrection(text="x")}, "key:1", hub.now, protects=False
        )
    assert refused.value.code == "protected"
    forget_facts(hand.space, [fact.id], "key:1", hub.now)
    with pytest.raises(Conflict) as refused:
        forget_facts(hand.space, [fact.id], "key:1", hub.now)
    assert refused.value.code == "not_held"


def test_empty_words_and_ends_before_the_beginning_are_refused(
    hub: ScriptedHub, hand: HandWriter, fact: Fact
) -> None:
    before = FactCorrection(until=fact.valid_from - timedelta(days=1))
    for wanted in (FactCorrection(text=" \0"), before):
        with pytest.raises(InvalidInput):
            correct_facts(hand.space, {fact.id: wanted}, "key:1", hub.now, protects=False)
