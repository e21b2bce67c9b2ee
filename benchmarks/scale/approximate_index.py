"""The approximate index of the largest space: what it costs, what it gains, what it misses."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector

from benchmarks.scale import search_times
from benchmarks.scale.search_times import QuestionSet
from benchmarks.scale.server import ServedHub
from memoryhub.engines.types import Embedder
from memoryhub.recall.candidates.sql import CANDIDATES_PER_ARM
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index import approximate

Connection = psycopg.Connection[Any]
# With `{cast}` the index's own expression, without it the exact one.
_NEAREST_QUERY = """
SELECT owner_id FROM notes_indexentry WHERE tenant_id = %(tenant)s AND space_id = '{space}'
  AND kind = %(kind)s AND model = '{model}' AND embedding IS NOT NULL
ORDER BY embedding{cast} <#> %(vector)s::halfvec{size} LIMIT %(most)s
"""


def measure_approximate_index(
    app: Connection,
    served: ServedHub,
    embedder: Embedder,
    place: Mapping[str, Any],
    asked: QuestionSet,
) -> dict[str, Any]:
    """Recall of the candidates' vectors against exact search, by kind of question; then search
    over HTTP with the index. It is dropped at the end."""
    with tenant_scope(place["tenant"]):
        space = Space.objects.get(id=place["space"])
    begun = time.monotonic()
    count = approximate.build_indexes(space)
    seconds = time.monotonic() - begun
    try:
        size = sum(each.size for each in approximate.list_indexes() if each.space == space.id)
        found = _measure_recall(app, embedder, place, asked.alone)
        searched = search_times.measure_searches(served, space.subject, asked)
    finally:
        approximate.drop_indexes(space)
    built = {"vectors": count, "build_seconds": round(seconds, 1), "megabytes": round(size / 1e6)}
    return built | found | {"searched": searched}


def _measure_recall(
    app: Connection, embedder: Embedder, place: Mapping[str, Any], asked: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    vectors = embedder.embed([query for _, query in asked])
    shares: dict[str, list[float]] = {kind: [] for kind in search_times.KIND_SHARES}
    times: dict[str, list[float]] = {"exact": [], "approximate": []}
    for (kind, _), vector in zip(asked, vectors, strict=True):
        exact = _find_nearest(app, embedder, place, vector, times["exact"], near=False)
        near = _find_nearest(app, embedder, place, vector, times["approximate"], near=True)
        shares[kind].append(len(exact & near) / max(1, len(exact)))
    return {
        "recall": {kind: round(float(np.mean(each)), 3) for kind, each in shares.items()},
        "statements": {
            name: search_times.compute_percentiles(each) for name, each in times.items()
        },
    }


def _find_nearest(
    app: Connection,
    embedder: Embedder,
    place: Mapping[str, Any],
    vector: Any,
    times: list[float],
    *,
    near: bool,
) -> set[Any]:
    """What the candidates' statement takes by vectors: so many of each kind."""
    cast = f"::halfvec({embedder.dimension})" if near else ""
    statement = _NEAREST_QUERY.format(
        space=place["space"], model=embedder.name, cast=cast, size=cast[9:]
    )
    values = {
        "tenant": place["tenant"],
        "vector": HalfVector(vector).to_text(),
        "most": CANDIDATES_PER_ARM,
    }
    found: set[Any] = set()
    with app.transaction():
        app.execute("SELECT set_config('memoryhub.tenant', %s, true)", [str(place["tenant"])])
        app.execute(*approximate.build_search_settings())
        start = time.perf_counter()
        for kind in ("turn", "fact", "note"):
            rows = app.execute(statement, {**values, "kind": kind}).fetchall()
            found |= {owner for (owner,) in rows}
        times.append((time.perf_counter() - start) * 1000)
    return found
