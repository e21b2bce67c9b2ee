"""The entries of a kind that are nearest to vectors: exact search over the space (spec §4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from memoryhub.tenants.models import Space
from notes.index.indexer import EntryKind, serialize_vector

# The vectors are parsed once, not once a row; what has several chunks is as near as its nearest.
_NEAREST_SQL = """
WITH asked AS MATERIALIZED (
  SELECT number, vector::halfvec AS vector, key
  FROM unnest(%(numbers)s::int[], %(vectors)s::text[], %(keys)s::text[]) AS a(number, vector, key)
)
SELECT asked.number, near.owner_id, near.cosine FROM asked CROSS JOIN LATERAL (
  SELECT e.owner_id, max(1 - (e.embedding <=> asked.vector)) AS cosine
  FROM notes_indexentry e {rows}
  WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = %(kind)s
    AND e.model = %(model)s AND e.embedding IS NOT NULL
  GROUP BY e.owner_id ORDER BY cosine DESC, e.owner_id LIMIT %(most)s
) near ORDER BY asked.number, near.cosine DESC, near.owner_id
"""


def find_nearest_owners(
    space: Space,
    kind: EntryKind,
    model: str,
    asked: Sequence[tuple[str, Any]],
    most: int,
    rows: str = "",
) -> list[list[tuple[UUID, float]]]:
    """For each (key, vector), the nearest owners with their cosine, rounded (spec §0.1).

    `rows`: a join that leaves those of the entries `e` that may be found; it may name
    `asked.key`. One statement. Call inside the tenant's scope.
    """
    found: list[list[tuple[UUID, float]]] = [[] for _ in asked]
    if not asked:
        return found
    given: dict[str, Any] = {
        "numbers": list(range(len(asked))),
        "vectors": [serialize_vector(vector) for _, vector in asked],
        "keys": [key for key, _ in asked],
        "tenant": space.tenant_id,
        "space": space.id,
        "kind": kind,
        "model": model,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST_SQL.format(rows=rows), given)
        for number, owner, cosine in cursor.fetchall():
            found[number].append((owner, round(float(cosine), 6)))
    return found
