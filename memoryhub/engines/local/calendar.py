"""Calendar arithmetic of the time grammar: units, weekdays, months and seasons as ranges.

Every function takes an aware `at` and returns a half-open range in its time zone. Weeks
start on Monday, seasons are meteorological and of the northern hemisphere.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from memoryhub.engines.types import Granularity


class Span(NamedTuple):
    start: datetime
    end: datetime
    granularity: Granularity


# Least and most that a number word stands for.
COUNTS: dict[str, tuple[int, int]] = {
    "a couple of": (2, 2),
    "couple of": (2, 2),
    "a couple": (2, 2),
    "couple": (2, 2),
    "several": (3, 7),
    "a few": (2, 5),
    "few": (2, 5),
    "some": (2, 5),
    "an": (1, 1),
    "a": (1, 1),
    **{
        word: (n, n)
        for n, word in enumerate(
            [
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ],
            start=1,
        )
    },
    "fifteen": (15, 15),
    "twenty": (20, 20),
    "thirty": (30, 30),
}

_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: dict[str, int] = {
    **{name: i for i, name in enumerate(_NAMES)},
    **{name[:3]: i for i, name in enumerate(_NAMES) if name not in ("saturday", "sunday")},
    "tues": 1,
    "thurs": 3,
}
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
MONTHS: dict[str, int] = {
    **{name: i for i, name in enumerate(_MONTHS, start=1)},
    **{name[:3]: i for i, name in enumerate(_MONTHS, start=1)},
    "sept": 9,
}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
HOLIDAYS = {
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
}

_DELTAS: dict[str, relativedelta] = {
    "minute": relativedelta(minutes=1),
    "hour": relativedelta(hours=1),
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "season": relativedelta(months=3),
    "year": relativedelta(years=1),
    "decade": relativedelta(years=10),
}
_SAME = {"min": "minute", "night": "day", "yr": "year"}


def count_of(word: str) -> tuple[int, int]:
    """Least and most a count means: ("a few") → (2, 5)."""
    return (int(word), int(word)) if word.isdigit() else COUNTS[word.lower()]


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def unit_of(unit: str, at: datetime) -> Span:
    """The calendar unit that contains `at`."""
    name = _granularity(unit)
    start = _start_of(name, at)
    return Span(start, start + _DELTAS[name], name)


def shifted(at: datetime, unit: str, n: int) -> datetime:
    """`at` moved by n units; a fortnight is two weeks, a weekend moves by weeks."""
    if unit in ("fortnight", "weekend"):
        return at + _DELTAS["week"] * (2 * n if unit == "fortnight" else n)
    return at + _DELTAS[_granularity(unit)] * n


def around(unit: str, at: datetime, count: str, sign: int) -> Span:
    """The unit that lies `count` units before (sign -1) or after `at`; vague counts widen it."""
    least, most = count_of(count)
    if unit == "weekend":
        return weekend_of(at, sign * least)
    ends = [unit_of(unit, shifted(at, unit, sign * n)) for n in (least, most)]
    start, end = min(e.start for e in ends), max(e.end for e in ends)
    return Span(start, end, ends[0].granularity)


def lasting(unit: str, at: datetime, count: str, sign: int) -> Span:
    """From `count` units before `at` to `at` (sign -1), or from `at` on."""
    other = shifted(at, unit, sign * count_of(count)[1])
    granularity = "week" if unit in ("weekend", "fortnight") else _granularity(unit)
    return Span(min(at, other), max(at, other), granularity)


def weekend_of(at: datetime, step: int) -> Span:
    """Saturday and Sunday: step 0 those of this week, -1 the latest begun before this day."""
    today = midnight(at)
    saturday = today + timedelta(days=5 - today.weekday())
    saturday += timedelta(weeks=step)
    return Span(saturday, saturday + timedelta(days=2), "day")


def weekday_of(at: datetime, weekday: int, step: int) -> Span:
    """The latest such day before `at` (step < 0) or the first one after it."""
    today = midnight(at)
    ahead = (weekday - today.weekday()) % 7 or 7
    day = today + timedelta(days=ahead if step > 0 else (ahead - 7 or -7))
    return Span(day, day + timedelta(days=1), "day")


def month_of(month: int, at: datetime, step: int) -> Span:
    """Step -1: the latest one over, 0: this year's, 1: the next to begin."""
    this = unit_of("month", at.replace(month=month, day=1))
    return _nearest(this, relativedelta(years=1), at, step)


def season_of(season: str, at: datetime, step: int) -> Span:
    """As `month_of`; step 0 is this year's, a winter counted by the year it begins in."""
    start = midnight(at).replace(month=SEASONS[season], day=1)
    this = Span(start, start + _DELTAS["season"], "season")
    return _nearest(this, relativedelta(years=1), at, step)


def day_of(month: int, day: int, at: datetime, step: int) -> Span:
    """A day and month without a year; step 0 takes the nearest."""
    here = [unit_of("day", at.replace(year=at.year + n, month=month, day=day)) for n in (-1, 0, 1)]
    if step < 0:
        return [s for s in here if s.start <= at][-1]
    if step > 0:
        return next(s for s in here if s.end > at)
    return min(here, key=lambda s: abs(s.start - at))


def year_of(year: int, at: datetime) -> Span:
    return unit_of("year", at.replace(year=year, month=1, day=1))


def _nearest(this: Span, period: relativedelta, at: datetime, step: int) -> Span:
    if step < 0 and this.end > at:
        return Span(this.start - period, this.end - period, this.granularity)
    if step > 0 and this.start <= at:
        return Span(this.start + period, this.end + period, this.granularity)
    return this


def _granularity(unit: str) -> Granularity:
    name = _SAME.get(unit, unit)
    kinds: tuple[Granularity, ...] = (
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "season",
        "year",
        "decade",
    )
    return next((kind for kind in kinds if kind == name), "week")


def _start_of(unit: Granularity, at: datetime) -> datetime:
    day = midnight(at)
    starts = {
        "minute": at.replace(second=0, microsecond=0),
        "hour": at.replace(minute=0, second=0, microsecond=0),
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "season": day.replace(day=1) - relativedelta(months=day.month % 3),
        "year": day.replace(month=1, day=1),
        "decade": day.replace(year=max(1, day.year - day.year % 10), month=1, day=1),
    }
    return starts[unit]
