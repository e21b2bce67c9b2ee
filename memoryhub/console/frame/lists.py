"""Lists: a page of rows with the total, and filters that live in the address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import reduce
from math import ceil
from operator import or_
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Model, Q, QuerySet

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PAGE_SIZE = 25
MAX_VALUES = 100
M = TypeVar("M", bound=Model)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
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

    def map(self, change: Callable[[T], Any]) -> ListPage[Any]:
        return ListPage([change(row) for row in self.rows], self.number, self.total, self.size)

    def with_rows(self, rows: list[Any]) -> ListPage[Any]:
        """The same page of the same list, showing these rows."""
        return ListPage(rows, self.number, self.total, self.size)


def load_page(rows: QuerySet[M], number: int, size: int = PAGE_SIZE) -> ListPage[M]:
    """Two statements. A number past the end is the last page."""
    total = rows.count()
    number = min(max(1, number), max(1, ceil(total / size)))
    return ListPage(list(rows[(number - 1) * size : number * size]), number, total, size)


def slice_page(rows: Sequence[T], number: int, size: int = PAGE_SIZE) -> ListPage[T]:
    """As `load_page`, of rows in hand."""
    number = min(max(1, number), max(1, ceil(len(rows) / size)))
    return ListPage(list(rows[(number - 1) * size : number * size]), number, len(rows), size)


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One filter with its options, (value, label); the first is the default. `spare`: it stands
    behind "More filters"."""

    name: str
    label: StrOrPromise
    options: Sequence[tuple[str, StrOrPromise]]
    spare: bool = False

    def read(self, query: Mapping[str, str]) -> str:
        given = query.get(self.name, "")
        values = [value for value, _ in self.options]
        return given if given in values else values[0]


@dataclass(frozen=True, slots=True)
class DayRange:
    """From the first day to the last one, both included; None: without an end."""

    label: StrOrPromise
    first: date | None = None
    last: date | None = None

    @property
    def is_set(self) -> bool:
        return bool(self.first or self.last)

    def build_condition(self, column: str, zone: ZoneInfo) -> Q:
        found = Q()
        if self.first:
            found &= Q(**{f"{column}__gte": datetime.combine(self.first, time.min, zone)})
        if self.last:
            after = datetime.combine(self.last + timedelta(days=1), time.min, zone)
            found &= Q(**{f"{column}__lt": after})
        return found


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for. Unknown values fall back to the default."""

    q: str
    page: int
    values: dict[str, str] = field(default_factory=dict)
    choices: Sequence[FilterChoice] = ()
    dates: DayRange | None = None

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def narrowed(self) -> bool:
        """Whether anything but the default is asked for."""
        return bool(self.q) or self.spare_narrowed or any(map(self._is_choice_made, self.choices))

    @property
    def spare_narrowed(self) -> bool:
        """The same of what stands behind "More filters"."""
        chosen = any(self._is_choice_made(choice) for choice in self.choices if choice.spare)
        return chosen or bool(self.dates and self.dates.is_set)

    def _is_choice_made(self, choice: FilterChoice) -> bool:
        return self.values[choice.name] != choice.options[0][0]

    @property
    def controls(self) -> list[tuple[FilterChoice, str]]:
        return [(c, self.values[c.name]) for c in self.choices if not c.spare]

    @property
    def spare_controls(self) -> list[tuple[FilterChoice, str]]:
        return [(c, self.values[c.name]) for c in self.choices if c.spare]

    def chosen_values(self, *names: str) -> dict[str, str]:
        """Columns and the values they are to have; of those that may have any, nothing."""
        found = {name: self.values.get(name, "") for name in names}
        return {name: value for name, value in found.items() if value not in ("", "all")}

    def build_days_condition(self, column: str, zone: str) -> Q:
        """Rows whose time in `column` is on the days asked for, in this zone."""
        return self.dates.build_condition(column, ZoneInfo(zone)) if self.dates else Q()


def read_filters(
    query: Mapping[str, str], choices: Iterable[FilterChoice] = (), *, dated: StrOrPromise = ""
) -> Filters:
    """`dated`: what happened on the days that rows can be narrowed to; "": they can't be."""
    chosen = tuple(choices)
    text = query.get("q", "").replace("\0", "").strip()[:200]
    number = query.get("page", "")
    page = int(number) if number.isdecimal() and len(number) < 8 else 1
    values = {choice.name: choice.read(query) for choice in chosen}
    days = DayRange(dated, _parse_day(query, "from"), _parse_day(query, "to")) if dated else None
    return Filters(text, page, values, chosen, days)


def _parse_day(query: Mapping[str, str], name: str) -> date | None:
    try:
        found = date.fromisoformat(query.get(name, ""))
    except ValueError:
        return None
    return found if 1900 < found.year < 2200 else None


def build_text_condition(text: str, *fields: str) -> Q:
    """Every word of `text` in one of the fields, in any order."""
    found = Q()
    for word in text.split():
        found &= reduce(or_, (Q(**{f"{name}__icontains": word}) for name in fields))
    return found


def has_all_words(text: str, q: str) -> bool:
    """The same of a text in hand."""
    held = text.casefold()
    return all(word in held for word in q.casefold().split())


def load_value_choice(
    rows: QuerySet[Any],
    column: str,
    label: StrOrPromise,
    whole: StrOrPromise,
    *,
    name: str = "",
    spare: bool = True,
    say: Callable[[str], StrOrPromise] = str,
) -> FilterChoice:
    """A choice among the values that rows have in a column, `MAX_VALUES` at most, by name; `say`
    puts one in the reader's words."""
    found = rows.exclude(**{column: ""}).order_by(column).values_list(column, flat=True)
    options = ((value, say(value)) for value in found.distinct()[:MAX_VALUES])
    return FilterChoice(name or column, label, (("", whole), *options), spare)
