"""The approximate index of the largest space: what it costs, what it gains, what it misses."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector

from benchmarks.scale import measuring
from benchmarks.scale.measuring import Asked
from benchmarks.scale.serving import Served
from memoryhub.engines.types import Embedder
from memoryhub.recall.arms import PER_ARM
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import approximate

Connection = psycopg.Connection[Any]
# With `{cast}` the index's own expression, without it the exact one.
_NEAREST = """
SELECT owner_id FROM notes_indexentry WHERE tenant_id = %(tenant)s AND space_id = '{space}'
  AND kind = %(kind)s AND model = '{model}' AND embedding IS NOT NULL
ORDER BY embedding{cast} <#> %(vector)s::halfvec{size} LIMIT %(most)s
"""


def measured(
    app: Connection,
    served: Served,
    embedder: Embedder,
    place: Mapping[str, Any],
    asked: Asked,
) -> dict[str, Any]:
    """Recall of the candidates' vectors against exact search, by kind of question; then search
    over HTTP with the index. It is dropped at the end."""
    with tenant_scope(place["tenant"]):
        space = Space.objects.get(id=place["space"])
    begun = time.monotonic()
    count = approximate.build(space)
    seconds = time.monotonic() - begun
    try:
        size = sum(each.size for each in approximate.listed() if each.space == space.id)
        found = _recall(app, embedder, place, asked.alone)
        searched = measuring.searched(served, space.subject, asked)
    finally:
        approximate.drop(space)
    return {
        "vectors": count,
        "build_seconds": round(seconds, 1),
        "megabytes": round(size / 1e6),
        **found,
        "searched": searched,
    }


def _recall(
    app: Connection,
    embedder: Embedder,
    place: Mapping[str, Any],
    asked: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    vectors = embedder.embed([query for _, query in asked])
    shares: dict[str, list[float]] = {kind: [] for kind in measuring.KINDS}
    times: dict[str, list[float]] = {"exact": [], "approximate": []}
    for (kind, _), vector in zip(asked, vectors, strict=True):
        exact = _nearest(app, embedder, place, vector, times["exact"], near=False)
        near = _nearest(app, embedder, place, vector, times["approximate"], near=True)
        shares[kind].append(len(exact & near) / max(1, len(exact)))
    return {
        "recall": {kind: round(float(np.mean(each)), 3) for kind, each in shares.items()},
        "statements": {name: asdict(measuring.spent(each)) for name, each in times.items()},
    }


def _nearest(
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
    statement = _NEAREST.format(space=place["space"], model=embedder.name, cast=cast, size=cast[9:])
    values = {"tenant": place["tenant"], "vector": HalfVector(vector).to_text(), "most": PER_ARM}
    found: set[Any] = set()
    with app.transaction():
        app.execute("SELECT set_config('memoryhub.tenant', %s, true)", [str(place["tenant"])])
        app.execute(*approximate.statement())
        start = time.perf_counter()
        for kind in ("turn", "fact", "note"):
            rows = app.execute(statement, {**values, "kind": kind}).fetchall()
            found |= {owner for (owner,) in rows}
        times.append((time.perf_counter() - start) * 1000)
    return found
