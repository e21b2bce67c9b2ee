"""The kinds of rows with a history, by the name their revisions carry.

Undo, as-of reads and erasure work on these alone: a layer above joins in by registering its
models when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Model
from django.utils.translation import gettext as _

from memoryhub.errors import NotFound
from notes import episodes, graph, indexing
from notes.models import (
    Chain,
    Entity,
    Episode,
    Fact,
    Link,
    Note,
    Page,
    Relation,
    Revision,
    Segment,
    SegmentPage,
)
from notes.paging import turns_of

# The rows' index entries; None: the kind is not searched.
MakeEntries = Callable[[Sequence[Any], ZoneInfo], list[indexing.Entry]]
Follow = Callable[[Sequence[Revision]], None]


@dataclass(frozen=True, slots=True)
class RowKind:
    """`texts`: the columns that hold words made from what was said. `follow`: what is kept
    beside the rows follows revisions that undoing wrote. `scrubbed`: an erasure puts the words
    back to what they were, and never deletes the row."""

    model: type[Model]
    entries: MakeEntries | None
    texts: tuple[str, ...]
    follow: Follow | None = None
    scrubbed: bool = False

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def is_derived(self) -> bool:
        """It has a version and is retired; the others are records, made and removed."""
        return hasattr(self.model, "retired_at")

    @property
    def may_be_shared(self) -> bool:
        """Rows of it may belong to no space but to the tenant."""
        return bool(self.model._meta.get_field("space").null)


_KINDS: dict[str, RowKind] = {}


def register(
    model: type[Model],
    *,
    entries: MakeEntries | None = None,
    texts: Iterable[str] = (),
    follow: Follow | None = None,
    scrubbed: bool = False,
) -> None:
    kind = RowKind(model, entries, tuple(texts), follow, scrubbed)
    _KINDS[kind.name] = kind


def kind_of(row_type: str) -> RowKind:
    """Raises NotFound."""
    if row_type not in _KINDS:
        raise NotFound(_("no kind of memory is called %(kind)s") % {"kind": repr(row_type)})
    return _KINDS[row_type]


def kinds() -> list[RowKind]:
    return list(_KINDS.values())


def entries_of(row_type: str, rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    make = kind_of(row_type).entries
    return make(rows, zone) if make and rows else []


def _facts(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return indexing.fact_entries(rows, zone=zone)


def _notes(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return indexing.note_entries(rows, zone=zone)


def _entities(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return graph.entity_entries(rows)


def _relations(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return graph.relation_entries(rows)


def _segments(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return indexing.segment_entries(rows)


def _pages(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    """Pages are searched once they have left the short-term queue."""
    placed = [page for page in rows if page.tier == Page.Tier.MID]
    turns = turns_of(placed)
    told = [(page, turns[page.id]) for page in placed if turns[page.id]]
    speakers = placed[0].space.speakers if placed else []
    return indexing.page_entries(told, speakers, zone=zone)


def _episodes(rows: Sequence[Any], zone: ZoneInfo) -> list[indexing.Entry]:
    return episodes.entries(rows, zone=zone)


def register_all() -> None:
    """The rows of this package."""
    register(Fact, entries=_facts, texts=("text", "s", "v", "o", "o2", "c", "event_text"))
    register(Note, entries=_notes, texts=("content", "context", "keywords", "tags", "category"))
    register(Entity, entries=_entities, texts=("name", "aliases", "summary"))
    register(Relation, entries=_relations, texts=("label",))
    register(Segment, entries=_segments, texts=("summary", "keywords"))
    register(SegmentPage, texts=("theme",))
    register(Episode, entries=_episodes, texts=("title", "text", "details"))
    register(Chain, texts=("summary",))
    register(Link, texts=("reason",))
    register(Page, entries=_pages)
