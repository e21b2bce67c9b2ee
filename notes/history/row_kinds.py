"""The kinds of rows with a history, by the name their revisions carry.

Undo, as-of reads and erasure work on these alone. Each app declares its own, those of this one
are at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Model
from django.utils.translation import gettext as _

from memoryhub.declarations import load_declarations
from memoryhub.dialogues.queries import load_turns_around
from memoryhub.errors import NotFound
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
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

# What rows of a kind are counted as where it is not the kind's name with an s.
_COUNTED_AS = {
    "coreblock": "blocks",
    "entity": "entities",
    "profileattribute": "profile",
    "segmentpage": "memberships",
}

# The rows' index entries; None: the kind is not searched.
BuildEntries = Callable[[Sequence[Any], ZoneInfo], list[indexer.EntryDraft]]
FollowRevisions = Callable[[Sequence[Revision]], None]


@dataclass(frozen=True, slots=True)
class RowKind:
    """`follow`: what is kept beside the rows follows revisions that undoing wrote. `scrubbed`: an
    erasure puts the words back to what they were, and never deletes the row."""

    model: type[Model]
    entries: BuildEntries | None = None
    follow: FollowRevisions | None = None
    is_scrubbed: bool = False

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def counted_as(self) -> str:
        """What a dry run of an erasure and its receipt call so many of them."""
        return _COUNTED_AS.get(self.name, f"{self.name}s")

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


@cache
def _load_row_kinds() -> Mapping[str, RowKind]:
    declared = load_declarations().values()
    return MappingProxyType({kind.name: kind for app in declared for kind in app.memory_kinds})


def get_row_kind(row_type: str) -> RowKind:
    """Raises NotFound."""
    kinds = _load_row_kinds()
    if row_type not in kinds:
        raise NotFound(_("no kind of memory is called %(kind)s") % {"kind": repr(row_type)})
    return kinds[row_type]


def list_row_kinds() -> list[RowKind]:
    return list(_load_row_kinds().values())


def build_entries(row_type: str, rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    make = get_row_kind(row_type).entries
    return make(rows, zone) if make and rows else []


def rebuild_entries(
    space: Space, owners: Mapping[str, Collection[UUID]], zone: ZoneInfo
) -> list[indexer.EntryDraft]:
    """The entries of these memories and turns, by kind, made anew of their present text. Call
    inside the tenant's scope."""
    made: list[indexer.EntryDraft] = []
    if turns := set(owners.get("turn", ())):
        made += indexer.build_turn_entries(
            load_turns_around(turns, indexer.BEFORE),
            space.speakers,
            only=turns,
            zone=zone,
            time_words=indexer.load_event_date_words(list(turns), zone),
        )
    for kind, ids in owners.items():
        if kind != "turn":
            found = get_row_kind(kind).model._default_manager.in_bulk(ids)
            made += build_entries(kind, list(found.values()), zone)
    return made


def _build_page_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    """Pages are searched once they have left the short-term queue."""
    placed = [page for page in rows if page.tier == Page.Tier.MID]
    turns = load_page_turns(placed)
    told = [(page, turns[page.id]) for page in placed if turns[page.id]]
    speakers = placed[0].space.speakers if placed else []
    return indexer.build_page_entries(told, speakers, zone=zone)


def _build_note_entries(rows: Sequence[Any], zone: ZoneInfo) -> list[indexer.EntryDraft]:
    """In the form that the policy of their space has."""
    policy = load_effective_policy(rows[0].space).policy
    return indexer.build_note_entries(rows, zone, policy.notes.vector)


# The rows of this package.
NOTE_KINDS = (
    RowKind(Fact, indexer.build_fact_entries),
    RowKind(Note, _build_note_entries),
    RowKind(Entity, lambda rows, zone: indexer.build_entity_entries(rows)),
    RowKind(Relation, lambda rows, zone: indexer.build_relation_entries(rows)),
    RowKind(Segment, lambda rows, zone: indexer.build_segment_entries(rows)),
    RowKind(SegmentPage),
    RowKind(Episode, indexer.build_episode_entries),
    RowKind(Chain),
    RowKind(Link),
    RowKind(Page, _build_page_entries),
)
