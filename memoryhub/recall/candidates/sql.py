"""Candidates in one statement: the nearest vectors, the best words, and both scores for all.

Vectors are compared exactly on the covering index; words by the function that may use the GIN
indexes under row-level security. What can't be seen now is left out before anything is ranked.
Entries of one model only are compared; where a memory has none of it, its words still count (E17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper

from memoryhub.recall.candidates import common_words
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.score import MemoryCandidate
from memoryhub.recall.render.results import ItemKind
from memoryhub.tenants.database.prepared import open_prepared_cursor, squeeze_statement
from memoryhub.tenants.models import Space
from notes.facts.validity import build_fact_current_sql
from notes.index import approximate

CANDIDATES_PER_ARM = 40
# Beside turns, of each kind that is read from them half as many will do: they tell of the same
# turns (measured in docs/explanation/recall.md).
_DERIVED_SHARE = 0.5
# What ts_rank gives for one occurrence of one word, times the number of words asked for.
ONE_MATCH_RANK = 0.0608
# Of a longer question, this many words count as all of it.
MAX_COUNTED_WORDS = 6
# Further words are not asked for: PostgreSQL reads a query recursively, and ranks by each word.
MAX_QUERY_WORDS = 200


class CandidateRows(NamedTuple):
    """`seen` may be shown. `hidden`: so many more were found that have faded."""

    visible: list[MemoryCandidate]
    hidden_count: int


# The planner chooses the covering index when each kind is asked for by itself.
_DENSE_SQL = """
dense AS (
  SELECT k.kind, near.owner_id FROM unnest(%(kinds)s::text[], %(per_arm)s::int[]) AS k(kind, most)
  CROSS JOIN LATERAL (
    SELECT e.owner_id FROM notes_indexentry e
    WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = k.kind
      AND e.model = %(model)s AND e.embedding IS NOT NULL {among}
    ORDER BY {distance} LIMIT k.most
  ) near
),
"""
# An approximate index is of one kind, which the planner has to see.
_APPROXIMATE_DENSE_SQL = """
dense AS (
  {of_kinds}
),
"""
_APPROXIMATE_KIND_SQL = """(SELECT '{kind}'::text AS kind, owner_id FROM notes_indexentry e
    WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = '{kind}'
      AND e.model = %(model)s AND e.embedding IS NOT NULL
    ORDER BY {distance} LIMIT {most})"""
# The exact one is not what an approximate index of the space orders by: it is never taken for it.
_EXACT_DISTANCE_SQL = "e.embedding <#> %(vector)s::halfvec"
_APPROXIMATE_DISTANCE_SQL = "e.embedding::halfvec({size}) <#> %(vector)s::halfvec({size})"
# Looked at before the nearest are taken, so that none of them is crowded out.
_ONLY_IDS_SQL = "AND e.owner_id = ANY(%(only)s::uuid[])"
# Words are looked for in the whole space: so many must do for some of the wanted to be there.
_WORDS_PER_ARM_AMONG_IDS = 1_000
_NO_DENSE_SQL = "dense AS (SELECT ''::text AS kind, NULL::uuid AS owner_id WHERE false),"

# Vectors of another model may be of another length: they are not even looked at.
_SIMILARITY_SQL = "CASE WHEN e.model = %(model)s THEN -(e.embedding <#> %(vector)s::halfvec) END"
_NO_SIMILARITY_SQL = "NULL::float"

_FOUND_SQL = """
found AS (
  SELECT kind, owner_id FROM dense
  UNION
  SELECT k.kind, best.owner_id FROM unnest(%(kinds)s::text[], %(per_words)s::int[]) AS k(kind, most)
  JOIN (
    SELECT w.kind, w.owner_id,
           row_number() OVER (PARTITION BY w.kind ORDER BY w.score DESC, w.owner_id) AS place
    FROM q, memoryhub_by_words(%(tenant)s, %(space)s, %(kinds)s, q.query, %(most)s, %(model)s,
                               %(sought)s::tsquery) w
  ) best ON best.kind = k.kind AND best.place <= k.most
),
"""
# Ids rise with time.
_LATEST_SQL = """
found AS (
  SELECT k.kind, late.owner_id FROM unnest(%(kinds)s::text[], %(per_arm)s::int[]) AS k(kind, most)
  CROSS JOIN LATERAL (
    SELECT DISTINCT e.owner_id FROM notes_indexentry e
    WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = k.kind {among}
    ORDER BY e.owner_id DESC LIMIT k.most
  ) late
),
"""
_LINKED_NOTES_SQL = """
found AS (  -- the other ends of these notes' links
  SELECT DISTINCT 'note'::varchar AS kind, ends.far AS owner_id
  FROM notes_link l
  CROSS JOIN LATERAL (VALUES (l.a_id, l.b_id), (l.b_id, l.a_id)) AS ends(near, far)
  WHERE l.space_id = %(space)s AND l.active AND l.retired_at IS NULL
    AND (l.a_id = ANY(%(linked_to)s) OR l.b_id = ANY(%(linked_to)s))
    AND ends.near = ANY(%(linked_to)s) AND NOT ends.far = ANY(%(linked_to)s)
),
"""

# What is asked for, for every statement that measures words.
QUERY_WORDS_SQL = r"""
asked AS (  -- the first distinct words, quoted as a tsquery wants them
  SELECT COALESCE(string_agg(
    $$'$$ || replace(replace(lexeme, $$\$$, $$\\$$), $$'$$, $$''$$) || $$'$$, ' | '
  ), '')::tsquery AS query, COALESCE(string_agg(lexeme, ' '), '') AS words
  FROM (SELECT lexeme FROM unnest(to_tsvector('english', %(words)s))
        ORDER BY positions[1], lexeme LIMIT %(most_asked)s) AS first
),
"""

_CANDIDATES_SQL = r"""
WITH {asked}
q AS (  -- ts_rank divides by the number of words asked for: n leaves and n - 1 operators
  SELECT query, words, (n / least(n, %(most_words)s) / (2 * %(one_match)s))::float AS scale
  FROM asked, LATERAL (SELECT greatest(1, (numnode(query) + 1) / 2)::float AS n) AS size
),
{dense}
{found}
scored AS (  -- LATERAL: by id, never by a scan of the space
  SELECT found.kind, found.owner_id, both_arms.* FROM q, found CROSS JOIN LATERAL (
    SELECT max({near}) AS dense,
           COALESCE(max(ranked.lexical) FILTER (WHERE e.model = %(model)s), max(ranked.lexical))
             AS lexical,
           string_agg(array_to_string(tsvector_to_array(COALESCE(e.window_words, e.words)), ' '),
             ' ') AS words
    FROM notes_indexentry e CROSS JOIN LATERAL (
      SELECT (ts_rank(e.words, q.query)
              + ts_rank(COALESCE(e.window_words, e.words), q.query)) * q.scale AS lexical
    ) ranked
    WHERE e.owner_id = found.owner_id AND e.kind = found.kind
  ) both_arms
)
SELECT s.kind, s.owner_id, s.dense, COALESCE(s.lexical, 0),
       COALESCE(t.speaker, f.speaker, ''), COALESCE(t.speaker, f.owner, ''),
       COALESCE(f.predicate_key, ''),
       COALESCE(t.occurred_at, f.asserted_at, n.occurred_at, e.to_at), f.event_from, f.event_to,
       t.session_id, COALESCE(t.ordinal, 0),
       left(COALESCE(t.text, f.text, n.content, e.text), 500),
       COALESCE(p.last_recall_at, f.last_recall_at, n.last_recall_at, e.last_recall_at),
       COALESCE(p.strength, f.strength, n.strength, e.strength, 1),
       q.words, COALESCE(s.words, ''), COALESCE(t.role, ''),
       %(everything)s OR %(deep)s OR 'active' = COALESCE(
         p.visibility, f.visibility, n.visibility, e.visibility, 'active')
FROM q, scored s
-- Nothing is looked up in a table that the kind has no rows in.
LEFT JOIN dialogues_turn t ON t.id = CASE s.kind WHEN 'turn' THEN s.owner_id END
LEFT JOIN notes_fact f ON f.id = CASE s.kind WHEN 'fact' THEN s.owner_id END
LEFT JOIN notes_note n ON n.id = CASE s.kind WHEN 'note' THEN s.owner_id END
LEFT JOIN notes_episode e ON e.id = CASE s.kind WHEN 'episode' THEN s.owner_id END
LEFT JOIN LATERAL (  -- a turn's page: the last of its session that begins no later
  SELECT visibility, last_recall_at, strength FROM notes_page
  WHERE session_id = t.session_id AND first_seq <= t.seq ORDER BY first_seq DESC LIMIT 1
) p ON true
WHERE %(everything)s OR ((t.id IS NOT NULL AND t.state <> 'redacted'
        AND t.occurred_at <= %(said_by)s)
    OR (n.id IS NOT NULL AND n.retired_at IS NULL AND n.occurred_at <= %(said_by)s)
    OR (e.id IS NOT NULL AND e.retired_at IS NULL AND NOT e.stale
        AND e.kind IN ('topic', 'session', 'day', 'global')
        AND e.to_at <= %(said_by)s)
    OR (f.id IS NOT NULL AND CASE
          WHEN %(as_of)s::timestamptz IS NULL AND %(include_past)s
            THEN f.retired_at IS NULL AND f.status <> 'retracted'
          ELSE {current}
        END))
  AND (%(only)s::uuid[] IS NULL OR s.owner_id = ANY(%(only)s::uuid[]))
"""
_CURRENT_FACT_SQL = build_fact_current_sql(
    "f", "COALESCE(%(as_of)s::timestamptz, %(now)s::timestamptz)"
)


def retrieve_candidates(
    space: Space,
    *,
    words: str,
    vector: NDArray[np.float32] | None,
    model: str,
    kinds: Sequence[ItemKind],
    visibility: SearchVisibility,
    per_arm: int = CANDIDATES_PER_ARM,
    linked_to: Sequence[UUID] = (),
    latest: bool = False,
) -> CandidateRows:
    """The union of both arms, `per_arm` a kind each, half as many of what is derived where turns
    are wanted too. Call inside the tenant's scope.

    `linked_to`: instead the notes linked to these, and not they themselves. `latest`: instead what
    was written last, whatever it is like.
    """
    among = visibility.only is not None
    breadths = _compute_breadths(kinds, per_arm)
    wide = [max(n, _WORDS_PER_ARM_AMONG_IDS) for n in breadths] if among else breadths
    narrowed = "" if linked_to else common_words.narrow_question(space, words, MAX_QUERY_WORDS)
    values: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "words": words,
        "vector": None if vector is None else HalfVector(vector),
        "model": model,
        "kinds": list(kinds),
        "per_arm": breadths,
        "per_words": wide,
        "most": max(wide),
        "only": None if visibility.only is None else list(visibility.only),
        "most_words": MAX_COUNTED_WORDS,
        "most_asked": MAX_QUERY_WORDS,
        "sought": narrowed or None,
        "one_match": ONE_MATCH_RANK,
        "as_of": visibility.as_of,
        "said_by": visibility.said_by,
        "now": visibility.now,
        "include_past": visibility.include_past,
        "deep": visibility.deep,
        "everything": visibility.everything,
        "linked_to": list(linked_to),
    }
    near = None if linked_to or latest else vector
    indexed = bool(model) and space.approximate_model == model
    approximately = indexed and near is not None and not among
    dense = _NO_DENSE_SQL
    if near is not None:
        dense = _build_dense_sql(values, near, approximately, among)
    found = _LINKED_NOTES_SQL if linked_to else _FOUND_SQL
    if latest:
        found = _LATEST_SQL.format(among=_ONLY_IDS_SQL if among else "")
    parts = {
        "dense": dense,
        "found": found,
        "near": _NO_SIMILARITY_SQL if vector is None else _SIMILARITY_SQL,
        "current": _CURRENT_FACT_SQL,
    }
    # A partial index is for a plan that knows the space.
    with connection.cursor() if approximately else open_prepared_cursor(binary=True) as cursor:
        if approximately:
            cursor.execute(*approximate.build_search_settings())
            values["vector"] = values["vector"].to_text()
        else:
            # Written out, it takes longer to write and to read than to compare.
            cursor.adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)
        statement = _CANDIDATES_SQL.format(asked=QUERY_WORDS_SQL, **parts)
        cursor.execute(squeeze_statement(statement), values)
        rows = cursor.fetchall()
    seen = [MemoryCandidate._make(row[:-1]) for row in rows if row[-1]]
    return CandidateRows(seen, len(rows) - len(seen))


def retrieve_for_question(
    ask: PreparedQuestion,
    kinds: Sequence[ItemKind],
    per_arm: int = CANDIDATES_PER_ARM,
    linked_to: Sequence[UUID] = (),
    latest: bool = False,
) -> CandidateRows:
    """`retrieve_candidates` of what the question asks for. Call inside the tenant's scope."""
    return retrieve_candidates(
        ask.space,
        words=ask.parsed_question.words,
        vector=ask.vector,
        model=ask.model,
        kinds=kinds,
        visibility=ask.visibility,
        per_arm=per_arm,
        linked_to=linked_to,
        latest=latest,
    )


def _compute_breadths(kinds: Sequence[ItemKind], per_arm: int) -> list[int]:
    """Of each of the kinds so many are looked at in each arm."""
    derived = max(1, round(per_arm * _DERIVED_SHARE)) if "turn" in kinds else per_arm
    return [per_arm if kind == "turn" else derived for kind in kinds]


def _build_dense_sql(
    values: Mapping[str, Any], vector: NDArray[np.float32], approximately: bool, among: bool
) -> str:
    if not approximately:
        return _DENSE_SQL.format(distance=_EXACT_DISTANCE_SQL, among=_ONLY_IDS_SQL if among else "")
    distance = _APPROXIMATE_DISTANCE_SQL.format(size=len(vector))
    breadths = dict(zip(values["kinds"], values["per_arm"], strict=True))
    each = [
        _APPROXIMATE_KIND_SQL.format(kind=kind, distance=distance, most=most)
        for kind, most in breadths.items()
    ]
    return _APPROXIMATE_DENSE_SQL.format(of_kinds=" UNION ALL ".join(each))
