"""Candidates in one statement: the nearest vectors, the best words, and both scores for all.

Vectors are compared exactly on the covering index; words by the function that may use the GIN
indexes under row-level security. What can't be seen now is left out before anything is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from memoryhub.recall.fusion import Candidate
from memoryhub.recall.results import Kind
from memoryhub.tenants.models import Space
from notes.queries import current_sql

PER_ARM = 60
# What ts_rank gives for one occurrence of one word, times the number of words asked for.
ONE_MATCH = 0.0608
# Of a longer question, this many words count as all of it.
MOST_WORDS = 6
# Further words are not asked for: PostgreSQL reads a query recursively, and ranks by each word.
MOST_ASKED = 200


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which facts and turns may be seen: those current at `now`, or true at `as_of`."""

    now: datetime
    as_of: datetime | None = None
    include_past: bool = False


# The planner chooses the covering index when each kind is asked for by itself.
_DENSE = """
dense AS (
  SELECT k.kind, near.owner_id FROM unnest(%(kinds)s::text[]) AS k(kind)
  CROSS JOIN LATERAL (
    SELECT e.owner_id FROM notes_indexentry e
    WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = k.kind
      AND e.model = %(model)s AND e.embedding IS NOT NULL
    ORDER BY e.embedding <#> %(vector)s::halfvec LIMIT %(per_arm)s
  ) near
),
"""
_NO_DENSE = "dense AS (SELECT ''::text AS kind, NULL::uuid AS owner_id WHERE false),"

_CANDIDATES = r"""
WITH asked AS (  -- the first distinct words, quoted as a tsquery wants them
  SELECT COALESCE(string_agg(
    $$'$$ || replace(replace(lexeme, $$\$$, $$\\$$), $$'$$, $$''$$) || $$'$$, ' | '
  ), '')::tsquery AS query
  FROM (SELECT lexeme FROM unnest(to_tsvector('english', %(words)s))
        ORDER BY positions[1], lexeme LIMIT %(most_asked)s) AS first
),
q AS (  -- ts_rank divides by the number of words asked for: n leaves and n - 1 operators
  SELECT query, (n / least(n, %(most_words)s) / (2 * %(one_match)s))::float AS scale
  FROM asked, LATERAL (SELECT greatest(1, (numnode(query) + 1) / 2)::float AS n) AS size
),
{dense}
found AS (
  SELECT kind, owner_id FROM dense
  UNION
  SELECT w.kind, w.owner_id FROM q, memoryhub_by_words(
    %(tenant)s, %(space)s, %(kinds)s, q.query, %(per_arm)s) w
),
scored AS (  -- LATERAL: by id, never by a scan of the space
  SELECT found.kind, found.owner_id, both_arms.* FROM q, found CROSS JOIN LATERAL (
    SELECT max(-(e.embedding <#> %(vector)s::halfvec)) FILTER (WHERE e.model = %(model)s) AS dense,
           max((ts_rank(e.words, q.query)
                + ts_rank(COALESCE(e.window_words, e.words), q.query)) * q.scale) AS lexical
    FROM notes_indexentry e WHERE e.owner_id = found.owner_id AND e.kind = found.kind
  ) both_arms
)
SELECT s.kind, s.owner_id, s.dense, s.lexical,
       COALESCE(t.speaker, f.speaker, ''), COALESCE(t.speaker, f.owner, ''),
       COALESCE(f.predicate_key, ''),
       COALESCE(t.occurred_at, f.asserted_at, n.occurred_at), f.event_from, f.event_to,
       t.session_id, COALESCE(t.ordinal, 0), left(COALESCE(t.text, f.text, n.content), 500)
FROM scored s
LEFT JOIN dialogues_turn t ON s.kind = 'turn' AND t.id = s.owner_id
LEFT JOIN notes_fact f ON s.kind = 'fact' AND f.id = s.owner_id
LEFT JOIN notes_note n ON s.kind = 'note' AND n.id = s.owner_id
WHERE (t.id IS NOT NULL AND t.state <> 'redacted'
       AND (%(as_of)s::timestamptz IS NULL OR t.occurred_at <= %(as_of)s))
   OR (n.id IS NOT NULL AND (%(as_of)s::timestamptz IS NULL OR n.occurred_at <= %(as_of)s))
   OR (f.id IS NOT NULL AND CASE
         WHEN %(as_of)s::timestamptz IS NULL AND %(include_past)s
           THEN f.retired_at IS NULL AND f.status <> 'retracted'
         ELSE {current}
       END)
"""
_CURRENT = current_sql("f", "COALESCE(%(as_of)s::timestamptz, %(now)s::timestamptz)")


def candidates(
    space: Space,
    *,
    words: str,
    vector: NDArray[np.float32] | None,
    model: str,
    kinds: Sequence[Kind],
    visibility: Visibility,
    per_arm: int = PER_ARM,
) -> list[Candidate]:
    """The union of both arms, `per_arm` a kind each. Call inside the tenant's scope."""
    values: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "words": words,
        "vector": None if vector is None else HalfVector(vector).to_text(),
        "model": model,
        "kinds": list(kinds),
        "per_arm": per_arm,
        "most_words": MOST_WORDS,
        "most_asked": MOST_ASKED,
        "one_match": ONE_MATCH,
        "as_of": visibility.as_of,
        "now": visibility.now,
        "include_past": visibility.include_past,
    }
    dense = _NO_DENSE if vector is None else _DENSE
    with connection.cursor() as cursor:
        cursor.execute(_CANDIDATES.format(dense=dense, current=_CURRENT), values)
        return [Candidate(*row) for row in cursor.fetchall()]
