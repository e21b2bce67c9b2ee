"""By which embedder each space is searched, and its way to another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, page_of
from memoryhub.console.queries.spaces import matching
from memoryhub.errors import EngineError
from memoryhub.models_in_use import embedder, known_embedders
from memoryhub.pipeline import queue, reembedding
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space

State = EmbeddingMigration.State
STATE = Choice(
    "state",
    _("State"),
    (
        ("all", _("Any")),
        ("open", _("Under way")),
        ("other", _("Not by the one in use")),
        *((value, label) for value, label in State.choices if value not in ("filling", "done")),
    ),
)


@dataclass(frozen=True, slots=True)
class Way:
    """A space with its last migration, if it had one."""

    space: Space
    migration: EmbeddingMigration | None


def in_use() -> tuple[str, str]:
    """(the configured embedder's name, what keeps it from being made)."""
    try:
        return embedder().name, ""
    except EngineError as error:
        return "", error.message


def choices() -> list[str]:
    try:
        return known_embedders()
    except EngineError:
        return []


def spaces(filters: Filters, used: str) -> Page[Any]:
    """Those under way first. Three statements."""
    last = EmbeddingMigration.objects.filter(space=OuterRef("pk")).values("state")[:1]
    rows: Any = matching(filters.q).exclude(embedding_model="").annotate(way=Subquery(last))
    rows = rows.filter(_wanted(filters["state"], used))
    found = page_of(rows.order_by("subject", "id"), filters.page)
    return found.holding(_with_migrations(found.rows))


def _wanted(state: str, used: str) -> Q:
    if state == "all":
        return Q()
    if state == "open":
        return Q(way__in=reembedding.OPEN)
    return ~Q(embedding_model=used) if state == "other" else Q(way=state)


def _with_migrations(rows: list[Any]) -> list[Way]:
    last: dict[UUID, EmbeddingMigration] = {}
    for each in EmbeddingMigration.objects.filter(space__in=rows):
        last.setdefault(each.space_id, each)  # the newest comes first
    return [Way(row, last.get(row.id)) for row in rows]


def counts(used: str) -> tuple[int, int]:
    """(spaces with vectors, those of them that are searched by the embedder in use)."""
    rows = Space.objects.exclude(embedding_model="")
    return rows.count(), rows.filter(embedding_model=used).count()


def space_or_404(space_id: UUID) -> Space:
    found: Space | None = Space.objects.filter(id=space_id).first()
    if found is None:
        raise Http404
    return found


def migrations(space: Space, most: int = 10) -> list[EmbeddingMigration]:
    """Newest first."""
    return list(EmbeddingMigration.objects.filter(space=space)[:most])


def comparing(migration: EmbeddingMigration) -> bool:
    """Whether a worker is to compare the two, or does so now."""
    rows = Job.objects.filter(space_id=migration.space_id, step=Job.Step.REPLAY)
    waits = rows.filter(payload__compare=str(migration.id), state__in=queue.UNFINISHED)
    return bool(waits.exists())


@dataclass(frozen=True, slots=True)
class Pace:
    """`rate`: memories a second of work; `left`: seconds of work to come. None before any."""

    done: int
    total: int
    rate: float | None
    left: float | None


def pace(migration: EmbeddingMigration) -> Pace:
    total = max(migration.total, migration.done)
    if not migration.done or not migration.seconds:
        return Pace(migration.done, total, None, None)
    rate = migration.done / migration.seconds
    return Pace(migration.done, total, rate, (total - migration.done) / rate)
