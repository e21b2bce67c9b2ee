"""Entities that are one under two names, found by the clock (Mem0g, spec §6, §12.1).

Reading dialogue compares each new name with the nearest known one. What that can't see, two new
names of one batch or a name that got its vector later, is found here: each entity is compared
once, with its nearest. What was judged before, by a model or a person, is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef

from memoryhub.engines.types import NamePair
from memoryhub.tenants.models import Space
from notes.graph.build import (
    EntityPair,
    load_entity_texts,
    merge_entity,
    pair_if_near,
    propose_merge,
)
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports_of
from notes.history.unit_of_work import UnitOfWork
from notes.index.nearest import find_nearest_owners
from notes.models import Entity, IndexEntry, Proposal, Revision
from notes.review.proposals import build_merge_key

NEAREST_COUNT = 3


def list_uncompared_entities(space: Space, model: str, most: int) -> list[Entity]:
    """Entities with a vector that were not compared yet, oldest first."""
    entries = IndexEntry.objects.filter(
        kind="entity", owner_id=OuterRef("id"), model=model, embedding__isnull=False
    )
    rows = Entity.objects.filter(space=space, compared_at=None, merged_into=None, retired_at=None)
    return list(rows.filter(Exists(entries)).order_by("id")[:most])


# Neither itself nor one that is merged.
_OTHERS = """JOIN notes_entity x ON x.id = e.owner_id AND x.retired_at IS NULL
  AND x.merged_into_id IS NULL AND x.id::text <> asked.key"""


def find_duplicates(
    space: Space, model: str, entities: Sequence[Entity], merge_at: float, ask_at: float
) -> list[EntityPair]:
    """What of `entities` may be one with another, the nearest first, none of it judged before.

    Call inside the tenant's scope. Six statements.
    """
    cosines = _load_near_pairs(space, model, entities)
    rows = Entity.objects.in_bulk({row for pair in cosines for row in pair})
    near = []
    for (one, other), cosine in cosines.items():
        into, entity = sorted((rows[one], rows[other]), key=lambda e: (-e.mention_count, e.id))
        if pair := pair_if_near(entity, into, cosine, merge_at, ask_at):
            near.append(pair)
    judged = _load_judged_keys(space, near)
    return [pair for pair in near if pair.key not in judged]


def _load_near_pairs(
    space: Space, model: str, entities: Sequence[Entity]
) -> dict[tuple[UUID, UUID], float]:
    entries = IndexEntry.objects.filter(
        kind="entity", model=model, owner_id__in=[entity.id for entity in entities]
    )
    own = dict(entries.exclude(embedding=None).values_list("owner_id", "embedding"))
    asked = [(str(owner), vector) for owner, vector in own.items()]
    found = find_nearest_owners(space, "entity", model, asked, NEAREST_COUNT, _OTHERS)
    rows = [(-cos, one, other) for one, near in zip(own, found, strict=True) for other, cos in near]
    return {(min(one, other), max(one, other)): -cos for cos, one, other in sorted(rows)}


def _load_judged_keys(space: Space, pairs: Sequence[EntityPair]) -> set[str]:
    """Pairs somebody was asked about, and those that were one and were taken apart again."""
    keys = {f"merge:{pair.key}" for pair in pairs}
    asked = Proposal.objects.filter(space=space, dedupe_key__in=keys)
    judged = {key.removeprefix("merge:") for key in asked.values_list("dedupe_key", flat=True)}
    ids = {str(row.id) for pair in pairs for row in (pair.entity, pair.into)}
    once = Revision.objects.filter(space=space, row_type="entity", row_id__in=ids)
    merges = once.filter(after__merged_into_id__in=ids)
    into = merges.values_list("row_id", "after__merged_into_id")
    return judged | {build_merge_key(row, UUID(other)) for row, other in into}


def build_name_pairs(pairs: Sequence[EntityPair]) -> list[NamePair]:
    """The pairs as an engine is asked about them."""
    said = load_entity_texts({row.id for pair in pairs for row in (pair.entity, pair.into)})
    return [pair.build_question(number, said) for number, pair in enumerate(pairs, 1)]


def lock_unchanged_pairs(pairs: Iterable[EntityPair]) -> list[EntityPair]:
    """Those whose entities are as they were read, locked. Call in the writing transaction."""
    pairs = list(pairs)
    ids = {row.id for pair in pairs for row in (pair.entity, pair.into)}
    now = {e.id: e.version for e in Entity.objects.select_for_update().filter(id__in=ids)}
    return [
        pair
        for pair in pairs
        if all(now.get(row.id) == row.version for row in (pair.entity, pair.into))
    ]


def merge_duplicate(pair: EntityPair, changes: ChangeSet) -> None:
    """Merge, as one event that can be undone; the name joins the other's."""
    unit = UnitOfWork.from_change_set(changes)
    merge_entity(unit, changes, pair.entity, pair.into, load_entity_sources(pair.entity))
    unit.write_rows()
    changes.save()


def load_entity_sources(entity: Entity) -> list[TurnEvidence]:
    turns = dict.fromkeys(source.turn_id for source in load_supports_of(entity))
    return [TurnEvidence(turn) for turn in turns]


def propose_duplicate(
    space: Space, pair: EntityPair, now: datetime, *, declined_by: str = ""
) -> None:
    """`propose_merge`, of all turns that speak of either."""
    rows = (pair.entity, pair.into)
    turns = {source.turn_id for row in rows for source in load_entity_sources(row)}
    propose_merge(space, pair, turns, now, declined_by=declined_by)


def mark_compared(ids: Iterable[UUID], now: datetime) -> None:
    Entity.objects.filter(id__in=list(ids)).update(compared_at=now)
