"""By which embedder each space is searched, and its way to another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import FilterChoice, Filters, ListPage, load_page
from memoryhub.console.pages.spaces.views import find_spaces
from memoryhub.errors import EngineError
from memoryhub.inference.selection import get_current_embedder, list_known_embedders
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space

State = EmbeddingMigration.State
MIGRATION_STATE_CHOICE = FilterChoice(
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
class SpaceMigration:
    """A space with its last migration, if it had one."""

    space: Space
    migration: EmbeddingMigration | None


def find_embedder_in_use() -> tuple[str, str]:
    """(the configured embedder's name, what keeps it from being made)."""
    try:
        return get_current_embedder().name, ""
    except EngineError as error:
        return "", error.message


def list_embedder_options() -> list[str]:
    try:
        return list_known_embedders()
    except EngineError:
        return []


def load_space_migrations(filters: Filters, used: str) -> ListPage[Any]:
    """Those under way first. Three statements."""
    last = EmbeddingMigration.objects.filter(space=OuterRef("pk")).values("state")[:1]
    rows: Any = find_spaces(filters.q).exclude(embedding_model="").annotate(way=Subquery(last))
    rows = rows.filter(_build_migration_condition(filters["state"], used))
    found = load_page(rows.order_by("subject", "id"), filters.page)
    return found.with_rows(_add_last_migrations(found.rows))


def _build_migration_condition(state: str, used: str) -> Q:
    if state == "all":
        return Q()
    if state == "open":
        return Q(way__in=EmbeddingMigration.OPEN_STATES)
    return ~Q(embedding_model=used) if state == "other" else Q(way=state)


def _add_last_migrations(rows: list[Any]) -> list[SpaceMigration]:
    last: dict[UUID, EmbeddingMigration] = {}
    for each in EmbeddingMigration.objects.filter(space__in=rows):
        last.setdefault(each.space_id, each)  # the newest comes first
    return [SpaceMigration(row, last.get(row.id)) for row in rows]


def count_embedded_spaces(used: str) -> tuple[int, int]:
    """(spaces with vectors, those of them that are searched by the embedder in use)."""
    rows = Space.objects.exclude(embedding_model="")
    return rows.count(), rows.filter(embedding_model=used).count()


def load_migrations(space: Space, most: int = 10) -> list[EmbeddingMigration]:
    """Newest first."""
    return list(EmbeddingMigration.objects.filter(space=space)[:most])


def is_comparing(migration: EmbeddingMigration) -> bool:
    """Whether a worker is to compare the two, or does so now."""
    rows = Job.objects.filter(space_id=migration.space_id, step=Job.Step.REPLAY)
    waits = rows.filter(payload__compare=str(migration.id), state__in=Job.UNFINISHED_STATES)
    return bool(waits.exists())


@dataclass(frozen=True, slots=True)
class MigrationPace:
    """`rate`: memories a second of work; `left`: seconds of work to come. None before any."""

    done: int
    total: int
    rate: float | None
    seconds_left: float | None


def compute_pace(migration: EmbeddingMigration) -> MigrationPace:
    total = max(migration.total, migration.done)
    if not migration.done or not migration.seconds:
        return MigrationPace(migration.done, total, None, None)
    rate = migration.done / migration.seconds
    return MigrationPace(migration.done, total, rate, (total - migration.done) / rate)
