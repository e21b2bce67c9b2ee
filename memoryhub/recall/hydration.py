"""From ids to what a caller reads: texts, times, validity and source turns, in four queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_by_id
from memoryhub.recall.fusion import Scored
from memoryhub.recall.results import Item, Source
from notes.models import Derivation, Fact, Note

Sources = Mapping[UUID, Sequence[Source]]


def sources_of(derived: Iterable[UUID]) -> Sources:
    """Source turns of facts and notes by their id, supporting ones only, in spoken order."""
    ids = list(derived)
    if not ids:
        return {}
    rows = (
        Derivation.objects.filter(child_type__in=("fact", "note"), child_id__in=ids)
        .filter(role=Derivation.Role.SUPPORT)
        .exclude(turn__state=Turn.State.REDACTED)
        .select_related("turn__session")
        .order_by("turn__seq")
    )
    by_child: dict[UUID, dict[UUID, Source]] = defaultdict(dict)
    for row in rows:
        by_child[row.child_id].setdefault(row.turn_id, source_of(row.turn, _span(row)))
    return {child: tuple(turns.values()) for child, turns in by_child.items()}


def _span(row: Derivation) -> tuple[int, int] | None:
    if row.span_start is None or row.span_end is None:
        return None
    return row.span_start, row.span_end


def source_of(turn: Turn, span: tuple[int, int] | None = None) -> Source:
    """The turn as evidence of something."""
    return Source(
        turn_id=turn.id,
        ref=f"D{turn.session.ordinal}:{turn.ordinal}",
        speaker=turn.speaker,
        text=turn.text,
        occurred_at=turn.occurred_at,
        external_id=turn.external_id,
        span=span,
    )


def hydrate(chosen: Sequence[Scored], sources: Sources) -> list[Item]:
    """Items in the order given. What was deleted since it was ranked is left out."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for scored in chosen:
        ids[scored.candidate.kind].append(scored.candidate.id)
    turns = turns_by_id(ids["turn"]) if ids["turn"] else {}
    facts = Fact.objects.in_bulk(ids["fact"]) if ids["fact"] else {}
    notes = Note.objects.in_bulk(ids["note"]) if ids["note"] else {}
    made: list[Item] = []
    for scored in chosen:
        at = scored.candidate.id
        if turn := turns.get(at):
            made.append(_turn_item(turn, scored))
        elif fact := facts.get(at):
            made.append(_fact_item(fact, scored, sources.get(at, ())))
        elif note := notes.get(at):
            made.append(_note_item(note, scored, sources.get(at, ())))
    return made


def _turn_item(turn: Turn, scored: Scored) -> Item:
    return Item(
        kind="turn",
        id=turn.id,
        text=turn.text,
        score=scored.score,
        parts=scored.parts,
        occurred_at=turn.occurred_at,
        speaker=turn.speaker,
        owner=turn.speaker,
        sources=(source_of(turn),),
    )


def _fact_item(fact: Fact, scored: Scored, sources: Sequence[Source]) -> Item:
    return Item(
        kind="fact",
        id=fact.id,
        text=fact.text,
        score=scored.score,
        parts=scored.parts,
        occurred_at=fact.asserted_at,
        speaker=fact.speaker,
        owner=fact.owner,
        event_from=fact.event_from,
        event_to=fact.event_to,
        event_text=fact.event_text,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        status=fact.status,
        sources=sources,
    )


def _note_item(note: Note, scored: Scored, sources: Sequence[Source]) -> Item:
    return Item(
        kind="note",
        id=note.id,
        text=note.content,
        score=scored.score,
        parts=scored.parts,
        occurred_at=note.occurred_at,
        sources=sources,
    )
