"""Lists: a page of rows with the total, and filters that live in the address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet

PAGE_SIZE = 25
M = TypeVar("M", bound=Model)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Rows `first` to `last` (from 1) of `total`."""

    rows: list[T]
    number: int
    total: int
    size: int = PAGE_SIZE

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def first(self) -> int:
        return (self.number - 1) * self.size + 1 if self.rows else 0

    @property
    def last(self) -> int:
        return (self.number - 1) * self.size + len(self.rows)

    @property
    def pages(self) -> int:
        return max(1, ceil(self.total / self.size))

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None

    def map(self, change: Callable[[T], Any]) -> Page[Any]:
        return Page([change(row) for row in self.rows], self.number, self.total, self.size)

    def holding(self, rows: list[Any]) -> Page[Any]:
        """The same page of the same list, showing these rows."""
        return Page(rows, self.number, self.total, self.size)


def page_of(rows: QuerySet[M], number: int, size: int = PAGE_SIZE) -> Page[M]:
    """Two statements. A number past the end is the last page."""
    total = rows.count()
    number = min(max(1, number), max(1, ceil(total / size)))
    return Page(list(rows[(number - 1) * size : number * size]), number, total, size)


@dataclass(frozen=True, slots=True)
class Choice:
    """One filter with its options, (value, label); the first is the default."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]

    def read(self, query: Mapping[str, str]) -> str:
        given = query.get(self.name, "")
        values = [value for value, _ in self.options]
        return given if given in values else values[0]


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for. Unknown values fall back to the default."""

    q: str
    page: int
    values: dict[str, str] = field(default_factory=dict)
    choices: Sequence[Choice] = ()

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def narrowed(self) -> bool:
        """Whether anything but the default is asked for."""
        return bool(self.q) or any(
            self.values[choice.name] != choice.options[0][0] for choice in self.choices
        )

    @property
    def controls(self) -> list[tuple[Choice, str]]:
        return [(choice, self.values[choice.name]) for choice in self.choices]


def read_filters(query: Mapping[str, str], choices: Iterable[Choice] = ()) -> Filters:
    chosen = tuple(choices)
    text = query.get("q", "").replace("\0", "").strip()[:200]
    number = query.get("page", "")
    page = int(number) if number.isdecimal() and len(number) < 8 else 1
    return Filters(text, page, {choice.name: choice.read(query) for choice in chosen}, chosen)


def containing(text: str, *fields: str) -> Q:
    """Every word of `text` in one of the fields, in any order."""
    found = Q()
    for word in text.split():
        anywhere = Q()
        for name in fields:
            anywhere |= Q(**{f"{name}__icontains": word})
        found &= anywhere
    return found
