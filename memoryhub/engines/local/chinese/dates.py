"""Chinese time expressions, resolved against the date of the conversation."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from memoryhub.engines.local.dates.calendar import (
    DateRange,
    resolve_day,
    resolve_month,
    resolve_offset,
    resolve_unit,
    resolve_weekday,
    resolve_year,
    shift_date,
    truncate_to_day,
)
from memoryhub.engines.local.language import HAN
from memoryhub.engines.types import TimeSpan

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMBER = r"(?:\d+|[零〇一二两三四五六七八九十百]+)"
_DAY_OFFSETS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今夜": 0, "明天": 1, "明日": 1, "明晚": 1,
    "明早": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEAR_OFFSETS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_NEAR_OFFSETS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_UNITS = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "年": "year", "小时": "hour", "分钟": "minute",
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_YEAR = rf"(?P<year>{'|'.join(_YEAR_OFFSETS)}|\d{{4}}年|[零〇一二三四五六七八九]{{4}}年)"


def parse_number(text: str) -> int:
    """A count in digits or Chinese numerals: ("二十三") → 23. Raises KeyError otherwise."""
    if text.isdigit():
        return int(text)
    total, digit = 0, 0
    for char in text:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[char]
    return total + digit


_CLAUSE_BREAK = re.compile(rf"[，。！？；,.!?;\n]|(?<=[{HAN}]) (?=[{HAN}])")
# To what day something is moved, it is yet to be; that it was moved is over.
_TO_A_DAY = rf"(?={_NUMBER}[月日号]|\d|周|星期|礼拜|下个?[周月星礼]|[明后]天)"
PUT_OFF = re.compile(
    r"改(?:期|签|[到在成至])|推(?:迟|[后到至])|延(?:期|[后到至])|提前|顺延|往[后前](?:推|延|挪|移)"
    rf"|挪到|(?:改|[变换移调](?:[到成为至])?){_TO_A_DAY}"
)
# "改26号了": the day of a month that goes without saying.
_SETS_DAY = re.compile(r"[改挪推延变换移调约定排](?:期|签)?(?:了?[到在成至为])?了?$")
_AHEAD = re.compile(rf"[要将]|打算|准备|预约|约[了好]|定在|安排在|即将|就是|{PUT_OFF.pattern}")
_OVER = re.compile(r"[^约]了|过(?!年|节|生日)|当时|那天|去年|上[个次]|是在")
_IS_PAST = re.compile(rf"{_OVER.pattern}|的\W*$|出生|生日")
# "8月来不了了", "下月不去了" tell of what is to come as well.
_GIVEN_UP = re.compile(r"不\w{1,3}?了+")
# "2015年的" and "2015年款" are no time of anything.
_VINTAGE = re.compile(r"\d{4}年(?:款|的(?=$|[，。,.！!\s]))")
_MONTHS_AHEAD = 6  # a month that is nearer is the one to come, unless it is told as over


_MONTH_BEFORE = re.compile(rf"(?P<m>{_NUMBER})月[^。！？!?\n月]*$")


def find_times(text: str, at: datetime) -> tuple[TimeSpan, ...]:
    """Every expression with a date, in the order of the text; `at` is aware."""
    found: list[TimeSpan] = []
    for match in _GRAMMAR.finditer(text):
        if _REPEATED.search(text[: match.start()]) or _VINTAGE.match(text, match.start()):
            continue
        span = _resolve_match(match, at)
        if span is not None:
            found.append(TimeSpan(*span, text=match[0], at=match.start()))
    return tuple(found)


def _resolve_match(match: re.Match[str], at: datetime) -> DateRange | None:
    try:
        return _RULES[match.lastgroup or ""](match, at)
    except (ValueError, OverflowError):
        return None  # 2月30日, or a year no calendar has


def _resolve_named_day(match: re.Match[str], at: datetime) -> DateRange:
    return resolve_unit("day", shift_date(at, "day", _DAY_OFFSETS[match[0]]))


def _resolve_week(match: re.Match[str], at: datetime) -> DateRange:
    week = resolve_unit("week", shift_date(at, "week", _NEAR_OFFSETS[match["near_week"]]))
    name = match["weekday"]
    if not name:
        return week
    if name == "末":
        return DateRange(shift_date(week.start, "day", 5), week.end, "day")
    day = shift_date(week.start, "day", "一二三四五六日天".index(name) - (name == "天"))
    return resolve_unit("day", day)


def _resolve_bare_weekday(match: re.Match[str], at: datetime) -> DateRange:
    return resolve_weekday(at, min("一二三四五六日天".index(match["bare"]), 6), -1)


def _resolve_near_month(match: re.Match[str], at: datetime) -> DateRange:
    this = resolve_unit("month", at).start
    return resolve_unit("month", shift_date(this, "month", _NEAR_OFFSETS[match["near_month"]]))


def _resolve_ago(match: re.Match[str], at: datetime) -> DateRange:
    sign = 1 if match["side"] in ("后", "以后", "之后") else -1
    unit = _UNITS[match["unit"]]
    if match["count"] == "半":
        finer, size = ("month", 6) if unit == "year" else ("day", 15)
        return resolve_offset(finer, at, str(size), sign)
    if match["count"] in ("几", "好几"):
        return resolve_offset(unit, at, "a few", sign)
    return resolve_offset(unit, at, str(parse_number(match["count"])), sign)


def _resolve_dated(match: re.Match[str], at: datetime) -> DateRange:
    year = _parse_year(match["year"], at)
    if match["season"]:
        start = truncate_to_day(at).replace(year=year, month=_SEASONS[match["season"]], day=1)
        return DateRange(start, shift_date(start, "month", 3), "season")
    if not match["month"]:
        return resolve_year(year, at)
    month, day = parse_number(match["month"]), parse_number(match["day_of"] or "1")
    found = at.replace(year=year, month=month, day=day)
    return resolve_unit("day" if match["day_of"] else "month", found)


def _parse_year(text: str, at: datetime) -> int:
    if text in _YEAR_OFFSETS:
        return at.year + _YEAR_OFFSETS[text]
    return int("".join(c if c.isdigit() and c.isascii() else str(_DIGITS[c]) for c in text[:4]))


def _resolve_month_day(match: re.Match[str], at: datetime) -> DateRange:
    month = parse_number(match["m"])
    if match["d"]:
        return resolve_day(month, parse_number(match["d"]), at, int(_is_ahead(match)))
    this, ahead = resolve_month(month, at, 0), _is_ahead(match)
    if this.start <= at:
        return resolve_month(month, at, 1) if ahead and this.end <= at else this
    soon = this.start <= shift_date(at, "month", _MONTHS_AHEAD)
    to_come = ahead or (soon and not _IS_PAST.search(_find_clause(match)))
    return this if to_come else resolve_month(month, at, -1)


def _resolve_day_alone(match: re.Match[str], at: datetime) -> DateRange:
    """The next such day of what is set for one; of the month that was just spoken of, if of any.
    Raises ValueError for a number of anything else: 3号线."""
    before = match.string[: match.start()]
    if not _SETS_DAY.search(before):
        raise ValueError(match[0])
    day, named = parse_number(match["day_alone"]), _MONTH_BEFORE.search(before)
    if named:
        return resolve_day(parse_number(named["m"]), day, at, 1)
    first = at.replace(day=1)
    this = first.replace(day=day) if day >= at.day else shift_date(first, "month", 1)
    return resolve_unit("day", this.replace(day=day))


def _is_ahead(match: re.Match[str]) -> bool:
    """Whether the clause around the date speaks of what is to come: 十二月三号要去做手术."""
    clause = _find_clause(match)
    ahead, over = _AHEAD.search(clause), _OVER.search(clause)
    return bool(ahead) and (not over or bool(PUT_OFF.search(clause) and over[0].endswith("了")))


def _find_clause(match: re.Match[str]) -> str:
    """The words around the date."""
    before = _CLAUSE_BREAK.split(match.string[: match.start()])[-1]
    return before + _CLAUSE_BREAK.split(_GIVEN_UP.sub("", match.string[match.end() :]))[0]


def _resolve_season(match: re.Match[str], at: datetime) -> DateRange:
    start = truncate_to_day(at).replace(month=_SEASONS[match["s"]], day=1)
    start = start if start <= at else shift_date(start, "year", -1)
    return DateRange(start, shift_date(start, "month", 3), "season")


_RULES: dict[str, Callable[[re.Match[str], datetime], DateRange]] = {
    "days": _resolve_named_day,
    "week": _resolve_week,
    "bareweek": _resolve_bare_weekday,
    "months": _resolve_near_month,
    "ago": _resolve_ago,
    "dated": _resolve_dated,
    "monthday": _resolve_month_day,
    "day": _resolve_day_alone,
    "seasons": _resolve_season,
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
# "一月两千六" is so much a month.
_A_MONTH = r"[\d一二两三四五六七八九十几]{1,4}(?:[百千万块元次回天]|\d)"
# "每周三和周日" is no date.
_REPEATED = re.compile(r"每个?(?:(?:周|星期|礼拜)[一二三四五六日天](?:、|和|跟|与|，)?)+$")
_GRAMMAR = re.compile(
    "|".join(
        (
            rf"(?P<days>{'|'.join(sorted(_DAY_OFFSETS, key=len, reverse=True))})",
            r"(?P<week>(?P<near_week>上上|下下|上|下|这|本)个?(?:周|星期|礼拜)"
            r"(?P<weekday>[一二三四五六日天末])?)",
            r"(?P<bareweek>(?<![上下这本每个])(?:周|星期|礼拜)(?P<bare>[一二三四五六日天]))",
            r"(?P<months>(?P<near_month>上上|下下|上|下|这|本)个?月)",
            rf"(?P<ago>(?P<count>(?!(?:19|20)\d\d年){_NUMBER}|好几|几|半)个?(?P<unit>{_UNIT})"
            r"(?P<side>以前|之前|以后|之后|前|后))",
            rf"(?P<dated>{_YEAR}(?:的?(?P<season>[春夏秋冬])[天季]"
            rf"|的?(?P<month>{_NUMBER})月份?(?:(?P<day_of>{_NUMBER})[日号])?)?)",
            rf"(?P<monthday>(?P<m>{_NUMBER})月(?:份|(?P<d>{_NUMBER})(?:[日号]|(?=$|[\s，。,！!]))|(?!薪|饼|亮|球|经|(?<=一月){_A_MONTH})))",
            r"(?P<seasons>(?P<s>[春夏秋冬])天)",
            rf"(?P<day>(?P<day_alone>{_NUMBER})[日号](?![线楼院店门厅馆桌房]))",
        )
    )
)
