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

Span = tuple[int, int]
# By derived row, the turns it rests on, in spoken order, with the supporting characters.
Links = Mapping[UUID, Mapping[UUID, Span | None]]


def links_of(derived: Iterable[UUID]) -> Links:
    """Supporting turns of facts and notes by their id."""
    ids = list(derived)
    if not ids:
        return {}
    rows = (
        Derivation.objects.filter(child_type__in=("fact", "note"), child_id__in=ids)
        .filter(role=Derivation.Role.SUPPORT)
        .order_by("turn__seq")
        .values_list("child_id", "turn_id", "span_start", "span_end")
    )
    links: dict[UUID, dict[UUID, Span | None]] = defaultdict(dict)
    for child, turn, start, end in rows:
        links[child].setdefault(turn, None if start is None or end is None else (start, end))
    return links


def source_of(turn: Turn, span: Span | None = None) -> Source:
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


def hydrate(chosen: Sequence[Scored], links: Links) -> list[Item]:
    """Items in the order given. What was deleted since it was ranked is left out."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for scored in chosen:
        ids[scored.candidate.kind].append(scored.candidate.id)
    turns = _turns(
        [*ids["turn"], *(t for i in ids["fact"] + ids["note"] for t in links.get(i, ()))]
    )
    facts = Fact.objects.in_bulk(ids["fact"]) if ids["fact"] else {}
    notes = Note.objects.in_bulk(ids["note"]) if ids["note"] else {}
    made: list[Item] = []
    for scored in chosen:
        at = scored.candidate.id
        rests_on = links.get(at, {})
        sources = [source_of(turns[t], span) for t, span in rests_on.items() if t in turns]
        if turn := turns.get(at):
            made.append(_turn_item(turn, scored))
        elif fact := facts.get(at):
            made.append(_fact_item(fact, scored, sources))
        elif note := notes.get(at):
            made.append(_note_item(note, scored, sources))
    return made


def _turns(ids: Sequence[UUID]) -> dict[UUID, Turn]:
    found = turns_by_id(ids) if ids else {}
    return {at: turn for at, turn in found.items() if turn.state != Turn.State.REDACTED}


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
