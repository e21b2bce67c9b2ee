"""From ids to what a caller reads: texts, times, validity and source turns, a query a kind."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import SpokenTurn
from memoryhub.recall.render.results import ChannelRank, ItemKind, MemoryItem, TurnSource
from memoryhub.recall.render.told_turns import (
    is_anything_left,
    load_told_turns,
    load_turns_of_pages,
)
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.scope import get_current_tenant
from notes.facts.intervals import is_claim_held, is_single_valued
from notes.models import Episode, Fact, Note
from notes.models.fields import MemoryFields

Span = tuple[int, int]
# Of these nothing is derived yet.
UNREAD_STATES = (Turn.State.PENDING, Turn.State.FAILED)
# By derived row, the turns it rests on, in spoken order, with the supporting characters.
SourceLinks = Mapping[UUID, Mapping[UUID, Span | None]]


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that was found, not yet read. `parts` say how its score came about."""

    kind: ItemKind
    id: UUID
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    linked: bool = False
    reason: str = ""
    found: tuple[ChannelRank, ...] = ()


_SOURCE_LINKS_SQL = """
SELECT d.child_id, d.turn_id, d.span_start, d.span_end
FROM notes_derivation d JOIN dialogues_turn t ON t.id = d.turn_id
WHERE d.tenant_id = %s AND d.child_id = ANY(%s) AND d.child_type IN ('fact', 'note')
  AND d.role = 'support'
ORDER BY t.seq
"""


def load_source_links(derived: Iterable[UUID]) -> SourceLinks:
    """Supporting turns of facts and notes by their id."""
    ids = list(derived)
    if not ids:
        return {}
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_SOURCE_LINKS_SQL, [get_current_tenant(), ids])
        rows = cursor.fetchall()
    links: dict[UUID, dict[UUID, Span | None]] = defaultdict(dict)
    for child, turn, start, end in rows:
        links[child].setdefault(turn, None if start is None or end is None else (start, end))
    return links


def build_turn_source(turn: Turn, span: Span | None = None) -> TurnSource:
    """The turn as evidence of something."""
    return build_spoken_source(SpokenTurn.from_turn(turn), span)


def build_spoken_source(turn: SpokenTurn, span: Span | None = None) -> TurnSource:
    """The same of a turn as it was read for this."""
    return TurnSource(
        turn_id=turn.id,
        ref=f"D{turn.session}:{turn.ordinal}",
        speaker=turn.speaker,
        text=turn.text,
        occurred_at=turn.occurred_at,
        external_id=turn.external_id,
        span=span,
    )


def hydrate_memories(chosen: Sequence[FoundMemory], links: SourceLinks) -> list[MemoryItem]:
    """Items in the order given. What was deleted since it was ranked is left out, and what an
    editor has hidden."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for each in chosen:
        ids[each.kind].append(each.id)
    rows = {kind: _ROW_LOADERS[kind](some) for kind, some in ids.items() if kind in _ROW_LOADERS}
    evidence = [turn for at in ids["fact"] + ids["note"] for turn in links.get(at, ())]
    wanted = dict.fromkeys([*ids["turn"], *evidence])
    told = load_told_turns(wanted)
    turns = told.shown
    paged = load_turns_of_pages(ids["page"])
    made = []
    for each in chosen:
        rests_on = links.get(each.id, {}).items()
        sources = [build_spoken_source(turns[t], span) for t, span in rests_on if t in turns]
        row = turns.get(each.id) if each.kind == "turn" else rows.get(each.kind, {}).get(each.id)
        if row is not None:
            sources = [build_spoken_source(turn) for turn in paged.get(each.id, ())] or sources
            item = _build_item(each, _FILLERS[each.kind](row, sources))
            if each.kind == "note":
                item = replace(item, text=told.cover_words(item.text, links.get(each.id, ())))
            made.append(item)
    return [item for item in made if item.kind != "note" or is_anything_left(item.text)]


def _build_item(found: FoundMemory, fields: Mapping[str, Any]) -> MemoryItem:
    return MemoryItem(
        kind=found.kind,
        id=found.id,
        score=found.score,
        parts=found.parts,
        reason=found.reason,
        found=found.found,
        linked=found.linked,
        **fields,
    )


@dataclass(frozen=True, slots=True)
class _ReadPlan:
    """How rows of a kind are read, and which of their columns fill which fields of an item."""

    statement: str
    row: Any
    item_fields: tuple[str, ...]
    read_values: Callable[[Any], tuple[Any, ...]]

    def load_rows(self, ids: Sequence[UUID]) -> dict[UUID, Any]:
        """By a plain statement: every question reads some."""
        with open_prepared_cursor(binary=True) as cursor:
            cursor.execute(self.statement, [get_current_tenant(), list(ids)])
            return {found[0]: self.row._make(found) for found in cursor.fetchall()}

    def fill_fields(self, row: Any) -> dict[str, Any]:
        return dict(zip(self.item_fields, self.read_values(row), strict=True))


def _build_read_plan(model: Any, *more: str) -> _ReadPlan:
    """By what the model declares of its columns; `more` are read besides. Once a process."""
    fields: MemoryFields = model.memory_fields
    filled = [(each, column) for column in fields for each in fields[column].results]
    columns = list(dict.fromkeys(["id", *(column for _, column in filled), *more]))
    names = ", ".join(columns)
    return _ReadPlan(
        f"SELECT {names} FROM {model._meta.db_table} "  # noqa: S608  # the model's own names
        "WHERE tenant_id = %s AND id = ANY(%s)",
        namedtuple(f"{model.__name__}Columns", columns),  # its fields are declared
        tuple(each for each, _ in filled),
        itemgetter(*(columns.index(column) for _, column in filled)),
    )


_FACT_PLAN = _build_read_plan(Fact, "retired_at", "predicate_key", "cardinality", "polarity")
_NOTE_PLAN = _build_read_plan(Note)
_EPISODE_PLAN = _build_read_plan(Episode)


class _PageColumns(NamedTuple):
    """What an item needs of a page beside its turns."""

    id: UUID
    summary: str
    started_at: datetime


_PAGES_SQL = """
SELECT p.id, COALESCE(c.summary, ''), s.started_at
FROM notes_page p JOIN dialogues_session s ON s.id = p.session_id
LEFT JOIN notes_chain c ON c.id = p.chain_id
WHERE p.tenant_id = %s AND p.id = ANY(%s)
"""


def _load_pages(ids: Sequence[UUID]) -> dict[UUID, _PageColumns]:
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_PAGES_SQL, [get_current_tenant(), list(ids)])
        return {row[0]: _PageColumns(*row) for row in cursor.fetchall()}


def _fill_turn(turn: SpokenTurn, sources: Sequence[TurnSource]) -> dict[str, Any]:
    return {
        "text": turn.text,
        "occurred_at": turn.occurred_at,
        "speaker": turn.speaker,
        "owner": turn.speaker,
        "sources": (build_spoken_source(turn),),
        "unread": turn.state in UNREAD_STATES,
    }


def _fill_fact(fact: Any, sources: Sequence[TurnSource]) -> dict[str, Any]:
    alone = is_claim_held(fact) and is_single_valued(fact)
    matter = f"{fact.owner}: {fact.predicate_key}" if alone else ""
    return {"sources": sources, "matter": matter} | _FACT_PLAN.fill_fields(fact)


def _fill_note(note: Any, sources: Sequence[TurnSource]) -> dict[str, Any]:
    return {"sources": sources} | _NOTE_PLAN.fill_fields(note)


def _fill_page(page: _PageColumns, sources: Sequence[TurnSource]) -> dict[str, Any]:
    return {
        "text": "\n".join(f"{source.speaker}: {source.text}" for source in sources),
        "occurred_at": sources[0].occurred_at if sources else page.started_at,
        "summary": page.summary,
        "sources": sources,
    }


def _fill_episode(episode: Any, sources: Sequence[TurnSource]) -> dict[str, Any]:
    return _EPISODE_PLAN.fill_fields(episode)


_ROW_LOADERS: Mapping[str, Callable[[Sequence[UUID]], Mapping[UUID, Any]]] = {
    "fact": _FACT_PLAN.load_rows,
    "note": _NOTE_PLAN.load_rows,
    "page": _load_pages,
    "episode": _EPISODE_PLAN.load_rows,
}
# The fields of an item that a row of its kind fills.
_FILLERS: Mapping[str, Callable[[Any, Sequence[TurnSource]], dict[str, Any]]] = {
    "turn": _fill_turn,
    "fact": _fill_fact,
    "note": _fill_note,
    "page": _fill_page,
    "episode": _fill_episode,
}
