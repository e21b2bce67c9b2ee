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
from notes.episodes import store
from notes.graph import build
from notes.index import indexer
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
from notes.topics.pages import load_page_turns

# The rows' index entries; None: the kind is not searched.
BuildEntries = Callable[[Sequence[Any], ZoneInfo], list[indexer.EntryDraft]]
FollowRevisions = Callable[[Sequence[Revision]], None]


@dataclass(frozen=True, slots=True)
class RowKind:
    """`texts`: the columns that hold words made from what was said. `follow`: what is kept
    beside the rows follows revisions that undoing wrote. `scrubbed`: an erasure puts the words
    back to what they were, and never deletes the row."""

    model: type[Model]
    entries: BuildEntries | None
    texts: tuple[str, ...]
    follow: FollowRevisions | None = None
    is_scrubbed: bool = False

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


_ROW_KINDS: dict[str, RowKind] = {}


def register_row_kind(
    model: type[Model],
    *,
    entries: BuildEntries | None = None,
    texts: Iterable[str] = (),
    follow: FollowRevisions | None = None,
    scrubbed: bool = False,
) -> None:
    kind = RowKind(model, entries, tuple(texts), follow, scrubbed)
    _ROW_KINDS[kind.name] = kind


def get_row_kind(row_type: str) -> RowKind:
    """Raises NotFound."""
    if row_type not in _ROW_KINDS:
        raise NotFound(_("no kind of memory is called %(kind)s") % {"kind": repr(row_type)})
    return _ROW_KINDS[row_type]


def list_row_kinds() -> list[RowKind]:
    return list(_ROW_KINDS.values())


def build_entries(row_type: str, rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    make = get_row_kind(row_type).entries
    return make(rows, zone) if make and rows else []


def _build_fact_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return indexer.build_fact_entries(rows, zone=zone)


def _build_note_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return indexer.build_note_entries(rows, zone=zone)


def _build_entity_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return build.build_entity_entries(rows)


def _build_relation_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return build.build_relation_entries(rows)


def _build_segment_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return indexer.build_segment_entries(rows)


def _build_page_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    """Pages are searched once they have left the short-term queue."""
    placed = [page for page in rows if page.tier == Page.Tier.MID]
    turns = load_page_turns(placed)
    told = [(page, turns[page.id]) for page in placed if turns[page.id]]
    speakers = placed[0].space.speakers if placed else []
    return indexer.build_page_entries(told, speakers, zone=zone)


def _build_episode_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return store.build_episode_entries(rows, zone=zone)


def register_note_kinds() -> None:
    """The rows of this package."""
    register_row_kind(
        Fact, entries=_build_fact_entries, texts=("text", "s", "v", "o", "o2", "c", "event_text")
    )
    register_row_kind(
        Note,
        entries=_build_note_entries,
        texts=("content", "context", "keywords", "tags", "category"),
    )
    register_row_kind(Entity, entries=_build_entity_entries, texts=("name", "aliases", "summary"))
    register_row_kind(Relation, entries=_build_relation_entries, texts=("label",))
    register_row_kind(Segment, entries=_build_segment_entries, texts=("summary", "keywords"))
    register_row_kind(SegmentPage, texts=("theme",))
    register_row_kind(Episode, entries=_build_episode_entries, texts=("title", "text", "details"))
    register_row_kind(Chain, texts=("summary",))
    register_row_kind(Link, texts=("reason",))
    register_row_kind(Page, entries=_build_page_entries)
