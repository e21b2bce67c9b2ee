"""Undo, redo and cascade over rows written as the pipeline writes them (spec §11.8, AM8, X8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils.translation import override

from memoryhub.errors import Conflict, EngineError
from memoryhub.pipeline.corrections import undo_event
from notes.history.change_set import TurnEvidence, load_supports, serialize_row
from notes.history.standing import EventStanding, sort_newest_first
from notes.index import indexer
from notes.models import (
    EvolutionEvent,
    Fact,
    IndexEntry,
    Link,
    Note,
    Page,
    Revision,
    Segment,
    SegmentPage,
)
from notes.topics.segments import form_pages
from tests.support.hand_writer import HandWriter, Kind
from tests.support.hub import ScriptedHub


def list_vectors(row_id: UUID) -> list[tuple[str, list[float]]]:
    rows = IndexEntry.objects.filter(owner_id=row_id).order_by("chunk")
    return [(row.text_hash, list(row.embedding)) for row in rows]


def get_columns(note: Note) -> dict[str, Any]:
    note.refresh_from_db()
    return {name: value for name, value in serialize_row(note).items() if name != "version"}


def test_AM8_E23_undo_restores_bit_for_bit_and_undoing_that_is_redo(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    n5, n6 = hand.add_note("Rowing on the river"), hand.add_note("Paddling in spring")
    was, vectors = get_columns(n6), list_vectors(n6.id)
    event = hand.evolve_note(n6, "kayak", link=n5)
    evolved, evolved_vectors = get_columns(n6), list_vectors(n6.id)
    assert evolved_vectors != vectors

    undone = undo_event(event, "eva", hub.now).event
    assert (undone.kind, undone.undo_of_id, undone.actor) == (Kind.UNDO, event.id, "eva")
    assert get_columns(n6) == was
    assert n6.version == 3
    assert list_vectors(n6.id) == vectors
    assert not Link.objects.get().active

    undo_event(undone, "eva", hub.now)
    assert get_columns(n6) == evolved
    assert n6.version == 4
    assert list_vectors(n6.id) == evolved_vectors
    assert Link.objects.get().active
    assert Link.objects.get().retired_at is None


def test_AM8_counters_of_reading_stay_as_they_are(hub: ScriptedHub, hand: HandWriter) -> None:
    note = hand.add_note("Paddling in spring")
    event = hand.evolve_note(note, "kayak")
    Note.objects.update(strength=5, recall_count=4)
    undo_event(event, "eva", hub.now)
    note.refresh_from_db()
    assert (note.strength, note.recall_count, note.keywords) == (5, 4, [])


def test_why_it_was_undone_is_kept_in_one_language_whoever_undid_it(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    event = hand.evolve_note(hand.add_note("Paddling in spring"), "kayak")
    with override("zh-hans"):
        undone = undo_event(event, "eva", hub.now).event
    assert undone.reason.startswith("took back: Notes evolved")


def test_undoing_a_supersession_reopens_the_old_claim_and_redo_closes_it(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    moved = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    undone = undo_event(moved, "eva", hub.now).event
    porto, rome = Fact.objects.get(object="Porto"), Fact.objects.get(object="Rome")
    assert (porto.status, porto.valid_to, porto.version) == ("active", None, 3)
    assert rome.retired_at == hub.now
    assert not IndexEntry.objects.filter(owner_id=rome.id).exists()
    undo_event(undone, "eva", hub.now)
    porto.refresh_from_db()
    rome.refresh_from_db()
    assert porto.valid_to == rome.valid_from
    assert rome.retired_at is None
    assert IndexEntry.objects.filter(owner_id=rome.id).exists()


def test_X8_an_event_others_built_on_is_refused_with_their_list(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    first = hand.add_claim("Ana lives in Porto", "Porto")
    second = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    third = hand.add_claim("Ana lives in Oslo", "Oslo", day=6)
    before = list(Fact.objects.order_by("id").values())
    with pytest.raises(Conflict) as refused:
        undo_event(first, "eva", hub.now)
    assert refused.value.extra["later"] == [str(third.id), str(second.id)]
    assert list(Fact.objects.order_by("id").values()) == before
    assert not EvolutionEvent.objects.filter(kind=Kind.UNDO).exists()


def test_X8_cascade_undoes_the_later_ones_first(hub: ScriptedHub, hand: HandWriter) -> None:
    first = hand.add_claim("Ana lives in Porto", "Porto")
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    hand.add_claim("Ana lives in Oslo", "Oslo", day=6)
    undo_event(first, "eva", hub.now, cascade=True)
    assert not Fact.objects.filter(retired_at=None).exists()
    assert EvolutionEvent.objects.filter(kind=Kind.UNDO).count() == 3
    for fact in Fact.objects.all():  # I7
        versions = Revision.objects.filter(row_id=fact.id).order_by("version_after")
        assert list(versions.values_list("version_after", flat=True)) == list(
            range(1, fact.version + 1)
        )


def test_X8_support_brought_by_an_event_counts_while_that_event_stands(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    first = hand.add_claim("Ana lives in Porto", "Porto")
    fact, again = Fact.objects.get(), hand.add_turn("In Porto, yes.")
    changes, was = hand.build_change_set(Kind.RESOLVE), serialize_row(fact)
    fact.mention_count, fact.version = 2, 2
    fact.save()
    changes.record_change(fact, was)
    changes.record_support(fact, [TurnEvidence(again.id)])
    changes.save()
    gone = undo_event(first, "eva", hub.now, cascade=True).event
    undo_event(gone, "eva", hub.now)  # of the claim alone: that it was said again stays undone
    fact.refresh_from_db()
    assert (fact.retired_at, fact.mention_count) == (None, 1)
    assert again.id not in {source.turn_id for source in load_supports("fact", [fact.id])[fact.id]}
    undo_event(EvolutionEvent.objects.get(undo_of=changes.event), "eva", hub.now)
    fact.refresh_from_db()
    assert fact.mention_count == 2
    assert again.id in {source.turn_id for source in load_supports("fact", [fact.id])[fact.id]}


def test_X8_what_was_undone_in_between_does_not_stand_in_the_way(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    first = hand.add_claim("Ana lives in Porto", "Porto")
    second = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    undo_event(second, "eva", hub.now)
    gone = undo_event(first, "eva", hub.now).event
    assert not Fact.objects.filter(retired_at=None).exists()
    undo_event(gone, "eva", hub.now)
    assert Fact.objects.get(retired_at=None).object == "Porto"
    with pytest.raises(Conflict) as refused:
        undo_event(second, "eva", hub.now)
    assert refused.value.code == "already_undone"


def test_reopening_where_another_claim_took_the_place_is_refused(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    """The later event touched none of the rows, but holds their place (I4)."""
    hand.add_claim("Ana lives in Porto", "Porto")
    porto = Fact.objects.get()
    changes = hand.build_change_set(Kind.MANUAL)
    was = serialize_row(porto)
    porto.valid_to, porto.status, porto.version = hub.now + timedelta(days=1), "superseded", 2
    porto.save()
    changes.record_change(porto, was)
    changes.save()
    later = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    with pytest.raises(Conflict) as refused:
        undo_event(changes.event, "eva", hub.now)
    assert refused.value.extra["later"] == [str(later.id)]
    undo_event(changes.event, "eva", hub.now, cascade=True)
    assert Fact.objects.get(retired_at=None).object == "Porto"


def test_undoing_a_note_lets_go_of_its_links(hub: ScriptedHub, hand: HandWriter) -> None:
    """AM11: no link leads to a note that is not held."""
    n5, n6 = hand.add_note("Rowing on the river"), hand.add_note("Paddling in spring")
    hand.evolve_note(n6, "kayak", link=n5)
    made = EvolutionEvent.objects.get(revisions__row_id=n5.id)
    undone = undo_event(made, "eva", hub.now).event
    assert not Link.objects.get().active
    undo_event(undone, "eva", hub.now)
    assert Link.objects.get().active


def test_a_placement_is_undone_with_its_membership(hub: ScriptedHub, hand: HandWriter) -> None:
    turn = hand.add_turn("Paddling in spring")
    (page,) = form_pages(turn.session, [turn])
    changes = hand.build_change_set(Kind.PLACE)
    segment = Segment.objects.create(
        tenant_id=hub.tenant.id,
        space=hand.space,
        started_at=hub.now,
        ended_at=hub.now,
        last_visited_at=hub.now,
        pages_total=1,
    )
    changes.record_creation(segment, [TurnEvidence(turn.id)])
    membership = SegmentPage.objects.create(
        tenant_id=hub.tenant.id,
        space=hand.space,
        segment=segment,
        page=page,
        theme="boats",
        added_at=hub.now,
    )
    changes.record_creation(membership, [])
    was = serialize_row(page)
    page.tier, page.version = Page.Tier.MID, 2
    page.save()
    changes.record_change(page, was)
    changes.save()
    event = changes.event
    for _ in range(2):
        undone = undo_event(event, "eva", hub.now).event
        assert not SegmentPage.objects.exists()
        assert Page.objects.get().tier == Page.Tier.SHORT
        assert Segment.objects.get().retired_at == hub.now
        event = undo_event(undone, "eva", hub.now).event
        assert SegmentPage.objects.get().theme == "boats"
        assert Page.objects.get().tier == Page.Tier.MID
        assert Segment.objects.get().retired_at is None


def test_without_an_embedder_what_was_restored_waits_for_its_vector(
    hub: ScriptedHub, hand: HandWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = hand.add_note("Paddling in spring")
    event = hand.evolve_note(note, "kayak")

    def down(texts: Any) -> Any:
        raise EngineError("the embedder is down")

    monkeypatch.setattr(hub.embedder, "embed", down)
    undo_event(event, "eva", hub.now)
    entry = IndexEntry.objects.get(owner_id=note.id)
    (expected,) = indexer.build_note_entries(Note.objects.all())
    assert entry.text_hash == expected.text_hash  # I9
    assert entry.embedding is None


def test_an_erasure_and_what_it_purged_are_not_undoable(hub: ScriptedHub, hand: HandWriter) -> None:
    event = hand.add_claim("Ana lives in Porto", "Porto")
    EvolutionEvent.objects.update(is_purged=True)
    event.refresh_from_db()
    with pytest.raises(Conflict) as refused:
        undo_event(event, "eva", hub.now)
    assert refused.value.code == "not_undoable"


def test_an_undone_undo_leaves_the_first_event_standing() -> None:
    x, u, uu, v = (UUID(int=n) for n in range(1, 5))
    standing = EventStanding([(u, x), (uu, u)])
    assert [standing.is_standing(event) for event in (x, u, uu)] == [True, False, True]
    assert standing.select_standing({x, u, uu}) == {x}
    assert standing.select_standing({u, uu}) == set()
    assert standing.select_standing({uu}) == {uu}
    assert EventStanding([(u, x)]).select_standing({x, u, v}) == {v}


def test_events_of_one_moment_are_ordered_by_the_rows_they_share() -> None:
    a, b, c = (UUID(int=n) for n in range(1, 4))
    assert sort_newest_first({a: 1, b: 1, c: 1}, [(a, c), (c, b)]) == [a, c, b]
    assert sort_newest_first({a: 1, b: 3, c: 2}, []) == [b, c, a]
