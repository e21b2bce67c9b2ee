"""A database that holds the old names of a claim's parts as JSON is brought up to date."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import connection

from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.review import answer_proposals
from notes.history import timeline
from notes.history.change_set import serialize_row
from notes.models import EvolutionEvent, Fact, Proposal, Revision
from notes.review.proposals import propose_change
from tests.support.hand_writer import HandWriter
from tests.support.hub import ScriptedHub

MIGRATION = import_module("notes.migrations.0018_slots_of_facts_by_name")
OLD_NAMES, NEW_NAMES = set(MIGRATION.NAMES), set(MIGRATION.NAMES.values())


def run_statements(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def load_stored_rows() -> list[dict[str, Any]]:
    sides = Revision.objects.filter(row_type="fact").values_list("before", "after")
    rows = [row for pair in sides for row in pair if row]
    return [*rows, *(each.payload["candidate"] for each in Proposal.objects.all())]


def load_everything() -> list[Any]:
    return [*Revision.objects.order_by("id").values(), *Proposal.objects.order_by("id").values()]


@pytest.fixture
def migrated(hub: ScriptedHub, hand: HandWriter) -> EvolutionEvent:
    """A supersession, and a candidate that waits, as an old hub wrote them and the migration
    left them."""
    hand.add_claim("Ana lives in Porto", "Porto")
    Fact.objects.update(subject="Ana", verb="lives in", complement="by the sea")
    hub.pass_time(hours=1)
    hand.add_note("A note has revisions too")
    moved = hand.add_claim("Ana lives in Rome", "Rome", day=3)
    rome = Fact.objects.get(object="Rome")
    candidate = serialize_row(rome) | {"text": "Ana lives in Oslo", "object": "Oslo"}
    propose_change(
        hand.space,
        "quarantine",
        "x",
        "not trusted",
        hub.now,
        payload={"op": "quarantine", "fact_id": None, "candidate": candidate, "sources": []},
    )
    Revision.objects.create(
        tenant_id=hand.space.tenant_id,
        space=hand.space,
        event=moved,
        row_type="fact",
        row_id=hand.space.id,
        version_after=1,
        before=None,
        after={"text": "words alone"},
    )
    before = load_everything()
    run_statements(MIGRATION.BACKWARDS)
    rows = load_stored_rows()
    assert sum(row.keys() >= OLD_NAMES for row in rows) == len(rows) - 1
    assert not any(row.keys() & NEW_NAMES for row in rows)
    run_statements(MIGRATION.FORWARDS)
    assert load_everything() == before
    run_statements(MIGRATION.FORWARDS)
    assert load_everything() == before
    Revision.objects.filter(row_id=hand.space.id).delete()
    return moved


def test_undo_brings_back_the_parts(
    hub: ScriptedHub, hand: HandWriter, migrated: EvolutionEvent
) -> None:
    undone = undo_event(migrated, "eva", hub.now).event
    porto = Fact.objects.get(object="Porto", retired_at=None)
    assert (porto.subject, porto.verb, porto.complement) == ("Ana", "lives in", "by the sea")
    undo_event(undone, "eva", hub.now)
    assert Fact.objects.get(valid_to=None).object == "Rome"


def test_the_past_has_its_parts(
    hub: ScriptedHub, hand: HandWriter, migrated: EvolutionEvent
) -> None:
    held = timeline.select_rows_held_at(hand.space, Fact, hub.now)
    assert set(held.values_list("object", flat=True)) == {"Porto", "Rome"}
    assert {row.object for row in map(timeline.build_past_row, held)} == {"Porto", "Rome"}


def test_a_candidate_that_waited_keeps_its_parts(
    hub: ScriptedHub, hand: HandWriter, migrated: EvolutionEvent
) -> None:
    answer_proposals.answer_proposal(Proposal.objects.get(), "store", "eva", hub.now)
    assert Fact.objects.get(text="Ana lives in Oslo").object == "Oslo"
