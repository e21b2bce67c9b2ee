"""From ids to what a caller reads: texts, times, validity and source turns, a query a kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Model

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import Spoken, spoken
from memoryhub.recall.results import Finding, Item, ItemKind, Source
from memoryhub.tenants.scope import current_tenant
from memoryhub.tenants.statements import prepared
from notes.intervals import counts, is_single
from notes.models import Episode, Fact, Note

Span = tuple[int, int]
# Of these nothing is derived yet.
UNREAD = (Turn.State.PENDING, Turn.State.FAILED)
# By derived row, the turns it rests on, in spoken order, with the supporting characters.
Links = Mapping[UUID, Mapping[UUID, Span | None]]


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was found, not yet read. `parts` say how its score came about."""

    kind: ItemKind
    id: UUID
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    linked: bool = False
    reason: str = ""
    found: tuple[Finding, ...] = ()


_LINKS = """
SELECT d.child_id, d.turn_id, d.span_start, d.span_end
FROM notes_derivation d JOIN dialogues_turn t ON t.id = d.turn_id
WHERE d.tenant_id = %s AND d.child_id = ANY(%s) AND d.child_type IN ('fact', 'note')
  AND d.role = 'support'
ORDER BY t.seq
"""


def links_of(derived: Iterable[UUID]) -> Links:
    """Supporting turns of facts and notes by their id."""
    ids = list(derived)
    if not ids:
        return {}
    with prepared(binary=True) as cursor:
        cursor.execute(_LINKS, [current_tenant(), ids])
        rows = cursor.fetchall()
    links: dict[UUID, dict[UUID, Span | None]] = defaultdict(dict)
    for child, turn, start, end in rows:
        links[child].setdefault(turn, None if start is None or end is None else (start, end))
    return links


def source_of(turn: Turn, span: Span | None = None) -> Source:
    """The turn as evidence of something."""
    return _source(Spoken.of(turn), span)


def _source(turn: Spoken, span: Span | None = None) -> Source:
    return Source(
        turn_id=turn.id,
        ref=f"D{turn.session}:{turn.ordinal}",
        speaker=turn.speaker,
        text=turn.text,
        occurred_at=turn.occurred_at,
        external_id=turn.external_id,
        span=span,
    )


def hydrate(chosen: Sequence[Found], links: Links) -> list[Item]:
    """Items in the order given. What was deleted since it was ranked is left out."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for each in chosen:
        ids[each.kind].append(each.id)
    rows = {kind: _ROWS[kind](some) for kind, some in ids.items() if kind in _ROWS}
    turns = _turns(
        [*ids["turn"], *(t for i in ids["fact"] + ids["note"] for t in links.get(i, ()))]
    )
    paged = turns_of_pages(ids["page"])
    made = []
    for each in chosen:
        rests_on = links.get(each.id, {}).items()
        sources = [_source(turns[t], span) for t, span in rests_on if t in turns]
        row = turns.get(each.id) if each.kind == "turn" else rows.get(each.kind, {}).get(each.id)
        if row is not None:
            sources = [_source(turn) for turn in paged.get(each.id, ())] or sources
            made.append(_ITEMS[each.kind](row, each, sources))
    return made


def _turns(ids: Sequence[UUID]) -> dict[UUID, Spoken]:
    return spoken(dict.fromkeys(ids)) if ids else {}


_OF_PAGES = """
SELECT p.id, t.id, s.ordinal, t.ordinal, t.speaker, t.text, t.occurred_at, t.external_id, t.state
FROM notes_page p JOIN dialogues_session s ON s.id = p.session_id
JOIN dialogues_turn t ON t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
WHERE p.tenant_id = %s AND p.id = ANY(%s) AND t.state <> 'redacted'
ORDER BY t.seq
"""


def turns_of_pages(pages: Sequence[UUID]) -> dict[UUID, list[Spoken]]:
    """The turns of each page, in order, without redacted ones; other sessions of the space may
    speak in between. A plain statement: every context reads it."""
    turns: dict[UUID, list[Spoken]] = defaultdict(list)
    if pages:
        with prepared(binary=True) as cursor:
            cursor.execute(_OF_PAGES, [current_tenant(), list(pages)])
            for page, *turn in cursor.fetchall():
                turns[page].append(Spoken(*turn))
    return turns


class _Held(NamedTuple):
    """What an item needs of a fact."""

    id: UUID
    text: str
    asserted_at: datetime
    speaker: str
    owner: str
    event_from: datetime | None
    event_to: datetime | None
    event_text: str
    valid_from: datetime
    valid_to: datetime | None
    status: str
    retired_at: datetime | None
    predicate_key: str
    cardinality: str
    polarity: str


class _Noted(NamedTuple):
    """What an item needs of a note."""

    id: UUID
    content: str
    occurred_at: datetime


R = TypeVar("R", _Held, _Noted)


def _rows(model: type[Model], row: type[R], ids: Sequence[UUID]) -> dict[UUID, R]:
    """The columns of `row`, by a plain statement: every question reads some."""
    columns = ", ".join(row._fields)
    with prepared(binary=True) as cursor:
        cursor.execute(
            f"SELECT {columns} FROM {model._meta.db_table} "  # noqa: S608  # the model's own names
            "WHERE tenant_id = %s AND id = ANY(%s)",
            [current_tenant(), list(ids)],
        )
        return {found[0]: row._make(found) for found in cursor.fetchall()}


class _Exchange(NamedTuple):
    """What an item needs of a page beside its turns."""

    id: UUID
    summary: str
    started_at: datetime


_PAGES = """
SELECT p.id, COALESCE(c.summary, ''), s.started_at
FROM notes_page p JOIN dialogues_session s ON s.id = p.session_id
LEFT JOIN notes_chain c ON c.id = p.chain_id
WHERE p.tenant_id = %s AND p.id = ANY(%s)
"""


def _exchanges(ids: Sequence[UUID]) -> dict[UUID, _Exchange]:
    with prepared(binary=True) as cursor:
        cursor.execute(_PAGES, [current_tenant(), list(ids)])
        return {row[0]: _Exchange(*row) for row in cursor.fetchall()}


def _turn_item(turn: Spoken, found: Found, sources: Sequence[Source]) -> Item:
    return Item(
        kind="turn",
        id=turn.id,
        text=turn.text,
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
        occurred_at=turn.occurred_at,
        speaker=turn.speaker,
        owner=turn.speaker,
        sources=(_source(turn),),
        unread=turn.state in UNREAD,
    )


def _fact_item(fact: _Held, found: Found, sources: Sequence[Source]) -> Item:
    return Item(
        kind="fact",
        id=fact.id,
        text=fact.text,
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
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
        matter=f"{fact.owner}: {fact.predicate_key}" if counts(fact) and is_single(fact) else "",
    )


def _note_item(note: _Noted, found: Found, sources: Sequence[Source]) -> Item:
    return Item(
        kind="note",
        id=note.id,
        text=note.content,
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
        occurred_at=note.occurred_at,
        linked=found.linked,
        sources=sources,
    )


def _page_item(page: _Exchange, found: Found, sources: Sequence[Source]) -> Item:
    return Item(
        kind="page",
        id=page.id,
        text="\n".join(f"{source.speaker}: {source.text}" for source in sources),
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
        occurred_at=sources[0].occurred_at if sources else page.started_at,
        summary=page.summary,
        sources=sources,
    )


def _episode_item(episode: Episode, found: Found, sources: Sequence[Source]) -> Item:
    return Item(
        kind="episode",
        id=episode.id,
        text=episode.text,
        summary=episode.title,
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
        occurred_at=episode.to_at,
        event_from=episode.from_at,
        event_to=episode.to_at,
    )


_ROWS: Mapping[str, Callable[[Sequence[UUID]], Mapping[UUID, Any]]] = {
    "fact": partial(_rows, Fact, _Held),
    "note": partial(_rows, Note, _Noted),
    "page": _exchanges,
    "episode": lambda ids: Episode.objects.in_bulk(list(ids)),
}
_ITEMS: Mapping[str, Callable[[Any, Found, Sequence[Source]], Item]] = {
    "turn": _turn_item,
    "fact": _fact_item,
    "note": _note_item,
    "page": _page_item,
    "episode": _episode_item,
}
