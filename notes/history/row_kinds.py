"""The kinds of rows with a history, by the name their revisions carry.

Undo, as-of reads and erasure work on these alone: a layer above joins in by registering its
models when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Model
from django.utils.translation import gettext as _

from memoryhub.errors import NotFound
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
from notes.models.fields import MemoryFields
from notes.topics.pages import load_page_turns

# The rows' index entries; None: the kind is not searched.
BuildEntries = Callable[[Sequence[Any], ZoneInfo], list[indexer.EntryDraft]]
FollowRevisions = Callable[[Sequence[Revision]], None]


@dataclass(frozen=True, slots=True)
class RowKind:
    """`follow`: what is kept beside the rows follows revisions that undoing wrote. `scrubbed`: an
    erasure puts the words back to what they were, and never deletes the row."""

    model: type[Model]
    entries: BuildEntries | None
    follow: FollowRevisions | None = None
    is_scrubbed: bool = False

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def fields(self) -> MemoryFields:
        """What each of its columns is."""
        declared: MemoryFields = self.model.memory_fields  # type: ignore[attr-defined]  # of every kind: a test
        return declared

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that hold words made from what was said."""
        return tuple(name for name, field in self.fields.items() if field.is_words)

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
    follow: FollowRevisions | None = None,
    scrubbed: bool = False,
) -> None:
    kind = RowKind(model, entries, follow, scrubbed)
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
    return indexer.build_entity_entries(rows)


def _build_relation_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    return indexer.build_relation_entries(rows)


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
    return indexer.build_episode_entries(rows, zone=zone)


def register_note_kinds() -> None:
    """The rows of this package."""
    register_row_kind(Fact, entries=_build_fact_entries)
    register_row_kind(Note, entries=_build_note_entries)
    register_row_kind(Entity, entries=_build_entity_entries)
    register_row_kind(Relation, entries=_build_relation_entries)
    register_row_kind(Segment, entries=_build_segment_entries)
    register_row_kind(SegmentPage)
    register_row_kind(Episode, entries=_build_episode_entries)
    register_row_kind(Chain)
    register_row_kind(Link)
    register_row_kind(Page, entries=_build_page_entries)
