"""What recall found, as JSON has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from api.schema.components import EXPLAINED_FIELDS

# Most of what an answer holds is none of what is looked for below: told by its type, at once.
_LEAF_TYPES = frozenset({str, int, float, bool, type(None), UUID, datetime})


def to_plain_values(value: Any, left_out: Collection[str] = ()) -> Any:
    """As `dataclasses.asdict`, but without a copy of what holds no dataclass, which takes longer
    than a search; and without the fields `left_out`, at any depth."""
    if type(value) in _LEAF_TYPES:
        return value
    if isinstance(value, Mapping):
        return {name: to_plain_values(each, left_out) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_values(each, left_out) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = _list_field_names(type(value))
    return {
        name: to_plain_values(getattr(value, name), left_out)
        for name in names
        if name not in left_out
    }


@cache
def _list_field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def render_recall(answer: Any) -> dict[str, Any]:
    """A search's or a context's answer. By what a memory was found is told with the explanation."""
    shown: dict[str, Any] = to_plain_values(
        answer, EXPLAINED_FIELDS if answer.explain is None else ()
    )
    return shown
