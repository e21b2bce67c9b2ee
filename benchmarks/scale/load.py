"""A database of a million memories, from patterns of sessions, in a few minutes.

The patterns come in by COPY; every table is then filled by one INSERT … SELECT, in the order in
which sessions would have come in, those of all spaces mixed. As a superuser, so that foreign keys
aren't looked up a row at a time, and with the search indexes made afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
from django.db import models
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.numeric import Int4

from benchmarks.scale import session_patterns
from benchmarks.scale.language import EXCHANGES, USED_TOPICS, Language, Vectors, draw_around
from benchmarks.scale.table_fillings import ENTRIES, FILLINGS, NOISE_COUNT, build_insert
from memoryhub.tenants.models import Space, Tenant

# Two turns and a fact an exchange, a note every other: what a search looks at.
MEMORIES_A_SESSION = EXCHANGES * 7 // 2
PATTERNS = 1_200
TIME_SPAN = timedelta(days=300)
Say = Callable[[str], None]
Cursor = psycopg.Cursor[Any]

_CREATE_STAGING = """
CREATE TEMP TABLE pattern (pattern int, place int, kind text, said text, words text,
                           window_words text);
CREATE TEMP TABLE heart (pattern int, exchange int, vector halfvec);
CREATE TEMP TABLE noise (number int PRIMARY KEY, vector halfvec);
CREATE TEMP TABLE placed (number bigint, pattern int, tenant uuid, space uuid, ordinal int,
                          first_seq bigint, started timestamptz, exchanges int);
"""
_CREATE_PATTERN_TABLE = """
CREATE TEMP TABLE made AS SELECT pattern, exchange, place % 8 AS what, place, kind, said, vector,
  to_tsvector('english', words) AS words,
  to_tsvector('english', NULLIF(window_words, '')) AS window_words
FROM (SELECT *, place / 8 AS exchange FROM pattern) AS p JOIN heart USING (pattern, exchange);
CREATE INDEX ON made (pattern);
ANALYZE made; ANALYZE placed; ANALYZE noise;
"""
# All but those that constraints stand on.
_INDEXES_QUERY = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = %s::regclass AND NOT indisunique
"""


@dataclass(frozen=True, slots=True)
class SpaceSize:
    """A space to be: `memories` turns, facts and notes; `subject` says where it is found."""

    tenant: int
    subject: str
    memories: int


def plan_spaces(
    total: int, measured: Mapping[str, int], random: np.random.Generator
) -> list[SpaceSize]:
    """`measured` spaces of the first tenant, and small ones of a thousand tenants up to `total`."""
    made = [SpaceSize(0, subject, count) for subject, count in measured.items()]
    left = total - sum(measured.values())
    while left > 0:
        count = min(left, 20_000, int(50 * random.random() ** -0.9))
        made.append(SpaceSize(len(made) % 1_000, f"somebody-{len(made)}", count))
        left -= count
    return made


def fill_tables(
    connection: psycopg.Connection[Any],
    language: Language,
    centres: Vectors,
    wanted: Sequence[SpaceSize],
    model: str,
    say: Say,
) -> None:
    """Fill empty tables. `connection` is a superuser's; `model` is whose vectors they are."""
    register_vector(connection)
    cursor = connection.cursor()
    cursor.execute(_CREATE_STAGING)
    _copy_patterns(cursor, language, centres)
    _copy_sessions(cursor, language, wanted, _copy_spaces(cursor, wanted, model))
    cursor.execute(_CREATE_PATTERN_TABLE)
    say("the patterns are made")
    cursor.execute("SET session_replication_role = replica; SET maintenance_work_mem = '1GB'")
    for filling in FILLINGS:
        cursor.execute(*build_insert(filling, model))
        say(f"{cursor.rowcount:,} {filling.model._meta.verbose_name_plural}")
    with _drop_indexes_meanwhile(cursor, ENTRIES.model._meta.db_table, say):
        cursor.execute(*build_insert(ENTRIES, model))
        say(f"{cursor.rowcount:,} {ENTRIES.model._meta.verbose_name_plural}")
    connection.commit()
    connection.autocommit = True
    cursor.execute("VACUUM (ANALYZE)")
    say("vacuumed")


@contextmanager
def _drop_indexes_meanwhile(cursor: Cursor, table: str, say: Say) -> Iterator[None]:
    indexes = cursor.execute(_INDEXES_QUERY, [table]).fetchall()
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    yield
    for name, definition in indexes:
        cursor.execute(definition)
        say(f"index {name}")


def _copy_patterns(cursor: Cursor, language: Language, centres: Vectors) -> None:
    sessions = [language.draw_session(at % USED_TOPICS) for at in range(PATTERNS)]
    with cursor.copy("COPY pattern FROM STDIN") as copy:
        for row in session_patterns.build_rows(sessions):
            copy.write_row(row)
    # Stored are sums of two vectors of length 1 about the same thing: see embed_entries.
    hearts = 1.85 * session_patterns.draw_session_vectors(language, sessions, centres)
    _copy_vectors(cursor, "heart", ((*divmod(at, EXCHANGES), v) for at, v in enumerate(hearts)))
    noise = draw_around(language.random, np.zeros((NOISE_COUNT, centres.shape[1]), np.float32), 1)
    _copy_vectors(cursor, "noise", enumerate(0.8 * noise))


def _copy_vectors(cursor: Cursor, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Rows of integers with a vector at their end."""
    with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
        for *numbers, vector in rows:
            copy.write_row([*map(Int4, numbers), HalfVector(vector)])


def _copy_spaces(cursor: Cursor, wanted: Sequence[SpaceSize], model: str) -> list[Space]:
    tenants = [
        Tenant(
            name=f"Tenant {number}", slug=f"tenant-{number}", created_at=session_patterns.START_TIME
        )
        for number in range(1 + max(size.tenant for size in wanted))
    ]
    # The hub gives this tenant the key that was asked for, and no dialogues of its own.
    tenants[0].slug, tenants[0].seeded_at = "demo", session_patterns.START_TIME
    spaces = [
        Space(
            tenant=tenants[size.tenant],
            subject=size.subject,
            speakers=list(session_patterns.SPEAKERS),
            embedding_model=model,
            next_seq=size.memories + 1_000,
            created_at=session_patterns.START_TIME,
        )
        for size in wanted
    ]
    _copy_rows(cursor, Tenant, tenants)
    _copy_rows(cursor, Space, spaces)
    return spaces


def _copy_rows(cursor: Cursor, model: type[models.Model], made: Sequence[models.Model]) -> None:
    fields = model._meta.concrete_fields
    names = ", ".join(str(field.column) for field in fields)
    with cursor.copy(f"COPY {model._meta.db_table} ({names}) FROM STDIN") as copy:
        for row in made:
            copy.write_row([getattr(row, field.attname) for field in fields])


@dataclass(frozen=True, slots=True, order=True)
class _PlannedSession:
    """A session to be: `when` is its share of the time that passes."""

    when: float
    at: int
    ordinal: int
    pattern: int
    exchanges: int


def _copy_sessions(
    cursor: Cursor, language: Language, wanted: Sequence[SpaceSize], spaces: Sequence[Space]
) -> None:
    """Each space's sessions in order, those of all spaces mixed as they would have come in."""
    todo = [
        placed for at, size in enumerate(wanted) for placed in _plan_sessions(language, at, size)
    ]
    with cursor.copy("COPY placed FROM STDIN") as copy:
        for number, one in enumerate(sorted(todo)):
            space, started = spaces[one.at], session_patterns.START_TIME + one.when * TIME_SPAN
            first_seq = (one.ordinal - 1) * 2 * EXCHANGES + 1
            ids = (number, one.pattern, space.tenant_id, space.id)
            copy.write_row((*ids, one.ordinal, first_seq, started, one.exchanges))


def _plan_sessions(language: Language, at: int, size: SpaceSize) -> Iterator[_PlannedSession]:
    """Patterns one after the other from a random one: within a space few are there twice."""
    count = -(-size.memories // MEMORIES_A_SESSION)
    last = -(-(size.memories - (count - 1) * MEMORIES_A_SESSION) * 2 // 7)
    first = int(language.random.integers(PATTERNS))
    for n, when in enumerate(np.sort(language.random.random(count))):
        exchanges = last if n == count - 1 else EXCHANGES
        yield _PlannedSession(float(when), at, n + 1, (first + n) % PATTERNS, exchanges)
