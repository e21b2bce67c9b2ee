"""The embedding map of a space: its memories in two dimensions, drawn in the background.

A job of the space's own queue in its last lane, so that dialogue comes first. It reads the vectors,
lays them out with nothing open, telling how far it is, and writes places: ids and numbers, no
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.utils.translation import gettext

from memoryhub.engines.projection import ROUNDS, STATE_ROUNDS, project_to_plane
from memoryhub.errors import Conflict
from memoryhub.pipeline.embeddings.evolution_map import (
    EvolvedNotes,
    draw_evolution_map,
    load_evolved_notes,
)
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane, SpaceMap
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import IndexEntry

MAX_MEMORIES = 5000  # memories on a map, the newest
MAPPED_KINDS = ("fact", "note", "segment", "episode")
DECIMAL_PLACES = 4  # of a coordinate between -1 and 1
ALL_ROUNDS = ROUNDS + STATE_ROUNDS  # of the map, and of the notes without and with evolution


def begin_map(space: Space, actor: str, now: datetime) -> SpaceMap:
    """Plan it, or plan it anew; the caller rings. Inside the tenant's scope. Raises Conflict while
    it is under way."""
    row: SpaceMap
    row, made = SpaceMap.objects.select_for_update().get_or_create(
        space=space, defaults={"tenant_id": space.tenant_id, "asked_at": now, "total": ALL_ROUNDS}
    )
    if not made and is_under_way(row):
        raise Conflict(gettext("the map is being drawn already"), code="map_under_way")
    row.actor, row.asked_at, row.done, row.total = actor[:120], now, 0, ALL_ROUNDS
    row.save(update_fields=["actor", "asked_at", "done", "total"])
    key = f"{row.id}:{now.isoformat()}"
    queue.plan_step(space, Job.Step.MAP, key, now, payload={"map": str(row.id)})
    return row


def find_map_job(row: SpaceMap) -> Job | None:
    """The last one that was to draw it."""
    jobs = Job.objects.filter(space_id=row.space_id, step=Job.Step.MAP)
    found: Job | None = jobs.order_by("-created_at", "-id").first()
    return found


def is_under_way(row: SpaceMap) -> bool:
    job = find_map_job(row)
    return job is not None and job.state in Job.UNFINISHED_STATES


@dataclass(frozen=True, slots=True)
class MappedVectors:
    space: Space
    entries: list[Any]
    evolved: EvolvedNotes
    mark: str


class MapStep(Step[MappedVectors, tuple[Any, dict[str, Any]]]):
    """Draw the map, telling meanwhile how far it is."""

    name = Job.Step.MAP
    lane = Lane.TIDYING

    def read(self) -> MappedVectors:
        space = Space.objects.get(id=self.job.space_id)
        entries = list(_query_entries(space)[:MAX_MEMORIES])
        return MappedVectors(space, entries, load_evolved_notes(space), compute_mark(space))

    def ask(self, work: MappedVectors) -> tuple[Any, dict[str, Any]]:
        """Places, in the order of the entries, and the map of the notes that evolved."""
        count = len(work.entries)
        vectors = np.array([embedding for *_, embedding in work.entries], np.float32)
        places = project_to_plane(vectors.reshape(count, -1 if count else 0), self._report_progress)
        return places, draw_evolution_map(
            work.evolved, lambda done: self._report_progress(ROUNDS + done)
        )

    def _report_progress(self, done: int) -> None:
        """Raises LeaseLost when the job is another worker's by now."""
        with tenant_scope(self.job.tenant_id):
            queue.lock_job(self.job)
            SpaceMap.objects.filter(id=self.job.payload["map"]).update(done=done)

    def write(self, work: MappedVectors, answer: tuple[Any, dict[str, Any]]) -> JobResult:
        places, evolution = answer
        points = [
            [kind, str(owner), *(round(float(part), DECIMAL_PLACES) for part in place)]
            for (kind, owner, _), place in zip(work.entries, places, strict=True)
        ]
        _write_points(self.job, work, points, evolution, self.now)
        return {"drawn": len(points)}


def _query_entries(space: Space) -> Any:
    """(kind, id, vector) of what is searched by its vector, the newest first."""
    rows = IndexEntry.objects.filter(space=space, model=space.embedding_model, chunk=0)
    rows = rows.filter(kind__in=MAPPED_KINDS).exclude(embedding=None)
    return rows.order_by("-id").values_list("kind", "owner_id", "embedding")


def _write_points(
    job: Job, work: MappedVectors, points: list[Any], evolution: dict[str, Any], now: datetime
) -> None:
    """Nothing where an erasure has meanwhile taken memories away: they would be back."""
    space = work.space
    held = SpaceMap.objects.select_for_update().filter(id=job.payload["map"])
    held.first()  # from here on an erasure waits, or what it took is seen to be gone
    if compute_mark(space) != work.mark:
        rows = IndexEntry.objects.filter(space=space, kind__in=MAPPED_KINDS, chunk=0)
        there = {str(owner) for owner in rows.values_list("owner_id", flat=True)}
        points = [point for point in points if point[1] in there]
        evolution = _keep_notes(evolution, lambda note: note in there)
    held.update(
        points=points,
        evolution=evolution,
        mark=work.mark,
        embedder=space.embedding_model,
        drawn_at=now,
        done=ALL_ROUNDS,
    )


def _keep_notes(evolution: dict[str, Any], wanted: Callable[[str], bool]) -> dict[str, Any]:
    kept = [point for point in evolution.get("notes", ()) if wanted(point[0])]
    return evolution | {"notes": kept} if evolution else {}


def compute_mark(space: Space) -> str:
    """Another one when memories with vectors came, went or were put differently."""
    rows = _query_entries(space)
    last = rows.values_list("id", flat=True).first()
    return f"{space.embedding_model} {rows.count()} {last}"[:200]


def remove_erased_points(space: Space, gone: Iterable[UUID]) -> None:
    """Of an erasure: not even the ids of what is gone stay. Call inside its transaction."""
    row = SpaceMap.objects.select_for_update().filter(space=space).first()
    if row is not None:
        erased = {str(each) for each in gone}
        row.points = [point for point in row.points if point[1] not in erased]
        row.evolution = _keep_notes(row.evolution, lambda note: note not in erased)
        row.save(update_fields=["points", "evolution"])
