"""Turns that are not indexed yet, by their words: what was just said is found at once (E11, C18).

Where a model reads what is said, that takes a while, and only then is it indexed. A turn that is
indexed but not read is a candidate like any other.
"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from memoryhub.dialogues.models import Turn
from memoryhub.recall.arms import ASKED, MOST_ASKED, MOST_WORDS, ONE_MATCH
from memoryhub.recall.asking import Ask
from memoryhub.recall.fusion import Candidate
from notes.lexemes import lexical_text
from notes.models import IndexEntry

# Of a dialogue imported at once the newest are looked at.
MOST = 500
# Of a longer text, its beginning.
_CHARACTERS = 20_000

# The same measure as arms.py takes of stored words: a turn's own counts for its window too.
_LEXICAL = r"""
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


def unread(ask: Ask) -> list[Candidate]:
    """Those that share a word with the question. Call inside the tenant's scope.

    No statement where nothing waits, else two.
    """
    said = _waiting(ask) if ask.pending and ask.way.words else []
    if not said:
        return []
    values: dict[str, Any] = {
        "words": ask.way.words,
        "texts": [lexical_text(f"{t.occurred_at:%d %B %Y} {t.text[:_CHARACTERS]}") for t in said],
        "most_asked": MOST_ASKED,
        "most_words": MOST_WORDS,
        "one_match": ONE_MATCH,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEXICAL.format(asked=ASKED), values)
        return [_candidate(said[place - 1], *row) for place, *row in cursor.fetchall()]


def _waiting(ask: Ask) -> list[Turn]:
    indexed = IndexEntry.objects.filter(owner_id=OuterRef("id"), kind="turn")
    rows = Turn.objects.filter(space=ask.space, state=Turn.State.PENDING)
    if ask.visibility.as_of:
        rows = rows.filter(occurred_at__lte=ask.visibility.as_of)
    return list(rows.filter(~Exists(indexed)).order_by("-seq")[:MOST])


def _candidate(turn: Turn, lexical: float, asked: str, words: str) -> Candidate:
    return Candidate(
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
        asked=asked,
        words=words,
    )
