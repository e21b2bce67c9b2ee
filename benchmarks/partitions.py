"""What it would gain and cost to partition the largest table by hash of the tenant.

`python -m benchmarks.partitions [--rows 400000] [--tenants 400] [--parts 32] [--rounds 200]`

Makes a database of its own, and in it the search index (`notes_indexentry`, the largest table by
far) twice with the same rows, once whole and once in parts: each tenant has one space, so many
rows, vectors of 384 half floats and a dozen words. What is asked is what a search asks of it;
whole and parted take turns. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import psycopg

NAMES = ("whole", "parted")
# What is added as nothing has the database draw anew for each row and each word.
FILL_SQL = """
INSERT INTO {table} (id, tenant_id, space_id, kind, owner_id, chunk, model, embedding, words,
    window_words, text_hash)
SELECT gen_random_uuid(), t.id, t.id, 'turn', gen_random_uuid(), 0, 'bench-384',
    (SELECT array_agg(random() - 0.5 + n * 0) FROM generate_series(1, 384 + r * 0) AS n)::halfvec,
    to_tsvector('simple', w.words), to_tsvector('simple', w.words), md5(r::text)
FROM unnest(%(tenants)s::uuid[]) AS t(id), generate_series(1, %(each)s) AS r,
    LATERAL (SELECT string_agg('word' || floor(random() * 5000 + n * 0)::int, ' ') AS words
             FROM generate_series(1, 12 + r * 0) AS n) w
"""
NEAREST_SQL = """
SELECT owner_id FROM {table}
WHERE tenant_id = %(tenant)s AND space_id = %(tenant)s AND kind = 'turn' AND model = 'bench-384'
ORDER BY embedding <#> %(vector)s::halfvec LIMIT 40
"""
WORDS_SQL = """
SELECT count(*) FROM {table}
WHERE tenant_id = %(tenant)s AND space_id = %(tenant)s
    AND COALESCE(window_words, words) @@ to_tsquery('simple', %(words)s)
"""
CHANGE_SQL = "UPDATE {table} SET chunk = chunk WHERE tenant_id = ANY(%(some)s)"


def main() -> None:
    given = _parse_arguments()
    with tempfile.TemporaryDirectory(prefix="memoryhub-partitions-") as folder:
        Path(folder).chmod(0o711)  # the database's account has to come by
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": folder,
        }
        os.environ.pop("DATABASE_URL", None)
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        from memoryhub.embedded import EmbeddedPostgres

        postgres = EmbeddedPostgres(Path(folder))
        postgres.start()
        call_command("migrate", database="owner", interactive=False, verbosity=0)
        connections.close_all()
        try:
            _measure(postgres.dsn("superuser"), given)
        finally:
            postgres.erase()


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--rows", type=int, default=400_000)
    arguments.add_argument("--tenants", type=int, default=400)
    arguments.add_argument("--parts", type=int, default=32)
    arguments.add_argument("--rounds", type=int, default=200)
    return arguments.parse_args()


def _measure(dsn: str, given: argparse.Namespace) -> None:
    chance = Random(7)
    with psycopg.connect(dsn, autocommit=True) as database:
        _make_tables(database, given.parts)
        rows = database.execute(
            "SELECT gen_random_uuid() FROM generate_series(1, %s)", [given.tenants]
        )
        tenants = [row[0] for row in rows]
        each = given.rows // given.tenants
        found: dict[str, dict[str, float]] = {name: {} for name in NAMES}
        for name in NAMES:
            filled = {"tenants": tenants, "each": each}
            found[name]["filled, rows a second"] = given.rows / _time(
                database.execute, FILL_SQL.format(table=name), filled
            )
            database.execute(f"VACUUM ANALYZE {name}")
        _ask(dsn, tenants, found, given.rounds, chance)
        some = chance.sample(tenants, max(1, given.tenants // 20))
        for name in NAMES:
            database.execute(CHANGE_SQL.format(table=name), {"some": some})
            parts = _list_parts(database, name)
            took = [_time(database.execute, f"VACUUM {part}") for part in parts]
            found[name]["vacuum after a twentieth changed, s"] = sum(took)
            found[name]["the longest of its vacuums, s"] = max(took)
            sizes = "SELECT sum(pg_total_relation_size(p::regclass)) FROM unnest(%s::text[]) AS p"
            size = database.execute(sizes, [parts]).fetchone()
            assert size is not None
            found[name]["size, MB"] = float(size[0]) / 2**20
    print("| | whole | parted |\n|---|---|---|")
    for what in found["whole"]:
        print(f"| {what} | {found['whole'][what]:,.2f} | {found['parted'][what]:,.2f} |")


def _make_tables(database: psycopg.Connection[Any], parts: int) -> None:
    """As the hub has the table; where a key has to hold the tenant, it begins with it."""
    like = "notes_indexentry INCLUDING DEFAULTS"
    database.execute(f"CREATE TABLE whole (LIKE {like})")
    database.execute(f"CREATE TABLE parted (LIKE {like}) PARTITION BY HASH (tenant_id)")
    for n in range(parts):
        database.execute(
            f"CREATE TABLE parted_{n} PARTITION OF parted "
            f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {n})"
        )
    for name in NAMES:
        database.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (tenant_id, id)")
        database.execute(f"CREATE UNIQUE INDEX ON {name} (tenant_id, owner_id, kind, chunk, model)")
        database.execute(
            f"CREATE INDEX ON {name} (tenant_id, space_id, kind, model) "
            "INCLUDE (owner_id, chunk, embedding)"
        )
        database.execute(
            f"CREATE INDEX ON {name} USING gin (space_id uuid_ops, "
            "COALESCE(window_words, words) tsvector_ops)"
        )


def _list_parts(database: psycopg.Connection[Any], name: str) -> list[str]:
    rows = database.execute(
        "SELECT relid::regclass FROM pg_partition_tree(%s) WHERE isleaf", [name]
    )
    return [str(row[0]) for row in rows] or [name]  # a whole table is no tree


def _ask(
    dsn: str, tenants: list[UUID], found: dict[str, dict[str, float]], rounds: int, chance: Random
) -> None:
    """As the hub does: a generic plan, kept by its connection; medians in milliseconds."""
    vector = str([chance.random() - 0.5 for _ in range(384)])
    for what, statement in (("nearest", NEAREST_SQL), ("by words", WORDS_SQL)):
        first: dict[str, list[float]] = {name: [] for name in NAMES}
        later: dict[str, list[float]] = {name: [] for name in NAMES}
        for _ in range(5):
            with psycopg.connect(dsn, autocommit=True, prepare_threshold=0) as asking:
                asking.execute("SET plan_cache_mode = force_generic_plan")
                for turn in range(rounds // 5):
                    asked = {"tenant": chance.choice(tenants), "vector": vector, "words": "word7"}
                    for name in NAMES:
                        took = _time(asking.execute, statement.format(table=name), asked)
                        (later if turn else first)[name].append(took * 1000)
        for name in NAMES:
            found[name][f"{what}, a connection's first, ms"] = statistics.median(first[name])
            found[name][f"{what}, later, ms"] = statistics.median(later[name])


def _time(act: Callable[..., object], *given: object) -> float:
    began = time.perf_counter()
    act(*given)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
