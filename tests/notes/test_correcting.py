"""Corrections by hand: each an event that can be undone, and safe from the pipeline (E19, C9)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import undo_event
from memoryhub.tenants.ids import new_id
from notes.history.unit_of_work import RowsChanged, UnitOfWork
from notes.models import Derivation, EvolutionEvent, Fact, IndexEntry, Link, Note, Revision
from tests.support.hand_writer import HandWriter, Kind
from tests.support.hub import ScriptedHub


def test_edited_words_are_a_new_version_with_the_same_supports(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    old = Fact.objects.get()
    new = corrections.correct_fact(hand.space, old.id, "Ana lives in Braga", "eva", hub.now).row
    old.refresh_from_db()
    assert old.retired_at == hub.now
    assert not IndexEntry.objects.filter(owner_id=old.id).exists()
    assert (new.lineage, new.lineage_version) == (old.lineage, 2)
    assert new.is_protected
    support = Derivation.objects.filter(child_id__in=[old.id, new.id])
    assert len(set(support.values_list("turn_id", flat=True))) == 1
    assert IndexEntry.objects.get(owner_id=new.id).embedding is not None
    event = EvolutionEvent.objects.get(kind=Kind.MANUAL)
    assert event.actor == "eva"
    undo_event(event, "eva", hub.now)
    assert Fact.objects.get(retired_at=None).id == old.id
    assert IndexEntry.objects.filter(owner_id=old.id).exists()


def test_I7_versions_rise_by_one_and_a_writer_of_an_older_one_is_refused(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    read, late = Fact.objects.get(), Fact.objects.get()
    for until in (1, 2):
        corrections.end_fact(hand.space, read.id, "eva", hub.now + timedelta(days=until))
    stale = UnitOfWork.from_change_set(hand.build_change_set(Kind.MANUAL))
    stale.track_row(late)
    late.text = "Ana lives in Rome"
    with pytest.raises(RowsChanged):
        stale.save()
    read.refresh_from_db()
    assert (read.version, read.text) == (3, "Ana lives in Porto")
    steps = Revision.objects.filter(row_id=read.id).order_by("version_after")
    assert list(steps.values_list("version_before", "version_after")) == [(None, 1), (1, 2), (2, 3)]


def test_E19_what_was_never_true_gives_its_time_back(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    rome = Fact.objects.get(object="Rome")
    event = corrections.retract_fact(hand.space, rome.id, "eva", hub.now, reason="a joke").event
    rome.refresh_from_db()
    porto = Fact.objects.get(object="Porto")
    assert (rome.status, rome.corrected_by) == ("retracted", "eva")
    assert (porto.status, porto.valid_to) == ("active", None)
    undo_event(event, "eva", hub.now)
    porto.refresh_from_db()
    assert porto.valid_to == rome.valid_from


def test_what_is_no_longer_true_held_until_then(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    fact = Fact.objects.get()
    with pytest.raises(InvalidInput):
        corrections.end_fact(hand.space, fact.id, "eva", hub.now, at=hub.now - timedelta(days=1))
    until = hub.now + timedelta(days=2)
    corrections.end_fact(hand.space, fact.id, "eva", until)
    fact.refresh_from_db()
    assert (fact.status, fact.valid_to, fact.version) == ("superseded", until, 2)


def test_restoring_is_refused_where_another_holds(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    hand.add_claim("Ana lives in Rome", "Rome", day=3)
    porto, rome = Fact.objects.get(object="Porto"), Fact.objects.get(object="Rome")
    with pytest.raises(Conflict) as refused:
        corrections.restore_fact(hand.space, porto.id, "eva", hub.now)
    assert refused.value.extra["rivals"] == [str(rome.id)]
    corrections.end_fact(hand.space, rome.id, "eva", hub.now + timedelta(days=9))
    with pytest.raises(Conflict):
        corrections.restore_fact(
            hand.space, rome.id, "eva", hub.now, reason="x"
        ) and corrections.restore_fact(hand.space, rome.id, "eva", hub.now)


def test_a_pin_protects_and_can_be_taken_out(hub: ScriptedHub, hand: HandWriter) -> None:
    note = hand.add_note("Paddling in spring")
    corrections.set_pinned(hand.space, "note", note.id, True, "eva", hub.now)
    assert Note.objects.get().is_protected
    with pytest.raises(Conflict):
        corrections.set_pinned(hand.space, "note", note.id, True, "eva", hub.now)
    corrections.set_pinned(hand.space, "note", note.id, False, "eva", hub.now)
    assert not Note.objects.get().is_protected


def test_AM11_a_deleted_note_takes_its_links_along(hub: ScriptedHub, hand: HandWriter) -> None:
    n5, n6 = hand.add_note("Rowing on the river"), hand.add_note("Paddling in spring")
    hand.evolve_note(n6, "kayak", link=n5)
    event = corrections.forget_note(hand.space, n5.id, "eva", hub.now).event
    assert not Link.objects.get().active
    assert not IndexEntry.objects.filter(owner_id=n5.id).exists()
    undo_event(event, "eva", hub.now)
    assert Link.objects.get().active
    assert Note.objects.filter(retired_at=None).count() == 2


def test_E30_a_row_of_another_space_is_unknown(hub: ScriptedHub, hand: HandWriter) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    mine = Fact.objects.get()
    hub.subject = "Ben"
    told = []
    for unknown in (new_id(), mine.id):
        with pytest.raises(NotFound) as refused:
            corrections.retract_fact(hub.space, unknown, "eva", hub.now)
        told.append(refused.value.message.replace(str(unknown), "it"))
    assert told[0] == told[1]  # no telling them apart
    mine.refresh_from_db()
    assert (mine.status, mine.version) == ("active", 1)
