"""Time expressions resolved against the date of the conversation (spec §7.1, event time).

No library kept here returns ranges with a granularity, so this is an own grammar: every
rule is a pattern and a reading of it as a half-open range. The rules overlap on purpose;
the earliest match wins, then the longest. Calendar arithmetic is dateutil's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from memoryhub.engines.local.calendar import (
    COUNTS,
    HOLIDAYS,
    MONTHS,
    SEASONS,
    WEEKDAYS,
    Span,
    around,
    count_of,
    day_of,
    lasting,
    midnight,
    month_of,
    season_of,
    shifted,
    unit_of,
    weekday_of,
    weekend_of,
    year_of,
)
from memoryhub.engines.local.tense import Tense, is_repeated, tense_at
from memoryhub.engines.types import Granularity, TimeSpan


def _any(words: dict[str, int] | dict[str, tuple[int, int]]) -> str:
    return "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))


_COUNT = rf"(?P<n>\d{{1,4}}|{_any(COUNTS)})"
_UNIT = r"(?P<unit>minute|min|hour|day|night|weekend|week|fortnight|month|year|yr|decade)s?"
_WEEKDAY = rf"(?P<weekday>{_any(WEEKDAYS)})"
_MONTH = rf"(?P<month>{_any(MONTHS)})"
_SEASON = rf"(?P<season>{_any(SEASONS)})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_PART = r"(?:[ -](?:morning|afternoon|evening|night))?"
_SOFT = r"(?:the |early |late |mid[ -]|earlier |later |end of |start of )*"
_NOW = "last|past|previous|this past|this last|this|next|this coming|coming|upcoming"
_WHICH = rf"(?P<which>{_NOW})"
_CLOCK = re.compile(
    r",? (?:at|around|by) (?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b", re.I
)


class Moment(NamedTuple):
    """What a rule may look at besides its match."""

    at: datetime
    tense: Tense


Reader = Callable[["re.Match[str]", Moment], "Span | None"]
_RULES: list[tuple[re.Pattern[str], Reader]] = []


def _rule(pattern: str, flags: int = re.I) -> Callable[[Reader], Reader]:
    """Registers a reading; a group `x` narrows the expression to a part of the match."""

    def register(reader: Reader) -> Reader:
        _RULES.append((re.compile(rf"(?<![\w$£€.-]){pattern}(?![\w%])", flags), reader))
        return reader

    return register


def find_times(text: str, at: datetime) -> tuple[TimeSpan, ...]:
    """Time expressions of `text` in order, without overlaps, resolved against `at` (aware)."""
    found = sorted(_matches(text.replace("’", "'"), at), key=lambda t: (t.at, -len(t.text)))
    kept: list[TimeSpan] = []
    for span in found:
        if not kept or span.at >= kept[-1].at + len(kept[-1].text):
            kept.append(_as_written(_with_clock(_with_since(span, text, at), text), text))
    return tuple(kept)


def _matches(text: str, at: datetime) -> Iterator[TimeSpan]:
    scans = ((match, read) for pattern, read in _RULES for match in pattern.finditer(text))
    for match, read in scans:
        group = "x" if "x" in match.re.groupindex else 0
        if is_repeated(text, match.start(group)):
            continue
        try:
            span = read(match, Moment(at, tense_at(text, match.start(group))))
        except (ValueError, OverflowError):  # 31 February, or before the year 1
            continue
        if span:
            yield TimeSpan(*span, text=match.group(group), at=match.start(group))


def _as_written(span: TimeSpan, text: str) -> TimeSpan:
    return replace(span, text=text[span.at : span.at + len(span.text)])


def _with_since(span: TimeSpan, text: str, at: datetime) -> TimeSpan:
    head = re.search(r"\b(?:ever )?since (?:the )?$", text[max(0, span.at - 16) : span.at], re.I)
    if not head or span.start >= at:
        return span
    length = len(head.group())
    whole = text[span.at - length : span.at + len(span.text)]
    return replace(span, end=max(at, span.end), text=whole, at=span.at - length)


def _with_clock(span: TimeSpan, text: str) -> TimeSpan:
    clock = _CLOCK.match(text, span.at + len(span.text))
    if not clock or span.granularity != "day" or int(clock["hour"]) > 12:
        return span
    hour = int(clock["hour"]) % 12 + (12 if clock["half"] in "pP" else 0)
    start = span.start.replace(hour=hour, minute=int(clock["minute"] or 0))
    kind: Granularity = "minute" if clock["minute"] else "hour"
    step = timedelta(**{f"{kind}s": 1})
    whole = text[span.at : clock.end()]
    return replace(span, start=start, end=start + step, granularity=kind, text=whole)


def _step(match: re.Match[str]) -> int:
    word = match["which"].lower().split()[-1]
    return {"this": 0, "next": 1, "coming": 1, "upcoming": 1}.get(word, -1)


def _by_tense(nth: Callable[[int], Span], moment: Moment) -> Span:
    """This year's, unless the tense asks for one that has begun or is not over."""
    this = nth(0)
    sign = moment.tense.direction(0)
    begun, over = this.start <= moment.at, this.end <= moment.at
    return nth(sign) if (sign < 0 and not begun) or (sign > 0 and over) else this


# Days near the conversation

_NEAR = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "earlier today": 0,
    "today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip


@_rule(rf"(?P<near>{_any(_NEAR)}){_PART}")
def _near(match: re.Match[str], moment: Moment) -> Span:
    return unit_of("day", shifted(moment.at, "day", _NEAR[match["near"].lower()]))


@_rule(r"(?:earlier |later )?this (?:very )?(?:morning|afternoon|evening)")
def _part_of_today(match: re.Match[str], moment: Moment) -> Span:
    return unit_of("day", moment.at)


@_rule(r"the other (?P<unit>day|night|week)")
def _other_day(match: re.Match[str], moment: Moment) -> Span:
    days = 28 if match["unit"].lower() == "week" else 7
    return Span(midnight(moment.at) - timedelta(days=days), midnight(moment.at), "week")


# last, this, next


@_rule(rf"{_SOFT}{_WHICH} (?:whole |entire )?(?P<unit>week|month|year|decade)")
def _which_unit(match: re.Match[str], moment: Moment) -> Span:
    unit = match["unit"].lower()
    return unit_of(unit, shifted(moment.at, unit, _step(match)))


@_rule(rf"(?:the )?{_WHICH} weekend")
def _which_weekend(match: re.Match[str], moment: Moment) -> Span:
    step = _step(match)
    on_monday = moment.tense.look == "past" and moment.at.weekday() < 2
    return weekend_of(moment.at, -1 if step == 0 and on_monday else step)


@_rule(r"(?:on|over|during|at|for) (?P<x>the weekend)")
def _the_weekend(match: re.Match[str], moment: Moment) -> Span:
    return weekend_of(moment.at, min(0, moment.tense.direction(-1)))


@_rule(rf"(?:the )?{_WHICH} {_WEEKDAY}{_PART}")
def _which_weekday(match: re.Match[str], moment: Moment) -> Span:
    step = _step(match) or moment.tense.direction(1)
    return weekday_of(moment.at, WEEKDAYS[match["weekday"].lower()], step)


@_rule(rf"{_SOFT}{_WHICH} {_SEASON}")
def _which_season(match: re.Match[str], moment: Moment) -> Span:
    return season_of(match["season"].lower(), moment.at, _step(match))


@_rule(rf"{_SOFT}{_WHICH} {_MONTH}")
def _which_month(match: re.Match[str], moment: Moment) -> Span:
    return month_of(MONTHS[match["month"].lower()], moment.at, _step(match))


@_rule(r"the (?P<unit>week|weekend|month|year) (?P<side>before last|after next)")
def _second_unit(match: re.Match[str], moment: Moment) -> Span:
    sign = -1 if match["side"].lower() == "before last" else 1
    return around(match["unit"].lower(), moment.at, "2", sign)


# Counted units


@_rule(rf"{_COUNT} (?:short |long |whole )?{_UNIT} (?:ago|back)")
def _ago(match: re.Match[str], moment: Moment) -> Span:
    return around(match["unit"].lower(), moment.at, match["n"], -1)


@_rule(rf"{_COUNT} {_UNIT} (?:from now|from today)")
def _from_now(match: re.Match[str], moment: Moment) -> Span:
    return around(match["unit"].lower(), moment.at, match["n"], 1)


@_rule(rf"(?P<x>in (?:about )?{_COUNT} {_UNIT}(?:'s?)?(?: time)?)")
def _in_units(match: re.Match[str], moment: Moment) -> Span | None:
    if moment.tense.look == "past":  # "in two weeks" then is how long it took
        return None
    return around(match["unit"].lower(), moment.at, match["n"], 1)


@_rule(rf"{_COUNT} {_WEEKDAY}s? ago")
def _weekdays_ago(match: re.Match[str], moment: Moment) -> Span:
    earlier = moment.at - timedelta(weeks=count_of(match["n"])[0] - 1)
    return weekday_of(earlier, WEEKDAYS[match["weekday"].lower()], -1)


@_rule(rf"(?:the |this )?{_WHICH} {_COUNT} {_UNIT}")
def _last_units(match: re.Match[str], moment: Moment) -> Span:
    return lasting(match["unit"].lower(), moment.at, match["n"], _step(match) or 1)


_ROUGHLY = r"(?:about |over |almost |nearly |around |more than |at least |the (?:past|last) )?"


@_rule(
    rf"for {_ROUGHLY}{_COUNT} {_UNIT}"
    rf"|{_COUNT.replace('<n>', '<m>')} {_UNIT.replace('<unit>', '<v>')} now"
)
def _for_units(match: re.Match[str], moment: Moment) -> Span | None:
    if not moment.tense.perfect:  # "for two weeks" is a length, not a time
        return None
    count, unit = match["n"] or match["m"], match["unit"] or match["v"]
    return lasting(unit.lower(), moment.at, count, -1)


@_rule(rf"(?:the )?(?:{_COUNT} )?(?P<unit>day|night|week|weekend|month|year|{_any(WEEKDAYS)})s?"
       r" (?P<side>before|after|prior to|of) "
       r"(?P<anchor>(?:the )?[\w, ]{3,20}?(?:19|20)\d\d)")  # fmt: skip
def _beside_date(match: re.Match[str], moment: Moment) -> Span | None:
    anchor = find_times(match["anchor"], moment.at)
    if not anchor:
        return None
    unit, day = match["unit"].lower(), anchor[0].start
    if match["side"].lower() == "of":
        return weekend_of(day, 0) if unit == "weekend" else unit_of(unit, day)
    sign = 1 if match["side"].lower() == "after" else -1
    if unit in WEEKDAYS:
        return weekday_of(day, WEEKDAYS[unit], sign)
    return around(unit, day, match["n"] or "1", sign)


# Dates of the calendar


@_rule(rf"{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)")
def _iso(match: re.Match[str], moment: Moment) -> Span:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    return unit_of("day", moment.at.replace(year=year, month=month, day=day))


@_rule(rf"(?P<a>[0-3]?\d)/(?P<b>[0-3]?\d)/{_YEAR}")
def _slashed(match: re.Match[str], moment: Moment) -> Span:
    a, b = int(match["a"]), int(match["b"])
    month, day = (b, a) if a > 12 else (a, b)
    return unit_of("day", moment.at.replace(year=int(match["year"]), month=month, day=day))


def _on_day(match: re.Match[str], moment: Moment) -> Span:
    month, day = MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        year = int(match["year"])
        return unit_of("day", moment.at.replace(year=year, month=month, day=day))
    found = day_of(month, day, moment.at, moment.tense.direction(0))
    long_ago = found.end < moment.at - timedelta(days=60)
    arranged = moment.tense.look == "arranged"  # nobody signs up for what is over
    return day_of(month, day, moment.at, 1) if arranged and long_ago else found


_rule(rf"(?:the )?{_DAY} (?:of )?{_MONTH}(?:\.?,? (?:of )?{_YEAR})?")(_on_day)
_rule(rf"{_MONTH}\.? (?:the )?{_DAY}(?:,? {_YEAR})?(?! (?:19|20)\d\d)")(_on_day)


@_rule(rf"{_SOFT}{_MONTH}(?:,| of)? {_YEAR}")
def _month_and_year(match: re.Match[str], moment: Moment) -> Span:
    month = MONTHS[match["month"].lower()]
    return unit_of("month", moment.at.replace(year=int(match["year"]), month=month, day=1))


_INTO = r"(?:in|since|until|till|by|during|from|around|of|for|back in|early|late|mid)[ -]+"
# Names of months that are also names of people or common words need a word before them.
_ALONE = "January|February|July|September|October|November|December|Jan|Feb|Sept|Oct|Nov"


@_rule(rf"(?:{_INTO})(?P<x>{_SOFT}{_MONTH})(?! \d)")
def _in_month(match: re.Match[str], moment: Moment) -> Span | None:
    written = match["month"]
    if written.islower() and written in ("may", "mar", "march", "sun", "dec"):
        return None
    return _by_tense(lambda step: month_of(MONTHS[written.lower()], moment.at, step), moment)


@_rule(rf"(?<!\d )(?P<month>{_ALONE})(?! \d)", flags=0)
def _lone_month(match: re.Match[str], moment: Moment) -> Span:
    month = MONTHS[match["month"].lower()]
    return _by_tense(lambda step: month_of(month, moment.at, step), moment)


@_rule(rf"(?P<x>{_SOFT}{_SEASON}(?:,| of| in)? {_YEAR})")
def _season_and_year(match: re.Match[str], moment: Moment) -> Span:
    year = moment.at.replace(year=int(match["year"]), month=1, day=1)
    return season_of(match["season"].lower(), year, 0)


@_rule(rf"(?:in|during|over|since|for|by) (?P<x>the {_SEASON}|{_SEASON.replace('season', 'bare')})")
def _in_season(match: re.Match[str], moment: Moment) -> Span:
    season = (match["season"] or match["bare"]).lower()
    return _by_tense(lambda step: season_of(season, moment.at, step), moment)


@_rule(
    rf"(?:{_INTO}|the year )(?P<x>(?:early |late |the year )*{_YEAR})(?!-\d| (?:people|dollars))"
)
def _in_year(match: re.Match[str], moment: Moment) -> Span:
    return year_of(int(match["year"]), moment.at)


@_rule(rf"{_YEAR}")
def _lone_year(match: re.Match[str], moment: Moment) -> Span | None:
    alone = match.string.strip(" .,!?'\"()") == match.group()
    return year_of(int(match["year"]), moment.at) if alone else None


@_rule(
    r"(?:the |my )?(?:early |late |mid[ -])?"
    r"(?:(?P<century>19|20)(?P<d>\d0)'?s|(?:the |')'?(?P<e>[2-9]0)'?s)"
)
def _decade(match: re.Match[str], moment: Moment) -> Span:
    tens = int(match["d"] or match["e"])
    century = int(match["century"] or 19) * 100
    return unit_of("decade", moment.at.replace(year=century + tens, month=1, day=1))


# Named days


@_rule(rf"(?P<day>{_any(HOLIDAYS)})(?:,? {_YEAR})?")
def _holiday(match: re.Match[str], moment: Moment) -> Span:
    month, day = HOLIDAYS[match["day"].lower()]
    if match["year"]:
        year = int(match["year"])
        return unit_of("day", moment.at.replace(year=year, month=month, day=day))
    return day_of(month, day, moment.at, moment.tense.direction(0))


@_rule(rf"(?:{_NOW}) (?P<day>{_any(HOLIDAYS)})")
def _which_holiday(match: re.Match[str], moment: Moment) -> Span:
    month, day = HOLIDAYS[match["day"].lower()]
    look = match.group().lower()
    return day_of(month, day, moment.at, -1 if look.startswith(("last", "past")) else 1)


@_rule(
    rf"(?:on )?(?P<x>(?P<weekday>{_any({k: v for k, v in WEEKDAYS.items() if len(k) > 4})}){_PART})"
)
def _lone_weekday(match: re.Match[str], moment: Moment) -> Span:
    return weekday_of(moment.at, WEEKDAYS[match["weekday"].lower()], moment.tense.direction(1))


@_rule(
    r"(?:on|by|until|till|for|since) (?P<x>the (?P<day>[0-3]?\d)(?:st|nd|rd|th))"
    r"(?! (?:of|floor|birthday|time|grade))"
)
def _day_of_month(match: re.Match[str], moment: Moment) -> Span:
    here = unit_of("day", moment.at.replace(day=int(match["day"])))
    sign = moment.tense.direction(0)
    if sign < 0 and here.start > moment.at:
        return unit_of("day", shifted(here.start, "month", -1))
    if sign > 0 and here.end <= moment.at:
        return unit_of("day", shifted(here.start, "month", 1))
    return here
