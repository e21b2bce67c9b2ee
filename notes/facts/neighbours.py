"""What held claims a candidate is compared with: by vector, predicate and entity (spec §12.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memoryhub.tenants.models import Space
from notes.graph.identity import normalise_name
from notes.index.indexer import serialize_vector
from notes.models import Fact, Relation

# Open claims of the same owner, whatever their predicate.
_NEAREST_FACTS_SQL = """
SELECT g.n, near.owner_id
FROM unnest(%(n)s::int[], %(vector)s::text[], %(owner)s::text[]) AS g(n, vector, owner)
CROSS JOIN LATERAL (
  SELECT e.owner_id, e.embedding <=> g.vector::halfvec AS distance
  FROM notes_indexentry e JOIN notes_fact f ON f.id = e.owner_id
  WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = 'fact'
    AND e.model = %(model)s AND e.embedding IS NOT NULL AND f.status = 'active'
    AND f.retired_at IS NULL AND f.valid_to IS NULL AND lower(f.owner) = lower(g.owner)
  ORDER BY distance LIMIT %(most)s
) near
WHERE round((1 - near.distance)::numeric, 6) >= %(floor)s
ORDER BY g.n, near.distance
"""


def find_nearest_facts(
    space: Space,
    model: str,
    asked: Sequence[tuple[str, Any]],
    *,
    floor: float,
    most: int,
) -> list[list[UUID]]:
    """For each (owner, vector), open claims at or above the cosine `floor`, nearest first.

    Call inside the tenant's scope. One statement.
    """
    found: list[list[UUID]] = [[] for _ in asked]
    if not asked:
        return found
    given: dict[str, Any] = {
        "n": list(range(len(asked))),
        "vector": [serialize_vector(vector) for _, vector in asked],
        "owner": [owner for owner, _ in asked],
        "tenant": space.tenant_id,
        "space": space.id,
        "model": model,
        "most": most,
        "floor": floor,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST_FACTS_SQL, given)
        for place, owner_id in cursor.fetchall():
            found[place].append(owner_id)
    return found


def find_facts_about(
    space: Space, names: Iterable[tuple[str, Iterable[str]]]
) -> dict[int, list[UUID]]:
    """For each (owner, names of things), open claims of the owner with an edge to one of them."""
    wanted = [(owner, {normalise_name(name) for name in found}) for owner, found in names]
    keys = {name for _, found in wanted for name in found}
    if not keys:
        return {}
    edges = Relation.objects.filter(
        Q(src__canonical_key__in=keys) | Q(dst__canonical_key__in=keys),
        space=space,
        retired_at=None,
        fact__retired_at=None,
        fact__valid_to=None,
        fact__status=Fact.Status.ACTIVE,
    ).order_by("-fact__asserted_at")
    rows = edges.values_list("fact_id", "fact__owner", "src__canonical_key", "dst__canonical_key")[
        :500
    ]
    near: dict[int, list[UUID]] = {}
    for place, (owner, found) in enumerate(wanted):
        near[place] = [f for f, whose, s, d in rows if whose == owner and found & {s, d}]
    return near


def select_neighbours(
    most: int, vector: Sequence[UUID], predicate: Sequence[UUID], edges: Sequence[UUID]
) -> list[UUID]:
    """At most `most` of them, once each: what is near comes first (M8)."""
    return list(dict.fromkeys([*vector, *predicate, *edges]))[:most]


def find_same_predicate(held: Iterable[Fact], candidate: Fact) -> list[UUID]:
    """Open claims with the candidate's owner and predicate, newest first."""
    rows = [
        fact
        for fact in held
        if fact.predicate_key == candidate.predicate_key != ""
        and fact.owner == candidate.owner
        and fact.valid_to is None
    ]
    return [fact.id for fact in sorted(rows, key=lambda f: f.asserted_at, reverse=True)]
