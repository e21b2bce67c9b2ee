"""Entities that are one under two names: a task of the sweep (Mem0g, spec §12.1, GR5).

A sweep compares so many entities and asks a model about so few pairs, and wants another sweep
when that was not all. Each merge is an event of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from memoryhub.engines.types import Engine
from memoryhub.errors import EngineError
from memoryhub.inference.selection import select_engine
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.graph import duplicates
from notes.graph.build import EntityPair
from notes.history.change_set import ChangeSet
from notes.index import indexer
from notes.models import Entity, EvolutionEvent

log = structlog.get_logger()
MOST_COMPARED, MOST_ASKED = 200, 20  # a sweep
RETRY_AFTER_FAILURE = timedelta(days=1)  # after a model failed


def merge_duplicate_entities(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Merge names that are one; returns when to go on. Opens its own scopes.

    A model that fails leaves its pairs for a later sweep, and the other pairs are settled.
    """
    if not policy.graph.enabled:
        return None
    limits = policy.graph
    with tenant_scope(space.tenant_id):
        rows = duplicates.list_uncompared_entities(space, space.embedding_model, MOST_COMPARED)
        if not rows:
            return None
        model = space.embedding_model
        pairs = duplicates.find_duplicates(space, model, rows, limits.merge_at, limits.ask_at)
        engine = select_engine(Tenant.objects.get(id=space.tenant_id), policy)
        unsure = [pair for pair in pairs if not pair.is_one][:MOST_ASKED]
        asked = duplicates.build_name_pairs(unsure)
    try:
        answers = engine.compare_names(asked) if asked else {}
        failed = False
    except EngineError as error:
        log.warning("merge_check.failed", error=str(error))
        unsure, answers, failed = [], {}, True
    known = {pair.key: answers.get(name.handle) for pair, name in zip(unsure, asked, strict=False)}
    left = _settle_pairs(space, rows, pairs, known, engine, now)
    if failed:
        return now + RETRY_AFTER_FAILURE
    return now if left or len(rows) == MOST_COMPARED else None


def _settle_pairs(
    space: Space,
    rows: Sequence[Entity],
    pairs: Sequence[EntityPair],
    answers: dict[str, bool | None],
    engine: Engine,
    now: datetime,
) -> bool:
    """Settle the pairs; whether some of the rows are left for another sweep."""
    stamp = f"{engine.name}/{engine.version}"
    with tenant_scope(space.tenant_id):
        fresh = {pair.key for pair in duplicates.lock_unchanged_pairs(pairs)}
        merged: dict[UUID, Entity] = {}
        left: set[UUID] = set()
        for pair in pairs:
            ids = {pair.entity.id, pair.into.id}
            if pair.key not in fresh or ids & {*merged} or not (pair.is_one or pair.key in answers):
                left |= ids
            elif _settle_pair(space, pair, answers.get(pair.key), stamp, now):
                merged |= {pair.entity.id: pair.entity, pair.into.id: pair.into}
        survivors = [row for row in merged.values() if row.merged_into_id is None]
        entries = indexer.build_entity_entries(survivors)
        indexer.write_entries(space, space.embedding_model, entries, None)
        duplicates.mark_compared({row.id for row in rows} - left, now)
        return bool(left & {row.id for row in rows})


def _settle_pair(
    space: Space, pair: EntityPair, answer: bool | None, stamp: str, now: datetime
) -> bool:
    """Merge what is one, note what is two, put the rest before a person; whether it merged.

    What a person corrected changes only on a person's word.
    """
    if not pair.is_one and answer is False:
        duplicates.propose_duplicate(space, pair, now, declined_by=stamp)
        return False
    sure = pair.is_one or answer is True
    if not sure or pair.entity.is_protected or pair.into.is_protected:
        duplicates.propose_duplicate(space, pair, now)
        return False
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.MERGE,
        "pipeline",
        now,
        "found to be one",
        engine=stamp[:60],
        trigger="sweep",
    )
    duplicates.merge_duplicate(pair, changes)
    return True
