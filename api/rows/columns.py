"""What a kind of row shows: names of the API, columns of the database, and what each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from api.rows.filters import FieldKind
from memoryhub.tenants.models import Space

_SCHEMA_BY_KIND: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "format": "uuid"},
    "text": {"type": "string"},
    "number": {"type": "number"},
    "time": {"type": "string", "format": "date-time"},
    "day": {"type": "string", "format": "date"},
    "flag": {"type": "boolean"},
    "list": {"type": "array", "items": {}},
    "object": {},
}


@dataclass(frozen=True, slots=True)
class Column:
    """`path`: the lookup in the database, where it is not the name. `empty`: shown for NULL."""

    kind: FieldKind
    path: str = ""
    null_value: Any = None

    def build_schema(self, *, nullable: bool) -> dict[str, Any]:
        """As JSON Schema."""
        given = _SCHEMA_BY_KIND[self.kind]
        if not nullable or "type" not in given:
            return given
        return given | {"type": [given["type"], "null"]}


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of row. `order`: names of columns that are never NULL, the last of them unique.

    `held`: which rows a list shows unless `?status=all`. `version`: the column an ETag and
    `If-Match` go by, if rows are written. `more`: what a single row shows besides its columns;
    called inside the tenant's scope with the space, the id and what is shown already.
    """

    name: str
    about: str
    model: type[Model]
    columns: Mapping[str, Column]
    order: tuple[str, ...]
    current_condition: Callable[[datetime], Q] | None = None
    version: str = ""
    load_details: Callable[[Space, UUID, dict[str, Any]], dict[str, Any]] | None = None
    build_annotations: Callable[[], dict[str, Any]] | None = None
    example: Mapping[str, Any] = field(default_factory=dict)

    def select_space_rows(self, space: Space) -> QuerySet[Any]:
        """The rows of a space."""
        return self.select_rows().filter(space=space)

    def select_rows(self) -> QuerySet[Any]:
        found: QuerySet[Any] = self.model._default_manager.all()
        return found.annotate(**self.build_annotations()) if self.build_annotations else found

    def get_lookup_path(self, name: str) -> str:
        return self.columns[name].path or name

    def build_schema(self) -> dict[str, Any]:
        """The row as JSON Schema. No column is required: `?fields=` leaves some out."""
        shown = {name: each.build_schema(nullable=True) for name, each in self.columns.items()}
        return {"type": "object", "properties": shown}


def add_id_column(**columns: Column) -> dict[str, Column]:
    """These columns after the id."""
    return {"id": Column("id"), **columns}


ID, TEXT, NUMBER, TIME = Column("id"), Column("text"), Column("number"), Column("time")
DAY, FLAG, LIST, OBJECT = Column("day"), Column("flag"), Column("list"), Column("object")
# What every derived row tells of itself.
DERIVED_COLUMNS = {"version": NUMBER, "engine": TEXT, "corrected_by": TEXT, "retired_at": TIME}
RETAINED_COLUMNS = {
    "strength": NUMBER,
    "recall_count": NUMBER,
    "last_recall_at": TIME,
    "visibility": TEXT,
    "pinned": FLAG,
}


def build_unretired_condition(now: datetime) -> Q:
    """Those that are held; for `Resource.held`."""
    return Q(retired_at=None)
