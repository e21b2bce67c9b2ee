"""From one embedder to another: vectors of both side by side, then one cutover a space (E17).

While the new one's are made, searches go on with the old one's alone, and find what they found.
When every memory has its new vectors, the space's `embedding_model` changes, in the transaction
that wrote the last of them. The old vectors go a little later: a search may be under way.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from django.db import connection

from memoryhub.engines.types import Embedder
from memoryhub.errors import EngineError
from memoryhub.models_in_use import embedder
from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.remaking import entries_of
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import IndexEntry

log = structlog.get_logger()
BATCH = 200  # memories a job
# How long a search may be under way with the old model's vectors.
AFTERWARDS = timedelta(minutes=1)
_FIRST = ("", UUID(int=0))
Place = tuple[str, UUID]


def start(space: Space, now: datetime) -> Job | None:
    """Plan the way to the embedder in use, unless the space is there or on its way.

    Call inside the tenant's scope. Raises EngineError when there is no embedder.
    """
    model = embedder().name
    if space.embedding_model in ("", model) or _under_way(space):
        return None
    return _plan(space, {"to": model, "began": now.isoformat()}, now)


def sweep(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Of a sweep: spaces where nobody says anything any more change over as well."""
    try:
        with tenant_scope(space.tenant_id):
            start(space, now)
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
    return None


def force(space: Space, now: datetime) -> Job | None:
    """Search by the embedder in use at once: what it has not seen yet is found by its words.

    Call inside the tenant's scope. What is missing is made afterwards.
    """
    old, model = space.embedding_model, embedder().name
    if old in ("", model):
        return None
    _cut_over(space, model)
    return _plan(space, {"to": model, "began": now.isoformat(), "left": old}, now)


def _under_way(space: Space) -> bool:
    jobs = Job.objects.filter(space=space, step=Job.Step.EMBED, state__in=queue.UNFINISHED)
    return bool(jobs.filter(payload__has_key="to").exists())


def _plan(space: Space, payload: dict[str, str], due: datetime) -> Job:
    """`payload`: `to` and `began`; `kind` and `after`, the last memory done; `drop`: instead,
    whose vectors to remove."""
    place = payload.get("after", "") or payload.get("drop", "")
    key = f"{payload['to']}:{payload['began']}:{place}"[-100:]
    return queue.enqueue_step(space, Job.Step.EMBED, "D", key, due, payload=dict(payload))


def run(job: Job, now: datetime) -> None:
    """The next memories of the job's space. Raises EngineError, LeaseLost.

    When yet another embedder is in use by now, the way ends here and another one begins.
    """
    model, payload = embedder(), dict(job.payload)
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        if "drop" in payload or payload["to"] != model.name:
            queue.hold(job)
            _tidy(space, payload, model, now)
            queue.finish(job, {"embedded": 0}, now)
            return
        last, entries = _next(space, payload)
    vectors = indexing.embed_entries(entries, model) if entries else None
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        space = Space.objects.select_for_update().get(id=job.space_id)
        indexing.write_entries(space, model.name, entries, vectors, beside=True)
        queue.finish(job, {"embedded": len(entries)}, now)
        _go_on(space, payload, last, now)


def _tidy(space: Space, payload: dict[str, str], model: Embedder, now: datetime) -> None:
    """Remove vectors nobody searches any more; or see whether there is another way to go."""
    if "drop" in payload and payload["drop"] != space.embedding_model:
        rows = IndexEntry.objects.filter(space=space, model=payload["drop"])
        rows.delete()
    elif payload["to"] != model.name and space.embedding_model != model.name:
        _plan(space, {"to": model.name, "began": now.isoformat()}, now)


def _go_on(space: Space, payload: dict[str, str], last: Place | None, now: datetime) -> None:
    """From the last memory done, or, when there is none left, cut over."""
    if last is not None:
        _plan(space, payload | {"kind": last[0], "after": str(last[1])}, now)
        return
    old = payload.get("left") or space.embedding_model
    _cut_over(space, payload["to"])
    _plan(space, {"to": payload["to"], "began": payload["began"], "drop": old}, now + AFTERWARDS)


def _cut_over(space: Space, model: str) -> None:
    Space.objects.filter(id=space.id).update(embedding_model=model)
    space.embedding_model = model


# What has no entry of the new model, or one that waits for its vector.
_MISSING = """
SELECT DISTINCT e.kind, e.owner_id FROM notes_indexentry e
WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.model <> %(model)s
  AND (e.kind, e.owner_id) > (%(kind)s, %(after)s)
  AND NOT EXISTS (SELECT 1 FROM notes_indexentry n WHERE n.owner_id = e.owner_id
    AND n.kind = e.kind AND n.model = %(model)s AND n.embedding IS NOT NULL)
ORDER BY e.kind, e.owner_id LIMIT %(batch)s
"""


def _next(space: Space, payload: dict[str, str]) -> tuple[Place | None, list[indexing.Entry]]:
    """(the last of the next memories, None when they are the last; their entries, made anew)."""
    place = (payload["kind"], UUID(payload["after"])) if "after" in payload else _FIRST
    values: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "model": payload["to"],
        "kind": place[0],
        "after": place[1],
        "batch": BATCH,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, values)
        found = [(str(kind), owner) for kind, owner in cursor.fetchall()]
    owners: dict[str, set[UUID]] = defaultdict(set)
    for kind, owner in found:
        owners[kind].add(owner)
    last = found[-1] if len(found) == BATCH else None
    return last, entries_of(space, owners, ZoneInfo(space.timezone))
