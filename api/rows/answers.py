"""The types of what is answered: a row by its columns, a page of rows, and what writes answer.

From them the OpenAPI description takes its named components (`api.schema.components`).
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NotRequired, get_type_hints
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from typing_extensions import TypedDict

from api.rows.columns import Column, Resource, find_field

_make_typed_dict: Any = TypedDict  # its members are known at run time only
_TYPES_BY_KIND: dict[str, Any] = {
    "id": UUID,
    "text": str,
    "number": float,
    "time": datetime,
    "day": date,
    "flag": bool,
    "list": list[Any],
    "object": Any,
}
_ROW_TYPES: dict[str, Any] = {}


def define_answer(name: str, about: str = "", /, **members: Any) -> Any:
    """An object with these members, as a component of this name. A resource stands for its row."""
    made = _make_typed_dict(name, {key: _to_type(each) for key, each in members.items()})
    made.__doc__ = about
    return made


def _to_type(member: Any) -> Any:
    return build_row_type(member) if isinstance(member, Resource) else member


def build_row_type(resource: Resource) -> Any:
    """A row. No column is required: `?fields=` leaves some out, and lists leave out the details."""
    name = resource.component or resource.name.title().replace(" ", "")
    if name not in _ROW_TYPES:
        columns = {key: _build_column_type(resource, key) for key in resource.columns}
        loaded = resource.load_details and get_type_hints(resource.load_details)["return"]
        more = get_type_hints(resource.details or loaded or object)
        _ROW_TYPES[name] = _make_typed_dict(name, columns | more, total=False)
        _ROW_TYPES[name].__doc__ = resource.about
    return _ROW_TYPES[name]


def extend_answer(base: Any, name: str, about: str = "", /, **members: Any) -> Any:
    """What `base` has, a dataclass, another answer or a resource's row, and more beside it."""
    base = _to_type(base)
    shared = get_type_hints(base, include_extras=True)
    sparse = getattr(base, "__total__", True) is False
    inherited = {key: NotRequired[kind] if sparse else kind for key, kind in shared.items()}
    return define_answer(name, about or base.__doc__, **inherited, **members)


def build_page_type(resource: Resource) -> Any:
    row: Any = build_row_type(resource)
    about = f"One page of a list. {resource.about}"
    members = {"items": list[row], "total": int, "next": str | None}
    return define_answer(f"{row.__name__}Page", about, **members)


def build_bare_page_type(row: Any, following: Any = str | None) -> Any:
    """A page of what is no resource's row. `following`: the type of the next one's cursor."""
    return define_answer(f"{row.__name__}Page", items=list[row], total=int, next=following)


def build_written_type(resource: Resource) -> Any:
    """A row after a write, under its name, and the event by which it is taken back."""
    row = build_row_type(resource)
    about = "The row as it is now, and the event that changed it."
    members = {"event_id": UUID | None, get_answer_key(resource): row}
    return define_answer(f"Written{row.__name__}", about, **members)


def build_named_type(resource: Resource) -> Any:
    """A row under its name, where the history of memories knows nothing of the write."""
    row = build_row_type(resource)
    about = "The row as it is now."
    return define_answer(f"Saved{row.__name__}", about, **{get_answer_key(resource): row})


def get_answer_key(resource: Resource) -> str:
    """Under which a write answers with the row."""
    return resource.name.replace(" ", "_")


def _build_column_type(resource: Resource, name: str) -> Any:
    column = resource.columns[name]
    field, nullable = find_field(resource.model, resource.get_lookup_path(name))
    kind = column.type or _infer_type(column, field)
    return kind | None if nullable and column.null_value is None and kind is not Any else kind


def _infer_type(column: Column, field: Any) -> Any:
    if isinstance(field, models.IntegerField):
        return int
    if isinstance(field, ArrayField):
        return list[UUID] if isinstance(field.base_field, models.UUIDField) else list[str]
    if isinstance(field, models.JSONField) and column.kind == "object":
        return {dict: dict[str, Any], list: list[Any]}.get(field.default, Any)
    if column.kind == "text" and getattr(field, "choices", None):
        values = [*([""] if field.blank else []), *(value for value, _ in field.flatchoices)]
        return Literal.__getitem__(tuple(dict.fromkeys(values)))
    return _TYPES_BY_KIND[column.kind]
