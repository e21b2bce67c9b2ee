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

from memoryhub.engines.local.dates.calendar import (
    COUNT_WORDS,
    HOLIDAYS,
    MONTHS,
    MOVABLE_FEASTS,
    ORDINALS,
    SEASONS,
    WEEKDAYS,
    DateRange,
    parse_count,
    resolve_day,
    resolve_duration,
    resolve_feast,
    resolve_feast_of,
    resolve_month,
    resolve_offset,
    resolve_season,
    resolve_unit,
    resolve_weekday,
    resolve_weekend,
    resolve_year,
    shift_date,
    truncate_to_day,
)
from memoryhub.engines.local.dates.tense import PUT_OFF_VERBS, Tense, detect_tense, is_repeated
from memoryhub.engines.types import Granularity, TimeSpan


def _build_alternation(words: dict[str, int] | dict[str, tuple[int, int]]) -> str:
    return "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))


_COUNT = rf"(?P<n>\d{{1,4}}|{_build_alternation(COUNT_WORDS)})"
_UNIT = (
    r"(?P<unit>minute|min|hour|day|night|weekend|week|fortnight|month|year|yr|wk|mth|hr|decade)s?"
)
_WEEKDAY_NAMES = _build_alternation(WEEKDAYS)
_WEEKDAY = rf"(?P<weekday>{_WEEKDAY_NAMES})"
_MONTH = rf"(?P<month>{_build_alternation(MONTHS)})"
_MONTH_NAMES = _build_alternation(MONTHS)
_SEASON = rf"(?P<season>{_build_alternation(SEASONS)})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_ORDINAL = _build_alternation(ORDINALS)
_ANY_DAY = rf"(?:[0-3]?\d(?:st|nd|rd|th)?|{_ORDINAL})"
_DAY_PART = r"(?:[ -](?:morning|afternoon|evening|night))?"
_SOFT_PREFIX = r"(?:the |early |late |mid[ -]|earlier |later |end of |start of )*"
_MOST_DAYS = 100  # between two days that are named together
_MOST_BEFORE = 60  # characters in which they may be said to be moved
_WHICH_WORDS = "last|past|previous|this past|this last|this|next|this coming|coming|upcoming"
_WHICH = rf"(?P<which>{_WHICH_WORDS})"
_CLOCK = re.compile(
    r",? (?:at|around|by) (?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b", re.I
)

_YEAR_BESIDE = re.compile(r",? (?:of )?(?P<which>this|next|last) year\b", re.I)
_LONG_BLANK = re.compile(r" {64,}")
_NAMES_MONTH = re.compile(rf"\b(?:{_build_alternation(MONTHS)})\b", re.I)


class TimeContext(NamedTuple):
    """What a rule may look at besides its match."""

    at: datetime
    tense: Tense


RuleReader = Callable[["re.Match[str]", TimeContext], "DateRange | None"]
_RULES: list[tuple[re.Pattern[str], RuleReader]] = []


def _register_rule(pattern: str, flags: int = re.I) -> Callable[[RuleReader], RuleReader]:
    """Registers a reading; a group `x` narrows the expression to a part of the match."""

    def register(reader: RuleReader) -> RuleReader:
        _RULES.append((re.compile(rf"(?<![\w$£€.-]){pattern}(?![\w%])", flags), reader))
        return reader

    return register


def find_times(text: str, at: datetime) -> tuple[TimeSpan, ...]:
    """Time expressions of `text` in order, without overlaps, resolved against `at` (aware)."""
    found = sorted(_find_matches(text.replace("’", "'"), at), key=lambda t: (t.at, -len(t.text)))
    kept: list[TimeSpan] = []
    for span in found:
        if not kept or span.at >= kept[-1].at + len(kept[-1].text):
            whole = _extend_with_since(_extend_with_year(span, text, at), text, at)
            whole = _extend_with_clock(whole, text)
            kept.append(replace(whole, text=text[whole.at : whole.at + len(whole.text)]))
    return tuple(kept)


def _find_matches(text: str, at: datetime) -> Iterator[TimeSpan]:
    scans = (
        (match, read)
        for start, end in _list_written_stretches(text)
        for pattern, read in _RULES
        for match in pattern.finditer(text, start, end)
    )
    for match, read in scans:
        group = "x" if "x" in match.re.groupindex else 0
        if is_repeated(text, match.start(group)):
            continue
        try:
            span = read(match, TimeContext(at, detect_tense(text, match.start(group))))
        except (ValueError, OverflowError):  # 31 February, or before the year 1
            continue
        if span:
            yield TimeSpan(*span, text=match.group(group), at=match.start(group))


def _list_written_stretches(text: str) -> Iterator[tuple[int, int]]:
    """Between long blanks, such as stand for what is not read of a text as long as a book: every
    rule would look at each of their spaces."""
    start = 0
    for blank in _LONG_BLANK.finditer(text):
        yield start, blank.start()
        start = blank.end()
    yield start, len(text)


def _extend_with_year(span: TimeSpan, text: str, at: datetime) -> TimeSpan:
    """ "12 September next year": a day or a month of that year, whatever the tense says."""
    told = _YEAR_BESIDE.match(text, span.at + len(span.text))
    if not told or span.granularity not in ("day", "month") or not _NAMES_MONTH.search(span.text):
        return span
    years = at.year + {"this": 0, "next": 1}.get(told["which"].lower(), -1) - span.start.year
    try:
        start, end = (each.replace(year=each.year + years) for each in (span.start, span.end))
    except ValueError:  # the 29th of February
        return span
    return replace(span, start=start, end=end, text=text[span.at : told.end()])


def _extend_with_since(span: TimeSpan, text: str, at: datetime) -> TimeSpan:
    head = re.search(r"\b(?:ever )?since (?:the )?$", text[max(0, span.at - 16) : span.at], re.I)
    if not head or span.start >= at:
        return span
    length = len(head.group())
    whole = text[span.at - length : span.at + len(span.text)]
    return replace(span, end=max(at, span.end), text=whole, at=span.at - length)


def _extend_with_clock(span: TimeSpan, text: str) -> TimeSpan:
    clock = _CLOCK.match(text, span.at + len(span.text))
    if not clock or span.granularity != "day" or int(clock["hour"]) > 12:
        return span
    hour = int(clock["hour"]) % 12 + (12 if clock["half"] in "pP" else 0)
    start = span.start.replace(hour=hour, minute=int(clock["minute"] or 0))
    kind: Granularity = "minute" if clock["minute"] else "hour"
    step = timedelta(**{f"{kind}s": 1})
    whole = text[span.at : clock.end()]
    return replace(span, start=start, end=start + step, granularity=kind, text=whole)


def _parse_step(match: re.Match[str]) -> int:
    word = match["which"].lower().split()[-1]
    return {"this": 0, "next": 1, "coming": 1, "upcoming": 1}.get(word, -1)


def _choose_by_tense(nth: Callable[[int], DateRange], moment: TimeContext) -> DateRange:
    """This year's, unless the tense asks for one that has begun or is not over."""
    this = nth(0)
    sign = moment.tense.choose_direction(0)
    begun, over = this.start <= moment.at, this.end <= moment.at
    return nth(sign) if (sign < 0 and not begun) or (sign > 0 and over) else this


# Days near the conversation

_NEAR_DAYS = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "earlier today": 0,
    "today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2,
    "yday": -1, "tmrw": 1, "tmr": 1, "tmw": 1, "2moro": 1, "tomoz": 1,
}  # fmt: skip


@_register_rule(rf"(?P<near>{_build_alternation(_NEAR_DAYS)}){_DAY_PART}")
def _resolve_near_day(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_unit("day", shift_date(moment.at, "day", _NEAR_DAYS[match["near"].lower()]))


@_register_rule(r"(?:earlier |later )?this (?:very )?(?:morning|afternoon|evening)")
def _resolve_part_of_today(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_unit("day", moment.at)


@_register_rule(r"the other (?P<unit>day|night|week)")
def _resolve_other_day(match: re.Match[str], moment: TimeContext) -> DateRange:
    days = 28 if match["unit"].lower() == "week" else 7
    today = truncate_to_day(moment.at)
    return DateRange(today - timedelta(days=days), today, "week")


# last, this, next


@_register_rule(
    rf"{_SOFT_PREFIX}{_WHICH} (?:whole |entire )?(?P<unit>week|wk|month|year|yr|decade)"
)
def _resolve_which_unit(match: re.Match[str], moment: TimeContext) -> DateRange:
    unit = match["unit"].lower()
    return resolve_unit(unit, shift_date(moment.at, unit, _parse_step(match)))


@_register_rule(rf"(?:the )?{_WHICH} weekend")
def _resolve_which_weekend(match: re.Match[str], moment: TimeContext) -> DateRange:
    step = _parse_step(match)
    on_monday = moment.tense.look == "past" and moment.at.weekday() < 2
    return resolve_weekend(moment.at, -1 if step == 0 and on_monday else step)


@_register_rule(r"(?:on|over|during|at|for) (?P<x>the weekend)")
def _resolve_the_weekend(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_weekend(moment.at, min(0, moment.tense.choose_direction(-1)))


@_register_rule(rf"(?:the )?{_WHICH} {_WEEKDAY}{_DAY_PART}")
def _resolve_which_weekday(match: re.Match[str], moment: TimeContext) -> DateRange:
    step = _parse_step(match) or moment.tense.choose_direction(1)
    return resolve_weekday(moment.at, WEEKDAYS[match["weekday"].lower()], step)


@_register_rule(rf"{_SOFT_PREFIX}{_WHICH} {_SEASON}")
def _resolve_which_season(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_season(match["season"].lower(), moment.at, _parse_step(match))


@_register_rule(rf"{_SOFT_PREFIX}{_WHICH} {_MONTH}")
def _resolve_which_month(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_month(MONTHS[match["month"].lower()], moment.at, _parse_step(match))


@_register_rule(r"the (?P<unit>week|weekend|month|year) (?P<side>before last|after next)")
def _resolve_second_unit(match: re.Match[str], moment: TimeContext) -> DateRange:
    sign = -1 if match["side"].lower() == "before last" else 1
    return resolve_offset(match["unit"].lower(), moment.at, "2", sign)


# Counted units


@_register_rule(rf"{_COUNT} (?:short |long |whole )?{_UNIT} (?:ago|back)")
def _resolve_ago(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_offset(match["unit"].lower(), moment.at, match["n"], -1)


@_register_rule(rf"{_COUNT} {_UNIT} (?:from now|from today)")
def _resolve_from_now(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_offset(match["unit"].lower(), moment.at, match["n"], 1)


@_register_rule(rf"(?P<x>in (?:about )?{_COUNT} {_UNIT}(?:'s?)?(?: time)?)")
def _resolve_in_units(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    if moment.tense.look == "past":  # "in two weeks" then is how long it took
        return None
    return resolve_offset(match["unit"].lower(), moment.at, match["n"], 1)


@_register_rule(rf"{_COUNT} {_WEEKDAY}s? ago")
def _resolve_weekdays_ago(match: re.Match[str], moment: TimeContext) -> DateRange:
    earlier = moment.at - timedelta(weeks=parse_count(match["n"])[0] - 1)
    return resolve_weekday(earlier, WEEKDAYS[match["weekday"].lower()], -1)


@_register_rule(rf"(?:the |this )?{_WHICH} {_COUNT} {_UNIT}")
def _resolve_last_units(match: re.Match[str], moment: TimeContext) -> DateRange:
    return resolve_duration(match["unit"].lower(), moment.at, match["n"], _parse_step(match) or 1)


_APPROXIMATION = (
    r"(?:about |over |almost |nearly |around |more than |at least |the (?:past|last) )?"
)


@_register_rule(
    rf"for {_APPROXIMATION}{_COUNT} {_UNIT}"
    rf"|{_COUNT.replace('<n>', '<m>')} {_UNIT.replace('<unit>', '<v>')} now"
)
def _resolve_for_units(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    if not moment.tense.perfect:  # "for two weeks" is a length, not a time
        return None
    count, unit = match["n"] or match["m"], match["unit"] or match["v"]
    return resolve_duration(unit.lower(), moment.at, count, -1)


@_register_rule(
    rf"(?:the )?(?:{_COUNT} )?"
    rf"(?P<unit>day|night|week|weekend|month|year|{_build_alternation(WEEKDAYS)})s?"
       r" (?P<side>before|after|prior to|of) "
       r"(?P<anchor>(?:the )?[\w, ]{3,20}?(?:19|20)\d\d)")  # fmt: skip
def _resolve_beside_date(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    anchor = find_times(match["anchor"], moment.at)
    if not anchor:
        return None
    unit, day = match["unit"].lower(), anchor[0].start
    if match["side"].lower() == "of":
        return resolve_weekend(day, 0) if unit == "weekend" else resolve_unit(unit, day)
    sign = 1 if match["side"].lower() == "after" else -1
    if unit in WEEKDAYS:
        return resolve_weekday(day, WEEKDAYS[unit], sign)
    return resolve_offset(unit, day, match["n"] or "1", sign)


# Dates of the calendar


@_register_rule(rf"{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)")
def _resolve_iso_date(match: re.Match[str], moment: TimeContext) -> DateRange:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    return resolve_unit("day", moment.at.replace(year=year, month=month, day=day))


@_register_rule(rf"(?P<a>[0-3]?\d)/(?P<b>[0-3]?\d)/{_YEAR}")
def _resolve_slashed_date(match: re.Match[str], moment: TimeContext) -> DateRange:
    a, b = int(match["a"]), int(match["b"])
    month, day = (b, a) if a > 12 else (a, b)
    return resolve_unit("day", moment.at.replace(year=int(match["year"]), month=month, day=day))


def _parse_day(word: str) -> int:
    """("3rd") → 3, ("third") → 3."""
    digits = word.rstrip("stndrh").lower() if word[0].isdigit() else ""
    return int(digits) if digits else ORDINALS[word.lower()]


def _resolve_on_day(match: re.Match[str], moment: TimeContext) -> DateRange:
    return _resolve_calendar_day(match["month"], match["day"], match["year"], moment)


def _resolve_calendar_day(
    month_name: str, day_name: str, year_told: str | None, moment: TimeContext
) -> DateRange:
    month, day = MONTHS[month_name.lower()], _parse_day(day_name)
    if year_told:
        year = int(year_told)
        return resolve_unit("day", moment.at.replace(year=year, month=month, day=day))
    found = resolve_day(month, day, moment.at, moment.tense.choose_direction(0))
    long_ago = found.end < moment.at - timedelta(days=60)
    arranged = moment.tense.look == "arranged"  # nobody signs up for what is over
    return resolve_day(month, day, moment.at, 1) if arranged and long_ago else found


_register_rule(rf"(?:the )?{_MONTH_DAY} (?:of )?{_MONTH}(?:\.?,? (?:of )?{_YEAR})?")(
    _resolve_on_day
)
_register_rule(rf"{_MONTH}\.? (?:the )?{_MONTH_DAY}(?:,? {_YEAR})?(?! (?:19|20)\d\d)")(
    _resolve_on_day
)
_register_rule(rf"(?:the )?(?P<day>{_ORDINAL}) (?:day )?of {_MONTH}(?:,? {_YEAR})?")(
    _resolve_on_day
)
_register_rule(
    rf"{_MONTH} the (?P<day>{_ORDINAL})(?:,? {_YEAR})?(?! (?:one|time|year|week|half|be)\b)"
)(_resolve_on_day)
_TO_DAY = r"(?: ?[-–—] ?| (?:to|until|till|through) )(?:the )?"
# "Moved from the 2nd to the 9th of May": the first is no longer meant.
_MOVED = re.compile(rf"\b{PUT_OFF_VERBS}\b[^.!?,]{{0,30}}$", re.I)


@_register_rule(
    rf"(?:from )?(?:the )?(?P<first>{_ANY_DAY})(?:(?: of)? (?P<begun>{_MONTH_NAMES}))?{_TO_DAY}"
    rf"(?P<day>{_ANY_DAY})(?: of)? {_MONTH}(?:,? {_YEAR})?"
)
def _resolve_days_between(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    """ "from the second to the ninth of May", "25 July to 1 August", with both days."""
    last = _resolve_calendar_day(match["month"], match["day"], match["year"], moment)
    return _join_days(match, match["begun"] or match["month"], last)


@_register_rule(
    rf"(?:from )?{_MONTH}\.? (?:the )?(?P<first>{_ANY_DAY}){_TO_DAY}(?P<day>{_ANY_DAY})"
    rf"(?:,? {_YEAR})?(?! (?:19|20)\d\d)"
)
def _resolve_days_of_month(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    last = _resolve_calendar_day(match["month"], match["day"], match["year"], moment)
    return _join_days(match, match["month"], last)


def _join_days(match: re.Match[str], month: str, last: DateRange) -> DateRange | None:
    first = last.start.replace(month=MONTHS[month.lower()], day=_parse_day(match["first"]))
    if first > last.start:
        first = first.replace(year=first.year - 1)
    days = (last.end - first).days
    before = max(0, match.start() - _MOST_BEFORE)
    moved = match[0].lower().startswith("from") and _MOVED.search(
        match.string, before, match.start()
    )
    return DateRange(first, last.end, "day") if days <= _MOST_DAYS and not moved else None


@_register_rule(rf"{_SOFT_PREFIX}{_MONTH}(?:,| of)? {_YEAR}")
def _resolve_month_and_year(match: re.Match[str], moment: TimeContext) -> DateRange:
    month = MONTHS[match["month"].lower()]
    return resolve_unit("month", moment.at.replace(year=int(match["year"]), month=month, day=1))


_TIME_PREPOSITIONS = (
    r"(?:in|since|until|till|by|during|from|around|of|for|back in|early|late|mid)[ -]+"
)
# Names of months that are also names of people or common words need a word before them.
_UNAMBIGUOUS_MONTHS = (
    "January|February|July|September|October|November|December|Jan|Feb|Sept|Oct|Nov"
)


@_register_rule(rf"(?:{_TIME_PREPOSITIONS})(?P<x>{_SOFT_PREFIX}{_MONTH})(?! \d)")
def _resolve_in_month(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    written = match["month"]
    if written.islower() and written in ("may", "mar", "march", "sun", "dec"):
        return None
    month = MONTHS[written.lower()]
    return _choose_by_tense(lambda step: resolve_month(month, moment.at, step), moment)


@_register_rule(rf"(?<!\d )(?P<month>{_UNAMBIGUOUS_MONTHS})(?! \d)", flags=0)
def _resolve_lone_month(match: re.Match[str], moment: TimeContext) -> DateRange:
    month = MONTHS[match["month"].lower()]
    return _choose_by_tense(lambda step: resolve_month(month, moment.at, step), moment)


@_register_rule(rf"(?P<x>{_SOFT_PREFIX}{_SEASON}(?:,| of| in)? {_YEAR})")
def _resolve_season_and_year(match: re.Match[str], moment: TimeContext) -> DateRange:
    year = moment.at.replace(year=int(match["year"]), month=1, day=1)
    return resolve_season(match["season"].lower(), year, 0)


@_register_rule(
    rf"(?:in|during|over|since|for|by) (?P<x>the {_SEASON}|{_SEASON.replace('season', 'bare')})"
)
def _resolve_in_season(match: re.Match[str], moment: TimeContext) -> DateRange:
    season = (match["season"] or match["bare"]).lower()
    found = _choose_by_tense(lambda step: resolve_season(season, moment.at, step), moment)
    # "Got an internship for summer", said in January, looks ahead, whatever the verb says.
    long_over = found.end < moment.at - timedelta(days=60)
    if match[0].lower().startswith("for ") and long_over:
        coming = resolve_season(season, moment.at, 0)
        return coming if coming.end > moment.at else resolve_season(season, moment.at, 1)
    return found


_REACHES_ON = re.compile(r" ?(?:to|until|till?|through|on|onwards|-|–)\b| ?[-–]", re.I)
_LASTS = re.compile(
    r"\b(?:liv|work|stud|stay|serv|teach|play)\w+|\b(?:taught|ran|run|been|was|were)\b", re.I
)


def _is_of_make(match: re.Match[str]) -> bool:
    """Whether a thing was made in a year, of which nothing is told: "an Opel from 2011"."""
    before = re.split(r"[.!?\n]", match.string[: match.start()])[-1]
    reaches_on = _REACHES_ON.match(match.string, match.end())
    return bool(before.strip()) and not reaches_on and not _LASTS.search(before)


@_register_rule(
    rf"(?P<head>{_TIME_PREPOSITIONS}|the year )(?P<x>(?:early |late |the year )*{_YEAR})"
    r"(?!-\d| (?:people|dollars))"
)
def _resolve_in_year(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    if match["head"].lower().startswith("from") and _is_of_make(match):
        return None
    return resolve_year(int(match["year"]), moment.at)


@_register_rule(rf"{_YEAR}")
def _resolve_lone_year(match: re.Match[str], moment: TimeContext) -> DateRange | None:
    alone = match.string.strip(" .,!?'\"()") == match.group()
    return resolve_year(int(match["year"]), moment.at) if alone else None


@_register_rule(
    r"(?:the |my )?(?:early |late |mid[ -])?"
    r"(?:(?P<century>19|20)(?P<d>\d0)'?s|(?:the |')'?(?P<e>[2-9]0)'?s)"
)
def _resolve_decade(match: re.Match[str], moment: TimeContext) -> DateRange:
    tens = int(match["d"] or match["e"])
    century = int(match["century"] or 19) * 100
    return resolve_unit("decade", moment.at.replace(year=century + tens, month=1, day=1))


# Named days


# Not what is only called so: a Christmas cake.
_CALLED_SO = (
    r"(?! (?:cakes?|trees?|cards?|puddings?|jumpers?|lights|carols?|songs?|presents?|gifts?"
    r"|decorations?|bonus|loan)\b)"
)


@_register_rule(rf"(?P<day>{_build_alternation(HOLIDAYS)}){_CALLED_SO}(?:,? {_YEAR})?")
def _resolve_holiday(match: re.Match[str], moment: TimeContext) -> DateRange:
    month, day = HOLIDAYS[match["day"].lower()]
    if match["year"]:
        year = int(match["year"])
        return resolve_unit("day", moment.at.replace(year=year, month=month, day=day))
    return resolve_day(month, day, moment.at, moment.tense.choose_direction(0))


# Not what is only called so: Easter Road, Easter eggs; and of the holidays nobody knows the days.
_FEAST = (
    rf"(?P<feast>{_build_alternation(MOVABLE_FEASTS)})"
    r"(?! (?:road|street|eggs?|island|ross|bunny|holidays?|break|term|hunt|bonnet)\b)"
)


@_register_rule(rf"{_FEAST}(?:,? {_YEAR})?")
def _resolve_feast(match: re.Match[str], moment: TimeContext) -> DateRange:
    name = match["feast"].lower()
    if match["year"]:
        return resolve_feast_of(name, int(match["year"]), moment.at)
    return resolve_feast(name, moment.at, moment.tense.choose_direction(0))


@_register_rule(rf"(?:{_WHICH_WORDS}) {_FEAST}")
def _resolve_which_feast(match: re.Match[str], moment: TimeContext) -> DateRange:
    before = match.group().lower().startswith(("last", "past"))
    return resolve_feast(match["feast"].lower(), moment.at, -1 if before else 1)


@_register_rule(rf"(?:{_WHICH_WORDS}) (?P<day>{_build_alternation(HOLIDAYS)})")
def _resolve_which_holiday(match: re.Match[str], moment: TimeContext) -> DateRange:
    month, day = HOLIDAYS[match["day"].lower()]
    look = match.group().lower()
    return resolve_day(month, day, moment.at, -1 if look.startswith(("last", "past")) else 1)


@_register_rule(
    r"(?:on )?(?P<x>(?P<weekday>"
    rf"{_build_alternation({k: v for k, v in WEEKDAYS.items() if len(k) > 4})}){_DAY_PART})"
    # "Wednesday evenings" come round.
    r"(?![ -](?:morning|afternoon|evening|night)s\b)"
    # "Tuesday 10 March" is that day.
    rf"(?!,? (?:the )?(?:[0-3]?\d(?:st|nd|rd|th)?,? (?:of )?(?:{_MONTH_NAMES})"
    rf"|(?:{_MONTH_NAMES})\.? (?:the )?[0-3]?\d)\b|,? the [0-3]?\d(?:st|nd|rd|th)\b)"
)
def _resolve_lone_weekday(match: re.Match[str], moment: TimeContext) -> DateRange:
    day = WEEKDAYS[match["weekday"].lower()]
    return resolve_weekday(moment.at, day, moment.tense.choose_direction(1))


@_register_rule(
    r"(?:on|by|until|till|for|since|(?P<to>to|is|it's|its|is now)"
    rf"|(?:{_WEEKDAY_NAMES}),?) (?P<x>the (?P<day>[0-3]?\d)(?:st|nd|rd|th))"
    r"(?! (?:of|floor|birthday|time|grade))"
    # "Moved to the 1st team" is no day.
    r"(?(to)(?=\W*$|[,.;!?)]| (?:at|instead|now|not|because|so|and|but|of)\b))"
)
def _resolve_day_of_month(match: re.Match[str], moment: TimeContext) -> DateRange:
    here = resolve_unit("day", moment.at.replace(day=int(match["day"])))
    is_told = (match["to"] or "to").lower() != "to"  # "the party is the 20th" lies ahead
    sign = 1 if is_told else moment.tense.choose_direction(0)
    if sign < 0 and here.start > moment.at:
        return resolve_unit("day", shift_date(here.start, "month", -1))
    if sign > 0 and here.end <= moment.at:
        return resolve_unit("day", shift_date(here.start, "month", 1))
    return here
