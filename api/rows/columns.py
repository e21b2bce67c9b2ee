"""What a kind of row shows: names of the API, columns of the database, and what each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Field, Model, Q, QuerySet

from api.core.authentication import filter_reached
from api.rows.filters import FieldKind
from memoryhub.errors import NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
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
    its columns, by its id; called inside the tenant's scope. What it returns by its annotation is
    described with the row; `details` where another does it. `select_in_space`: the rows of a space
    where they are not those that have it. `space_path`: whose a row is; "" of no single subject's.
    `component`: what OpenAPI calls a row, where it is not the name.
    """

    name: str
    about: str
    model: type[Model]
    columns: Mapping[str, Column]
    order: tuple[str, ...]
    current_condition: Callable[[datetime], Q] | None = None
    version: str = ""
    load_details: Callable[[UUID], Mapping[str, Any]] | None = None
    build_annotations: Callable[[], dict[str, Any]] | None = None
    details: Any = None
    select_in_space: Callable[[Space], QuerySet[Any]] | None = None
    space_path: str = "space_id"
    component: str = ""

    def select_space_rows(self, space: Space) -> QuerySet[Any]:
        if self.select_in_space:
            return self.select_in_space(space)
        return self.select_rows().filter(space=space)

    def select_visible_rows(self, key: KeyRow) -> QuerySet[Any]:
        """The tenant's rows, as far as the key may see them."""
        rows = self.select_rows()
        if key.space_id and not self.space_path:
            return rows.none()
        return filter_reached(rows, key, self.space_path)

    def get_visible_row(self, key: KeyRow, row_id: UUID) -> Any:
        """Opens the tenant's scope. Raises NotFound."""
        with tenant_scope(key.tenant_id):
            found = self.select_visible_rows(key).filter(id=row_id).first()
        if found is None:
            raise NotFound(f"There is no such {self.name}.")
        return found

    def select_rows(self) -> QuerySet[Any]:
        found: QuerySet[Any] = self.model._default_manager.all()
        return found.annotate(**self.build_annotations()) if self.build_annotations else found

    def get_lookup_path(self, name: str) -> str:
        return self.columns[name].path or name


_KIND_BY_FIELD: tuple[tuple[type[Field[Any, Any]], FieldKind], ...] = (
    (models.UUIDField, "id"),
    (models.ForeignKey, "id"),
    (models.BooleanField, "flag"),
    (models.IntegerField, "number"),
    (models.FloatField, "number"),
    (models.DecimalField, "number"),
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


def pick_columns(model: type[Model], names: str) -> dict[str, Column]:
    """Columns of a model by their names, with spaces: `id actor subject=space__subject`, the last
    one called otherwise than in the database."""
    picked = {}
    for each in names.split():
        name, _, path = each.partition("=")
        field, _ = find_field(model, path or name)
        picked[name] = Column(_find_kind(field), path)
    return picked


def find_field(model: Any, path: str) -> tuple[Any, bool]:
    """(the field of the database that a lookup ends at, whether it may be NULL): of what is no
    field, as an annotation, (None, True)."""
    nullable, field = False, None
    for part in path.split("__"):
        if isinstance(field, models.JSONField):
            return None, True
        try:
            field = model._meta.get_field(part)
        except FieldDoesNotExist:
            return None, True
        nullable = nullable or field.null
        model = field.related_model
    return field, nullable


def _find_kind(field: Any) -> FieldKind:
    return next((kind for of, kind in _KIND_BY_FIELD if isinstance(field, of)), "text")


def build_unretired_condition(now: datetime) -> Q:
    """Those that are held; for `Resource.current_condition`."""
    return Q(retired_at=None)
