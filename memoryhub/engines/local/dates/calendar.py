"""Calendar arithmetic of the time grammar: units, weekdays, months and seasons as ranges.

Every function takes an aware `at` and returns a half-open range in its time zone. Weeks
start on Monday, seasons are meteorological and of the northern hemisphere.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple, cast, get_args

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from memoryhub.engines.types import Granularity


class DateRange(NamedTuple):
    start: datetime
    end: datetime
    granularity: Granularity


_FIRST_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
# Least and most that a number word stands for.
COUNT_WORDS: dict[str, tuple[int, int]] = {
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
    **{word: (n, n) for n, word in enumerate(_FIRST_NUMBERS.split(), start=1)},
    "fifteen": (15, 15),
    "twenty": (20, 20),
    "thirty": (30, 30),
}

_FIRST_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
# Days of a month, written out.
ORDINALS: dict[str, int] = {
    **{word: day for day, word in enumerate(_FIRST_ORDINALS.split(), start=1)},
    "twentieth": 20,
    **{f"twenty-{word}": day for day, word in enumerate(_FIRST_ORDINALS.split()[:9], start=21)},
    "thirtieth": 30,
    "thirty-first": 31,
}

_WEEKDAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: dict[str, int] = {
    **{name: i for i, name in enumerate(_WEEKDAY_NAMES)},
    **{name[:3]: i for i, name in enumerate(_WEEKDAY_NAMES) if name not in ("saturday", "sunday")},
    "tues": 1,
    "thurs": 3,
}
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
MONTHS: dict[str, int] = {
    **{name: i for i, name in enumerate(_MONTH_NAMES.split(), start=1)},
    **{name[:3]: i for i, name in enumerate(_MONTH_NAMES.split(), start=1)},
    "sept": 9,
}
# The days of the week and the months, for a pattern.
DAY_AND_MONTH_NAMES = "|".join([*WEEKDAYS, *MONTHS])
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
# Days after Easter Sunday of the western churches.
MOVABLE_FEASTS = {"good friday": -2, "easter sunday": 0, "easter monday": 1, "easter": 0}

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
_UNIT_SYNONYMS = {
    "min": "minute", "night": "day", "yr": "year", "wk": "week", "mth": "month", "hr": "hour",
}  # fmt: skip


def parse_count(word: str) -> tuple[int, int]:
    """Least and most a count means: ("a few") → (2, 5)."""
    return (int(word), int(word)) if word.isdigit() else COUNT_WORDS[word.lower()]


def truncate_to_day(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def resolve_unit(unit: str, at: datetime) -> DateRange:
    """The calendar unit that contains `at`."""
    name = _granularity_from_unit(unit)
    start = _find_unit_start(name, at)
    return DateRange(start, start + _DELTAS[name], name)


def shift_date(at: datetime, unit: str, n: int) -> datetime:
    """`at` moved by n units; a fortnight is two weeks, a weekend moves by weeks."""
    if unit in ("fortnight", "weekend"):
        return at + _DELTAS["week"] * (2 * n if unit == "fortnight" else n)
    return at + _DELTAS[_granularity_from_unit(unit)] * n


def resolve_offset(unit: str, at: datetime, count: str, sign: int) -> DateRange:
    """The unit that lies `count` units before (sign -1) or after `at`; vague counts widen it."""
    least, most = parse_count(count)
    if unit == "weekend":
        return resolve_weekend(at, sign * least)
    ends = [resolve_unit(unit, shift_date(at, unit, sign * n)) for n in (least, most)]
    start, end = min(e.start for e in ends), max(e.end for e in ends)
    return DateRange(start, end, ends[0].granularity)


def resolve_duration(unit: str, at: datetime, count: str, sign: int) -> DateRange:
    """From `count` units before `at` to `at` (sign -1), or from `at` on."""
    other = shift_date(at, unit, sign * parse_count(count)[1])
    granularity = "week" if unit in ("weekend", "fortnight") else _granularity_from_unit(unit)
    return DateRange(min(at, other), max(at, other), granularity)


def resolve_weekend(at: datetime, step: int) -> DateRange:
    """Saturday and Sunday: step 0 those of this week, -1 the latest begun before this day."""
    today = truncate_to_day(at)
    saturday = today + timedelta(days=5 - today.weekday())
    saturday += timedelta(weeks=step)
    return DateRange(saturday, saturday + timedelta(days=2), "day")


def resolve_weekday(at: datetime, weekday: int, step: int) -> DateRange:
    """The latest such day before `at` (step < 0) or the first one after it."""
    today = truncate_to_day(at)
    ahead = (weekday - today.weekday()) % 7 or 7
    day = today + timedelta(days=ahead if step > 0 else (ahead - 7 or -7))
    return DateRange(day, day + timedelta(days=1), "day")


def resolve_month(month: int, at: datetime, step: int) -> DateRange:
    """Step -1: the latest one over, 0: this year's, 1: the next to begin."""
    this = resolve_unit("month", at.replace(month=month, day=1))
    return _choose_nearest(this, relativedelta(years=1), at, step)


def resolve_season(season: str, at: datetime, step: int) -> DateRange:
    """As `resolve_month`; step 0 is this year's, a winter counted by the year it begins in."""
    start = truncate_to_day(at).replace(month=SEASONS[season], day=1)
    this = DateRange(start, start + _DELTAS["season"], "season")
    return _choose_nearest(this, relativedelta(years=1), at, step)


def resolve_day(month: int, day: int, at: datetime, step: int) -> DateRange:
    """A day and month without a year; step 0 takes the nearest."""
    years = (at.year - 1, at.year, at.year + 1)
    here = [resolve_unit("day", at.replace(year=year, month=month, day=day)) for year in years]
    return _choose_by_step(here, at, step)


def resolve_feast(name: str, at: datetime, step: int) -> DateRange:
    """One of `MOVABLE_FEASTS` without a year; step 0 takes the nearest."""
    here = [resolve_feast_of(name, year, at) for year in (at.year - 1, at.year, at.year + 1)]
    return _choose_by_step(here, at, step)


def resolve_feast_of(name: str, year: int, at: datetime) -> DateRange:
    """One of `MOVABLE_FEASTS` of a year, in the time zone of `at`."""
    day = easter(year) + timedelta(days=MOVABLE_FEASTS[name])
    return resolve_unit("day", at.replace(year=day.year, month=day.month, day=day.day))


def _choose_by_step(days: list[DateRange], at: datetime, step: int) -> DateRange:
    if step < 0:
        return [s for s in days if s.start <= at][-1]
    if step > 0:
        return next(s for s in days if s.end > at)
    return min(days, key=lambda s: abs(s.start - at))


def resolve_year(year: int, at: datetime) -> DateRange:
    return resolve_unit("year", at.replace(year=year, month=1, day=1))


def _choose_nearest(this: DateRange, period: relativedelta, at: datetime, step: int) -> DateRange:
    if step < 0 and this.end > at:
        return DateRange(this.start - period, this.end - period, this.granularity)
    if step > 0 and this.start <= at:
        return DateRange(this.start + period, this.end + period, this.granularity)
    return this


def _granularity_from_unit(unit: str) -> Granularity:
    name = _UNIT_SYNONYMS.get(unit, unit)
    return cast("Granularity", name) if name in get_args(Granularity) else "week"


def _find_unit_start(unit: Granularity, at: datetime) -> datetime:
    day = truncate_to_day(at)
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
