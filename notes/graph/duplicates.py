"""Entities that are one under two names, found by the clock (Mem0g, spec §6, §12.1).

Reading dialogue compares each new name with the nearest known one. What that can't see, two new
names of one batch or a name that got its vector later, is found here: each entity is compared
once, with its nearest. What was judged before, by a model or a person, is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef

from memoryhub.engines.types import NamePair
from memoryhub.tenants.models import Space
from notes.graph.build import load_entity_texts, merge_entity
from notes.graph.identity import decide_name_merge, may_be_same_entity
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports
from notes.history.unit_of_work import UnitOfWork
from notes.models import Entity, IndexEntry, Proposal, Revision
from notes.review.proposals import build_merge_key, propose_change

NEAREST_COUNT = 3


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """An entity, and the better known one it may be. `is_one`: code may say so by itself."""

    entity: Entity
    into: Entity
    cosine: float
    is_one: bool

    @property
    def key(self) -> str:
        return build_merge_key(self.entity.id, self.into.id)


def list_uncompared_entities(space: Space, model: str, most: int) -> list[Entity]:
    """Entities with a vector that were not compared yet, oldest first."""
    entries = IndexEntry.objects.filter(
        kind="entity", owner_id=OuterRef("id"), model=model, embedding__isnull=False
    )
    rows = Entity.objects.filter(space=space, compared_at=None, merged_into=None, retired_at=None)
    return list(rows.filter(Exists(entries)).order_by("id")[:most])


_NEAREST_ENTITIES_SQL = """
SELECT own.owner_id, near.owner_id, near.cosine
FROM notes_indexentry own
CROSS JOIN LATERAL (
  SELECT e.owner_id, 1 - (e.embedding <=> own.embedding) AS cosine
  FROM notes_indexentry e JOIN notes_entity x ON x.id = e.owner_id
  WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = 'entity'
    AND e.model = %(model)s AND e.embedding IS NOT NULL AND e.owner_id <> own.owner_id
    AND x.retired_at IS NULL AND x.merged_into_id IS NULL
  ORDER BY e.embedding <=> own.embedding LIMIT %(nearest)s
) near
WHERE own.tenant_id = %(tenant)s AND own.space_id = %(space)s AND own.kind = 'entity'
  AND own.model = %(model)s AND own.embedding IS NOT NULL AND own.owner_id = ANY(%(ids)s)
ORDER BY near.cosine DESC, own.owner_id, near.owner_id
"""


def find_duplicates(
    space: Space, model: str, entities: Sequence[Entity], merge_at: float, ask_at: float
) -> list[DuplicatePair]:
    """What of `entities` may be one with another, the nearest first, none of it judged before.

    Call inside the tenant's scope. Five statements.
    """
    pairs = _load_near_pairs(space, model, entities)
    rows = Entity.objects.in_bulk({row for pair in pairs for row in pair})
    near = []
    for (one, other), cosine in pairs.items():
        into, entity = sorted((rows[one], rows[other]), key=lambda e: (-e.mention_count, e.id))
        kind = decide_name_merge(cosine, merge_at=merge_at, ask_at=ask_at)
        if kind != "apart" and may_be_same_entity(entity.name, into.name, entity.type, into.type):
            near.append(DuplicatePair(entity, into, cosine, kind == "merge"))
    judged = _load_judged_keys(space, near)
    return [pair for pair in near if pair.key not in judged]


def _load_near_pairs(
    space: Space, model: str, entities: Sequence[Entity]
) -> dict[tuple[UUID, UUID], float]:
    given: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "model": model,
        "nearest": NEAREST_COUNT,
        "ids": [entity.id for entity in entities],
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST_ENTITIES_SQL, given)
        return {
            (min(one, other), max(one, other)): float(cosine)
            for one, other, cosine in cursor.fetchall()
        }


def _load_judged_keys(space: Space, pairs: Sequence[DuplicatePair]) -> set[str]:
    """Pairs somebody was asked about, and those that were one and were taken apart again."""
    keys = {f"merge:{pair.key}" for pair in pairs}
    asked = Proposal.objects.filter(space=space, dedupe_key__in=keys)
    judged = {key.removeprefix("merge:") for key in asked.values_list("dedupe_key", flat=True)}
    ids = {str(row.id) for pair in pairs for row in (pair.entity, pair.into)}
    once = Revision.objects.filter(space=space, row_type="entity", row_id__in=ids)
    merges = once.filter(after__merged_into_id__in=ids)
    into = merges.values_list("row_id", "after__merged_into_id")
    return judged | {build_merge_key(row, UUID(other)) for row, other in into}


def build_name_pairs(pairs: Sequence[DuplicatePair]) -> list[NamePair]:
    """The pairs as an engine is asked about them, with what is said of each."""
    said = load_entity_texts({row.id for pair in pairs for row in (pair.entity, pair.into)})
    return [
        NamePair(
            f"p{number}",
            pair.entity.name,
            pair.into.name,
            tuple(said.get(pair.entity.id, [])[:3]),
            tuple(said.get(pair.into.id, [])[:3]),
        )
        for number, pair in enumerate(pairs, 1)
    ]


def lock_unchanged_pairs(pairs: Iterable[DuplicatePair]) -> list[DuplicatePair]:
    """Those whose entities are as they were read, locked. Call in the writing transaction."""
    pairs = list(pairs)
    ids = {row.id for pair in pairs for row in (pair.entity, pair.into)}
    now = {e.id: e.version for e in Entity.objects.select_for_update().filter(id__in=ids)}
    return [
        pair
        for pair in pairs
        if all(now.get(row.id) == row.version for row in (pair.entity, pair.into))
    ]


def merge_duplicate(pair: DuplicatePair, changes: ChangeSet) -> None:
    """Merge, as one event that can be undone; the name joins the other's."""
    unit = UnitOfWork.from_change_set(changes)
    merge_entity(unit, changes, pair.entity, pair.into, load_entity_sources(pair.entity))
    unit.write_rows()
    changes.save()


def load_entity_sources(entity: Entity) -> list[TurnEvidence]:
    said = load_supports("entity", [entity.id]).get(entity.id, [])
    return [TurnEvidence(turn) for turn in dict.fromkeys(source.turn_id for source in said)]


def propose_duplicate(
    space: Space, pair: DuplicatePair, now: datetime, *, declined_by: str = ""
) -> None:
    """Put the pair before a person; or note who found it to be two, so that nobody is asked."""
    turns = {
        source.turn_id for row in (pair.entity, pair.into) for source in load_entity_sources(row)
    }
    ids = {"entity": str(pair.entity.id), "into": str(pair.into.id)}
    propose_change(
        space,
        "merge",
        pair.key,
        f'"{pair.entity.name}" may be "{pair.into.name}"',
        now,
        payload={**ids, "cosine": round(pair.cosine, 3)},
        row=pair.entity,
        turn_ids=turns,
        declined_by=declined_by,
    )


def mark_compared(ids: Iterable[UUID], now: datetime) -> None:
    Entity.objects.filter(id__in=list(ids)).update(compared_at=now)
