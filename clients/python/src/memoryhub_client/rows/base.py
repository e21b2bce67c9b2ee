"""What the hub answers with, as objects whose attributes have the API's names.

A row has the attributes that were sent: with `fields=` only those that were asked for, and the
others raise AttributeError. What a newer hub sends besides is in `raw`.
"""

from __future__ import annotations

import reprlib
import types
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, Self, TypeVar, Union, get_args, get_origin, get_type_hints

_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxlist, _SHORT.maxother = 120, 3, 200
_EMPTY: tuple[Any, ...] = ("", [], {})


class Row:
    """Base of everything read from an answer. `raw` is the JSON as it came."""

    raw: Mapping[str, Any]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        row = cls.__new__(cls)
        row.raw = told
        for name, kind in _list_attribute_types(cls).items():
            if name in told:
                setattr(row, name, _parse_value(kind, told[name]))
        return row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and type(self) is type(other) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]  # rows are compared by what they hold

    def __repr__(self) -> str:
        """What it holds, long texts and lists cut; what is empty is left out."""
        shown = {name: value for name, value in vars(self).items() if name != "raw"}
        told = [f"{n}={_SHORT.repr(value)}" for n, value in shown.items() if value not in _EMPTY]
        return f"{type(self).__name__}({', '.join(told)})"


class JobRow(Row):
    """What jobs have besides."""

    state: Any

    @property
    def ended(self) -> bool:
        return self.state in ("done", "dead", "cancelled", "gone")


R = TypeVar("R", bound=Row)


class Page(Generic[R]):
    """One page of a list: its rows, how many there are in all, and where the next one begins."""

    def __init__(self, items: list[R], total: int | None, next_cursor: str | None) -> None:
        self.items = items
        self.total = total
        self.next_cursor = next_cursor

    def __repr__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        more = f", next_cursor={self.next_cursor!r}" if self.next_cursor else ""
        return f"<Page with {len(self.items)}{of} rows{more}: {_SHORT.repr(self.items)}>"


class Written(Generic[R]):
    """A row after a write, and the event by which `events.undo` takes it back.

    `replayed`: it had been done before, with the same Idempotency-Key.
    """

    def __init__(self, row: R, event_id: str | None, *, replayed: bool) -> None:
        self.row = row
        self.event_id = event_id
        self.replayed = replayed

    def __repr__(self) -> str:
        again = ", replayed=True" if self.replayed else ""
        return f"Written({self.row!r}, event_id={self.event_id!r}{again})"


_TYPES_BY_ROW: dict[Any, dict[str, Any]] = {}


def _list_attribute_types(row: Any) -> dict[str, Any]:
    """Attributes of a class of rows with their types, looked up once."""
    if row not in _TYPES_BY_ROW:
        hints = get_type_hints(row)
        _TYPES_BY_ROW[row] = {name: kind for name, kind in hints.items() if name != "raw"}
    return _TYPES_BY_ROW[row]


def _parse_value(kind: Any, told: Any) -> Any:
    """`told` as the annotation says; what is not a row, a time or a list of them stays JSON."""
    if told is None:
        return None
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _parse_value(next(each for each in get_args(kind) if each is not type(None)), told)
    if origin is list:
        return [_parse_value(get_args(kind)[0], each) for each in told]
    if origin is dict:
        return {name: _parse_value(get_args(kind)[1], each) for name, each in told.items()}
    if isinstance(kind, type) and issubclass(kind, Row):
        return kind.read(told)
    if kind is datetime:
        return datetime.fromisoformat(told)
    return told
