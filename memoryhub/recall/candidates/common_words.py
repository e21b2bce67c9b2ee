"""In a large space the words a question shares with half of it tell little: which to look for.

Every memory with one of the words would have to be read to be ranked. So, once that would be more
than can be read in time, only memories with one of the rarer words are, and those where several of
the frequent ones meet. They are still ranked by all the words. Small spaces are read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from threading import Lock
from time import monotonic
from uuid import UUID

from django.db import connection

from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.models import Space

# So many memories can be read and ranked within some milliseconds.
MAX_MEMORIES_READ = 2_000
# About three memories a turn: turns, facts, notes and pages.
_MEMORIES_PER_TURN = 2.5
# A word that no memory of the sample has is taken to be in this share of them.
_RARE_WORD_SHARE = 0.002
# Words come together more often than if they did so by chance.
_COOCCURRENCE_FACTOR = 3.0
# Of the frequent words so many are looked for together: combinations are dear.
_MAX_COMBINED_WORDS = 4
_SAMPLE, _SECONDS, _SPACES = 300, 600.0, 1_000

WordShares = Mapping[str, float]


def build_narrow_tsquery(words: Sequence[str], shares: WordShares, size: int, most: int) -> str:
    """A tsquery for about `most` of `size` memories at most; "" where all of them can be read.

    `shares`: of the space's frequent words, how many of its memories have them, in [0, 1].
    """
    share = {word: shares.get(word, _RARE_WORD_SHARE) for word in words}
    if sum(share.values()) * size <= most:
        return ""
    rare: list[str] = []
    frequent: list[str] = []
    expected = 0.0
    for word in sorted(share, key=lambda each: (share[each], each)):
        expected += share[word] * size
        (rare if expected <= most else frequent).append(word)
    combined = _combine_frequent_words(frequent, share, size, most, bool(rare))
    return " | ".join([*map(quote_lexeme, rare), *combined])


def _combine_frequent_words(
    words: Sequence[str], share: WordShares, size: int, most: int, others: bool
) -> Iterator[str]:
    """Combinations of the rarest frequent words; one alone only if there are no `others`."""
    few = words[:_MAX_COMBINED_WORDS]
    if len(few) > 1 or not others:
        together = _choose_combination_size([share[word] for word in few], size, most)
        for met in combinations(few, together):
            yield f"({' & '.join(map(quote_lexeme, met))})"


def _choose_combination_size(shares: Sequence[float], size: int, most: int) -> int:
    """How many of the frequent words have to meet for about `most` memories to be left."""
    for count in range(2, len(shares)):
        chance = _COOCCURRENCE_FACTOR * (sum(shares) / len(shares)) ** count
        if comb(len(shares), count) * chance * size <= most:
            return count
    return len(shares)


def quote_lexeme(word: str) -> str:
    """A lexeme as a tsquery wants it."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


# The shares of this process's large spaces, each until when it is counted anew.
_known_shares: dict[UUID, tuple[float, WordShares]] = {}
_lock = Lock()


def _get_word_shares(space: Space) -> WordShares:
    now = monotonic()
    until, shares = _known_shares.get(space.id, (0.0, {}))
    if until < now:
        shares = _count_word_shares(space)
        with _lock:
            if len(_known_shares) >= _SPACES:
                _known_shares.clear()
            _known_shares[space.id] = (now + _SECONDS, shares)
    return shares


def narrow_question(space: Space, text: str, most_words: int) -> str:
    """What `build_narrow_tsquery` makes of the question's words. Call inside the tenant's scope."""
    size = int(space.next_seq * _MEMORIES_PER_TURN)
    if size <= MAX_MEMORIES_READ:
        return ""
    lexemes = _extract_lexemes(text, most_words)
    return build_narrow_tsquery(lexemes, _get_word_shares(space), size, MAX_MEMORIES_READ)


def _extract_lexemes(text: str, most: int) -> list[str]:
    with open_prepared_cursor() as cursor:
        cursor.execute(
            "SELECT lexeme FROM unnest(to_tsvector('english', %s)) "
            "ORDER BY positions[1], lexeme LIMIT %s",
            [text, most],
        )
        return [lexeme for (lexeme,) in cursor.fetchall()]


# Evenly spread over all that was said; what is rare in the sample is left to be taken for rare.
_WORD_COUNTS_SQL = """
WITH sample AS (
  SELECT COALESCE(e.window_words, e.words) AS words FROM dialogues_turn t
  JOIN notes_indexentry e ON e.owner_id = t.id AND e.kind = 'turn' AND e.chunk = 0
  WHERE t.space_id = %(space)s AND t.seq = ANY(%(at)s)
)
SELECT lexeme, count(*) FROM sample, LATERAL unnest(words) GROUP BY lexeme HAVING count(*) > 1
"""


def _count_word_shares(space: Space) -> WordShares:
    step = max(1, space.next_seq // _SAMPLE)
    at = list(range(1, space.next_seq, step))
    with connection.cursor() as cursor:
        cursor.execute(_WORD_COUNTS_SQL, {"space": space.id, "at": at})
        return {lexeme: count / len(at) for lexeme, count in cursor.fetchall()}
