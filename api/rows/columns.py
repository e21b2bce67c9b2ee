"""What a kind of row shows: names of the API, columns of the database, and what each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Field, Model, Q, QuerySet

from api.rows.filters import FieldKind
from memoryhub.tenants.models import Space
from notes.models.fields import MemoryFields


@dataclass(frozen=True, slots=True)
class Column:
    """`path`: the lookup in the database, where it is not the name. `null_value`: shown for NULL.

    `help`: what the API's description says of it. `type`: of what it shows, where the field of
    the database does not tell.
    """

    kind: FieldKind
    path: str = ""
    null_value: Any = None
    help: str = ""
    type: Any = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of row. `order`: names of columns that are never NULL, the last of them unique.

    `current_condition`: which rows a list shows unless `?status=all`. `version`: the column an
    ETag and `If-Match` go by, if rows are written. `load_details`: what a single row shows besides
    its columns; called inside the tenant's scope with the space, the id and what is shown already.
    What it returns by its annotation is described with the row; `details` where another does it.
    `component`: what OpenAPI calls a row, where it is not the name.
    """

    name: str
    about: str
    model: type[Model]
    columns: Mapping[str, Column]
    order: tuple[str, ...]
    current_condition: Callable[[datetime], Q] | None = None
    version: str = ""
    load_details: Callable[[Space, UUID, dict[str, Any]], Mapping[str, Any]] | None = None
    build_annotations: Callable[[], dict[str, Any]] | None = None
    details: Any = None
    component: str = ""

    def select_space_rows(self, space: Space) -> QuerySet[Any]:
        """The rows of a space."""
        return self.select_rows().filter(space=space)

    def select_rows(self) -> QuerySet[Any]:
        found: QuerySet[Any] = self.model._default_manager.all()
        return found.annotate(**self.build_annotations()) if self.build_annotations else found

    def get_lookup_path(self, name: str) -> str:
        return self.columns[name].path or name


def add_id_column(**columns: Column) -> dict[str, Column]:
    """These columns after the id."""
    return {"id": Column("id"), **columns}


ID, TEXT, NUMBER, TIME = Column("id"), Column("text"), Column("number"), Column("time")
DAY, FLAG, LIST, OBJECT = Column("day"), Column("flag"), Column("list"), Column("object")
_KIND_BY_FIELD: tuple[tuple[type[Field[Any, Any]], FieldKind], ...] = (
    (models.UUIDField, "id"),
    (models.ForeignKey, "id"),
    (models.BooleanField, "flag"),
    (models.IntegerField, "number"),
    (models.FloatField, "number"),
    (models.DateTimeField, "time"),
    (models.DateField, "day"),
    (ArrayField, "list"),
    (models.JSONField, "object"),
)


def build_columns(model: type[Model]) -> dict[str, Column]:
    """The columns that a model of memories declares for the API, by their names there."""
    declared: MemoryFields = model.memory_fields  # type: ignore[attr-defined]  # of every kind: a test
    held = {field.attname: field for field in model._meta.concrete_fields}
    return {
        each.api or column: Column(
            _find_kind(held[column]), column if each.api else "", help=each.help
        )
        for column, each in declared.items()
        if each.api is not None
    }


def _find_kind(field: Field[Any, Any]) -> FieldKind:
    return next((kind for of, kind in _KIND_BY_FIELD if isinstance(field, of)), "text")


def build_unretired_condition(now: datetime) -> Q:
    """Those that are held; for `Resource.current_condition`."""
    return Q(retired_at=None)
