"""Turns that are not indexed yet, by their words: what was just said is found at once (E11, C18).

Where a model reads what is said, that takes a while, and only then is it indexed. A turn that is
indexed but not read is a candidate like any other.
"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from memoryhub.dialogues.models import Turn
from memoryhub.recall.candidates.sql import (
    MAX_COUNTED_WORDS,
    MAX_QUERY_WORDS,
    ONE_MATCH_RANK,
    QUERY_WORDS_SQL,
)
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.score import MemoryCandidate
from notes.index.lexemes import build_lexical_text
from notes.models import IndexEntry

# Of a dialogue imported at once the newest are looked at.
MAX_TURNS = 500
# Of a longer text, its beginning.
_MAX_TURN_CHARACTERS = 20_000

# The same measure as sql.py takes of stored words: a turn's own counts for its window too.
_LEXICAL_SQL = r"""
WITH {asked}
q AS (
  SELECT query, words, (n / least(n, %(most_words)s) / %(one_match)s)::float AS scale
  FROM asked, LATERAL (SELECT greatest(1, (numnode(query) + 1) / 2)::float AS n) AS size
)
SELECT said.place, ts_rank(said.words, q.query) * q.scale, q.words,
       array_to_string(tsvector_to_array(said.words), ' ')
FROM q, LATERAL (
  SELECT place, to_tsvector('english', text) AS words
  FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS each (text, place)
) AS said
WHERE said.words @@ q.query
"""


def retrieve_unindexed_turns(ask: PreparedQuestion) -> list[MemoryCandidate]:
    """Those that share a word with the question. Call inside the tenant's scope.

    No statement where nothing waits, else two.
    """
    said = _load_unindexed_turns(ask) if ask.pending and ask.parsed_question.words else []
    if not said:
        return []
    values: dict[str, Any] = {
        "words": ask.parsed_question.words,
        "texts": [
            build_lexical_text(f"{t.occurred_at:%d %B %Y} {t.text[:_MAX_TURN_CHARACTERS]}")
            for t in said
        ],
        "most_asked": MAX_QUERY_WORDS,
        "most_words": MAX_COUNTED_WORDS,
        "one_match": ONE_MATCH_RANK,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEXICAL_SQL.format(asked=QUERY_WORDS_SQL), values)
        return [_build_candidate(said[place - 1], *row) for place, *row in cursor.fetchall()]


def _load_unindexed_turns(ask: PreparedQuestion) -> list[Turn]:
    indexed = IndexEntry.objects.filter(owner_id=OuterRef("id"), kind="turn")
    rows = Turn.objects.filter(space=ask.space, state=Turn.State.PENDING)
    rows = rows.filter(occurred_at__lte=ask.visibility.said_by)
    return list(rows.filter(~Exists(indexed)).order_by("-seq")[:MAX_TURNS])


def _build_candidate(turn: Turn, lexical: float, asked: str, words: str) -> MemoryCandidate:
    return MemoryCandidate(
        kind="turn",
        id=turn.id,
        dense=None,
        lexical=lexical,
        speaker=turn.speaker,
        owner=turn.speaker,
        predicate="",
        occurred_at=turn.occurred_at,
        event_from=None,
        event_to=None,
        session=turn.session_id,
        place=turn.ordinal,
        text=turn.text[:500],
        question_words=asked,
        words=words,
        role=turn.role,
    )
