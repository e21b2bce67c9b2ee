"""How entities hang together: what surrounds those the question names, and relations that read
like the question (Mem0g, spec §6.2). A relation holds as long as its fact does (I3).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container
from uuid import UUID

from memoryhub.dialogues.messages import normalise_text
from memoryhub.recall.candidates.channels.hits import ChannelHit, clamp_score
from memoryhub.recall.candidates.channels.statements import (
    build_cosine_sql,
    build_current_sql,
    build_visible_sql,
    load_rows,
)
from memoryhub.recall.question.prepare import PreparedQuestion
from notes.graph.build import find_nearest_entities
from notes.models import Entity, Relation

MAX_HOPS = 2
# What a relation counts that has no vector to compare.
_SIMILARITY_WITHOUT_VECTOR = 0.5
_FIRST_PERSON_PATTERN = re.compile(r"\b(?:i|me|my|mine|myself)\b|我", re.I)
_MAX_NAMED_ENTITIES = 20

_RELATIONS_SQL = """
WITH RECURSIVE held AS (
  SELECT r.id, r.fact_id, r.label, r.src_id, r.dst_id FROM notes_relation r
  JOIN notes_fact f ON f.id = r.fact_id
  WHERE r.space_id = %(space)s AND r.retired_at IS NULL AND {current} AND {visible}
),
reached (entity, hop) AS (
  SELECT unnest(%(named)s::uuid[]), 0
  UNION
  SELECT CASE WHEN held.src_id = reached.entity THEN held.dst_id ELSE held.src_id END, hop + 1
  FROM reached JOIN held ON reached.entity IN (held.src_id, held.dst_id) WHERE hop < %(hops)s
),
around AS (  -- a relation is as far as the nearer of its ends
  SELECT held.id, min(reached.hop) + 1 AS hop FROM held
  JOIN reached ON reached.entity IN (held.src_id, held.dst_id)
  WHERE reached.hop < %(hops)s GROUP BY held.id
),
alike AS (SELECT held.id, {near} AS near FROM held)
SELECT held.fact_id, around.hop, alike.near, src.name, held.label, dst.name
FROM held JOIN alike ON alike.id = held.id LEFT JOIN around ON around.id = held.id
JOIN notes_entity src ON src.id = held.src_id JOIN notes_entity dst ON dst.id = held.dst_id
WHERE around.hop IS NOT NULL OR alike.near >= %(floor)s
UNION ALL  -- facts that name such an entity, and relate it to nothing
SELECT f.id, 1, {near_fact}, NULL, NULL, NULL FROM notes_fact f
WHERE f.space_id = %(space)s AND {current} AND {visible}
  AND f.id IN (
    SELECT d.via_id FROM notes_derivation d WHERE d.child_type = 'entity'
      AND d.child_id = ANY(%(named)s::uuid[]) AND d.via_type = 'fact' AND d.role = 'support')
  AND NOT EXISTS (
    SELECT 1 FROM held WHERE held.fact_id = f.id
      AND (held.src_id = ANY(%(named)s::uuid[]) OR held.dst_id = ANY(%(named)s::uuid[])))
"""


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    """Facts by their relations and by the entities they name, the best score of each, at most K."""
    best: dict[UUID, ChannelHit] = {}
    for hit in _find_relation_hits(ask):
        held = best.get(hit.id)
        if held is None or hit.score > held.score:
            best[hit.id] = hit
    return sorted(best.values(), key=lambda hit: -hit.score)[: ask.k]


def _find_relation_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    statement = _RELATIONS_SQL.format(
        current=build_current_sql(ask, "f"),
        visible=build_visible_sql(ask, "f"),
        near=build_cosine_sql(ask, "relation", "held.id"),
        near_fact=build_cosine_sql(ask, "fact", "f.id"),
    )
    floor = ask.policy.recall.triplet_floor
    found = load_rows(ask, statement, named=find_named_entities(ask), hops=MAX_HOPS, floor=floor)
    return [
        _build_relation_hit(ask, fact, hop, near, f"{src} -{label}-> {dst}" if label else "named")
        for fact, hop, near, src, label, dst in found
    ]


def _build_relation_hit(
    ask: PreparedQuestion, fact: UUID, hop: int | None, near: float | None, relation: str
) -> ChannelHit:
    """Cosine, damped for every hop from an entity the question names (C13, spec §12.2)."""
    if hop is None:
        return ChannelHit("fact", fact, clamp_score(near or 0.0), relation)
    weight = ask.policy.recall.hop_weight**hop
    score = weight * (_SIMILARITY_WITHOUT_VECTOR if near is None else max(near, 0.0))
    return ChannelHit("fact", fact, clamp_score(score), f"{relation}, {hop} from what is named")


def load_relation_texts(facts: Collection[UUID]) -> dict[UUID, list[str]]:
    """By fact, what it says of entities, in words. Call inside the tenant's scope."""
    rows = Relation.objects.filter(fact_id__in=facts, retired_at=None).order_by("id")
    told: dict[UUID, list[str]] = defaultdict(list)
    for fact, *words in rows.values_list("fact_id", "src__name", "label", "dst__name"):
        told[fact].append(" ".join(words))
    return dict(told)


def find_named_entities(ask: PreparedQuestion) -> list[UUID]:
    """Entities that the question names, by name or alias, and who asks, for "I". For a name that
    no entity has, the one whose name is nearest in meaning ("Oporto" finds "Porto")."""
    question = normalise_text(ask.routed_question.query)
    wanted = {normalise_text(name) for name in ask.names}
    if _FIRST_PERSON_PATTERN.search(question):
        wanted |= {normalise_text(name) for name in ask.space.called_names}
    found = _load_entity_names(ask, question, wanted)
    called = [
        survivor
        for key, aliases, own, merged in found
        if _mentions_any_name(question, [key, *aliases]) or not wanted.isdisjoint([key, *aliases])
        for survivor in ([own] if merged is None else [own, merged])
    ]
    known = {name for key, aliases, *_ in found for name in (key, *aliases)}
    return list(dict.fromkeys([*called, *_find_alike(ask, known)]))[:_MAX_NAMED_ENTITIES]


def _find_alike(ask: PreparedQuestion, known: Container[str]) -> list[UUID]:
    """By name that is not `known`, the nearest entity that may be the one meant (spec §6.2)."""
    vectors = [
        vector
        for name, vector in zip(ask.names, ask.name_vectors, strict=False)
        if normalise_text(name) not in known
    ]
    near = find_nearest_entities(ask.space, ask.model, vectors)
    return [entity.id for entity, cosine in near.values() if cosine >= ask.policy.graph.ask_at]


def _load_entity_names(
    ask: PreparedQuestion, question: str, wanted: set[str]
) -> list[tuple[str, list[str], UUID, UUID | None]]:
    """Entities that may be named: the database looks for names in the question."""
    rows = Entity.objects.filter(space=ask.space, retired_at=None).extra(  # fixed text
        where=[
            "strpos(%s, canonical_key) > 0 OR canonical_key = ANY(%s) OR EXISTS ("
            "SELECT 1 FROM unnest(aliases) a WHERE strpos(%s, lower(a)) > 0 OR lower(a) = ANY(%s))"
        ],
        params=[question, list(wanted), question, list(wanted)],
    )
    values = rows.values_list("canonical_key", "aliases", "id", "merged_into")
    return [
        (key, [normalise_text(alias) for alias in aliases], own, merged)
        for key, aliases, own, merged in values
    ]


def _mentions_any_name(question: str, names: list[str]) -> bool:
    """As a word, not within one; Chinese has no spaces to go by."""
    found = (rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" for name in names if name)
    return any(re.search(pattern, question) for pattern in found)
