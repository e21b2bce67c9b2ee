"""Dataclasses as JSON has them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

# Most of what an answer holds is none of what is looked for below: told by its type, at once.
_LEAVES = frozenset({str, int, float, bool, type(None), UUID, datetime})


def plain(value: Any, left_out: Collection[str] = ()) -> Any:
    """As `dataclasses.asdict`, but without a copy of what holds no dataclass, which takes longer
    than a search; and without the fields `left_out`, at any depth."""
    if type(value) in _LEAVES:
        return value
    if isinstance(value, Mapping):
        return {name: plain(each, left_out) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, left_out) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = _names(type(value))
    return {name: plain(getattr(value, name), left_out) for name in names if name not in left_out}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
