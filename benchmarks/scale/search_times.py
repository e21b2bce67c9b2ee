"""How long searches take: over HTTP, alone and four at once, and the bare statement beside them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import psycopg
from pgvector import HalfVector

from benchmarks.scale import processor_time
from benchmarks.scale.language import Language
from benchmarks.scale.server import HubClient, ServedHub
from memoryhub.engines.types import Embedder

# How often each kind of question is asked, of ten.
KIND_SHARES = {"topic": 4, "off": 2, "rare": 2, "frequent": 2}
# So many other questions come first, that nobody counts: a space that is in use is in memory.
WARM_UP, PARALLEL = 50, 4
STAGES = ("route", "embed", "candidates", "rank", "hydrate", "judge")


Percentiles = dict[str, float]


def compute_percentiles(times: Sequence[float]) -> Percentiles:
    """Milliseconds, and of how many times."""
    p50, p95, p99 = np.percentile(times, [50, 95, 99]).round(2).tolist()
    return {"p50": p50, "p95": p95, "p99": p99, "of": len(times)}


def draw_questions(language: Language, said: Sequence[str], count: int) -> list[tuple[str, str]]:
    """(kind, question), the kinds in turn; `said`: some of what was said in the space."""
    kinds = [kind for kind, often in KIND_SHARES.items() for _ in range(often)]
    return [
        (kind, language.draw_question(kind, said))
        for kind in (kinds[at % len(kinds)] for at in range(count))
    ]


class QuestionSet(NamedTuple):
    """Questions with their kinds: to warm up, one after the other, and four at once. None comes
    twice: a hub remembers a question's vector."""

    first: list[tuple[str, str]]
    alone: list[tuple[str, str]]
    together: list[tuple[str, str]]


def draw_question_set(language: Language, said: Sequence[str], count: int) -> QuestionSet:
    """`count` to be asked alone, and as many together."""
    return QuestionSet(*(draw_questions(language, said, many) for many in (WARM_UP, count, count)))


def measure_searches(served: ServedHub, subject: str, asked: QuestionSet) -> dict[str, Any]:
    """Alone, four at once, by kind of question, and by stage; and the processor time of one."""
    first, single, together = ([{"subject": subject, "query": q} for _, q in a] for a in asked)
    client = HubClient(served.port)
    for body in first:
        client.post("search", body)
    before = processor_time.measure_milliseconds(served.processes)
    alone = [client.post("search", body) for body in single]
    after = processor_time.measure_milliseconds(served.processes)
    times = [answer.milliseconds for answer in alone]
    used = None if before is None or after is None else (after - before) / len(single)
    kinds = [kind for kind, _ in asked.alone]
    return {
        "processor": used,
        "answered": sum(bool(answer.body["items"]) for answer in alone),
        "alone": compute_percentiles(times),
        "parallel": compute_percentiles(_search_in_parallel(served.port, together)),
        "kinds": {
            kind: compute_percentiles([t for t, k in zip(times, kinds, strict=True) if k == kind])
            for kind in KIND_SHARES
        },
        "stages": {
            stage: compute_percentiles([a.body["took_ms"].get(stage, 0.0) for a in alone])
            for stage in STAGES
        },
    }


def _search_in_parallel(port: int, bodies: Sequence[dict[str, Any]]) -> list[float]:
    """Each of the clients asks its share, one question after the other."""

    def ask(mine: Sequence[dict[str, Any]]) -> list[float]:
        client = HubClient(port)
        return [client.post("search", body).milliseconds for body in mine]

    with ThreadPoolExecutor(PARALLEL) as clients:
        shares = clients.map(ask, [bodies[at::PARALLEL] for at in range(PARALLEL)])
    return [took for share in shares for took in share]


_NEAREST_QUERY = """
SELECT owner_id FROM notes_indexentry
WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND kind = %(kind)s AND model = %(model)s
ORDER BY embedding <#> %(vector)s::halfvec LIMIT 10
"""


def measure_bare_statement(
    connection: psycopg.Connection[Any],
    embedder: Embedder,
    place: Mapping[str, Any],
    asked: QuestionSet,
) -> Percentiles:
    """The ten nearest of each kind by vectors alone, in the tenant's scope, nothing around it."""
    tenant = place["tenant"]
    values = {"tenant": tenant, "space": place["space"], "model": embedder.name}
    times = []
    for row in embedder.embed([query for _, query in [*asked.first, *asked.alone]]):
        vector = HalfVector(row).to_text()
        start = time.perf_counter()
        with connection.transaction():
            connection.execute("SELECT set_config('memoryhub.tenant', %s, true)", [str(tenant)])
            for kind in ("turn", "fact", "note"):
                asking = values | {"kind": kind, "vector": vector}
                connection.execute(_NEAREST_QUERY, asking).fetchall()
        times.append((time.perf_counter() - start) * 1000)
    return compute_percentiles(times[WARM_UP:])
