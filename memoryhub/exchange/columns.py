"""Columns of a table as JSON and back, each with what its values may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Model
from pgvector.django import HalfVectorField

from notes.models.fields import MemoryFields

ReadValue = Callable[[Any], Any]
# What people speak of may be long past; times that any zone of the world can show.
_FIRST_YEAR, _LAST_YEAR = 1000, 9000


@dataclass(frozen=True, slots=True)
class FileColumn:
    """`read` makes of a JSON value what the column holds, and raises ValueError. `names`: ids."""

    name: str
    field: Any
    read: ReadValue

    @property
    def holds_ids(self) -> bool:
        return isinstance(_get_value_field(self.field), models.UUIDField)

    def get_default(self) -> Any:
        """What it holds where a file says nothing of it. Raises ValueError where it has to."""
        if self.name == "id" or not (
            self.field.has_default() or self.field.null or self.field.blank
        ):
            raise ValueError("is missing")
        return self.field.get_default()


@cache
def list_columns(model: type[Model], *, shared: bool = False) -> tuple[FileColumn, ...]:
    """Those that belong in a file: vectors are made anew. `shared`: the table's rows are the
    tenant's, and may name a space; others say by their place in the file whose they are."""
    left_out = {"tenant_id"} if shared else {"tenant_id", "space_id"}
    declared: MemoryFields = getattr(model, "memory_fields", {})
    left_out |= {name for name, each in declared.items() if not each.is_exported}
    return tuple(
        FileColumn(field.attname, field, _build_reader(field))
        for field in model._meta.concrete_fields
        if field.attname not in left_out and not isinstance(field, HalfVectorField)
    )


def render_value(value: Any) -> Any:
    """A column's value as JSON has it; times are in UTC, to the microsecond."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list):
        return [render_value(each) for each in value]
    return value


def _get_value_field(field: Any) -> Any:
    """The field that says what single values are."""
    if field.is_relation:
        return field.target_field
    return field.base_field if isinstance(field, ArrayField) else field


def _build_reader(field: Any) -> ReadValue:
    read_one = _build_value_reader(_get_value_field(field))

    def read(value: Any) -> Any:
        if value is None and field.null:
            return None
        if value is None:
            raise ValueError("is null")
        if isinstance(field, ArrayField):
            return [read_one(each) for each in _check_type(value, list)]
        return read_one(value)

    return read


def _build_value_reader(field: Any) -> ReadValue:
    if isinstance(field, models.BooleanField):
        return lambda value: _check_type(value, bool)
    if isinstance(field, models.IntegerField):
        return _build_integer_reader(*connection.ops.integer_field_range(field.get_internal_type()))
    if isinstance(field, models.FloatField):
        return lambda value: float(value if type(value) is int else _check_type(value, float))
    if isinstance(field, models.DateTimeField):
        return _parse_moment
    if isinstance(field, models.DateField):
        return lambda value: date.fromisoformat(_check_type(value, str))
    if isinstance(field, models.UUIDField):
        return lambda value: UUID(_check_type(value, str))
    if isinstance(field, models.JSONField):
        # A JSON column holds what its default is one of, a list or an object; else either.
        is_list = field.has_default() and isinstance(field.get_default(), list)
        return lambda value: _check_type(value, list if is_list else dict)
    return _build_text_reader(field)


_TYPE_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _check_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"is not {_TYPE_NAMES.get(kind, f'a {kind.__name__}')}")
    return value


def _build_integer_reader(least: int | None, most: int | None) -> ReadValue:
    def read(value: Any) -> int:
        number: int = _check_type(value, int)
        if (least is not None and number < least) or (most is not None and number > most):
            raise ValueError(f"is not between {least:,} and {most:,}")
        return number

    return read


def _parse_moment(value: Any) -> datetime:
    at = datetime.fromisoformat(_check_type(value, str))
    if at.tzinfo is None:
        raise ValueError("has no time zone")
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise ValueError(f"is not within the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return at.astimezone(UTC)


def _build_text_reader(field: Any) -> ReadValue:
    known = {choice for choice, _ in field.flatchoices}
    longest = field.max_length

    def read(value: Any) -> str:
        text: str = _check_type(value, str)
        if longest is not None and len(text) > longest:
            raise ValueError(f"has more than {longest} characters")
        if known and text not in known:
            raise ValueError(f"is none of {', '.join(sorted(known - {''}))}")
        return text

    return read
