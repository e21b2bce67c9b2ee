"""Chinese time expressions, resolved against the date of the conversation."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from memoryhub.engines.local.calendar import (
    Span,
    around,
    day_of,
    midnight,
    month_of,
    shifted,
    unit_of,
    weekday_of,
    year_of,
)
from memoryhub.engines.types import TimeSpan

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMBER = r"(?:\d+|[零〇一二两三四五六七八九十百]+)"
_DAYS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今夜": 0, "明天": 1, "明日": 1, "明晚": 1,
    "明早": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_NEAR = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_UNITS = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "年": "year", "小时": "hour", "分钟": "minute",
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_YEAR = rf"(?P<year>{'|'.join(_YEARS)}|\d{{4}}年|[零〇一二三四五六七八九]{{4}}年)"


def number(text: str) -> int:
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


def find_times(text: str, at: datetime) -> tuple[TimeSpan, ...]:
    """Every expression with a date, in the order of the text; `at` is aware."""
    found: list[TimeSpan] = []
    for match in _GRAMMAR.finditer(text):
        if _REPEATED.search(text[: match.start()]):
            continue
        span = _resolved(match, at)
        if span is not None:
            found.append(TimeSpan(*span, text=match[0], at=match.start()))
    return tuple(found)


def _resolved(match: re.Match[str], at: datetime) -> Span | None:
    try:
        return _RULES[match.lastgroup or ""](match, at)
    except (ValueError, OverflowError):
        return None  # 2月30日, or a year no calendar has


def _day(match: re.Match[str], at: datetime) -> Span:
    return unit_of("day", shifted(at, "day", _DAYS[match[0]]))


def _week(match: re.Match[str], at: datetime) -> Span:
    week = unit_of("week", shifted(at, "week", _NEAR[match["near_week"]]))
    name = match["weekday"]
    if not name:
        return week
    if name == "末":
        return Span(shifted(week.start, "day", 5), week.end, "day")
    day = shifted(week.start, "day", "一二三四五六日天".index(name) - (name == "天"))
    return unit_of("day", day)


def _bare_weekday(match: re.Match[str], at: datetime) -> Span:
    return weekday_of(at, min("一二三四五六日天".index(match["bare"]), 6), -1)


def _month(match: re.Match[str], at: datetime) -> Span:
    return unit_of(
        "month", shifted(unit_of("month", at).start, "month", _NEAR[match["near_month"]])
    )


def _ago(match: re.Match[str], at: datetime) -> Span:
    sign = 1 if match["side"] in ("后", "以后", "之后") else -1
    unit = _UNITS[match["unit"]]
    if match["count"] == "半":
        finer, size = ("month", 6) if unit == "year" else ("day", 15)
        return around(finer, at, str(size), sign)
    if match["count"] in ("几", "好几"):
        return around(unit, at, "a few", sign)
    return around(unit, at, str(number(match["count"])), sign)


def _dated(match: re.Match[str], at: datetime) -> Span:
    year = _year_number(match["year"], at)
    if match["season"]:
        start = midnight(at).replace(year=year, month=_SEASONS[match["season"]], day=1)
        return Span(start, shifted(start, "month", 3), "season")
    if not match["month"]:
        return year_of(year, at)
    day = at.replace(year=year, month=number(match["month"]), day=number(match["day"] or "1"))
    return unit_of("day" if match["day"] else "month", day)


def _year_number(text: str, at: datetime) -> int:
    if text in _YEARS:
        return at.year + _YEARS[text]
    return int("".join(c if c.isdigit() and c.isascii() else str(_DIGITS[c]) for c in text[:4]))


def _month_day(match: re.Match[str], at: datetime) -> Span:
    month = number(match["m"])
    if match["d"]:
        return day_of(month, number(match["d"]), at, 0)
    this = month_of(month, at, 0)
    return month_of(month, at, -1) if this.start > at else this


def _season(match: re.Match[str], at: datetime) -> Span:
    start = midnight(at).replace(month=_SEASONS[match["s"]], day=1)
    start = start if start <= at else shifted(start, "year", -1)
    return Span(start, shifted(start, "month", 3), "season")


_RULES: dict[str, Callable[[re.Match[str], datetime], Span]] = {
    "days": _day,
    "week": _week,
    "bareweek": _bare_weekday,
    "months": _month,
    "ago": _ago,
    "dated": _dated,
    "monthday": _month_day,
    "seasons": _season,
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
# "每周三和周日" is no date.
_REPEATED = re.compile(r"每个?(?:(?:周|星期|礼拜)[一二三四五六日天](?:、|和|跟|与|，)?)+$")
_GRAMMAR = re.compile(
    "|".join(
        (
            rf"(?P<days>{'|'.join(sorted(_DAYS, key=len, reverse=True))})",
            r"(?P<week>(?P<near_week>上上|下下|上|下|这|本)个?(?:周|星期|礼拜)"
            r"(?P<weekday>[一二三四五六日天末])?)",
            r"(?P<bareweek>(?<![上下这本每个])(?:周|星期|礼拜)(?P<bare>[一二三四五六日天]))",
            r"(?P<months>(?P<near_month>上上|下下|上|下|这|本)个?月)",
            rf"(?P<ago>(?P<count>{_NUMBER}|好几|几|半)个?(?P<unit>{_UNIT})"
            r"(?P<side>以前|之前|以后|之后|前|后))",
            rf"(?P<dated>{_YEAR}(?:的?(?P<season>[春夏秋冬])[天季]"
            rf"|的?(?P<month>{_NUMBER})月份?(?:(?P<day>{_NUMBER})[日号])?)?)",
            rf"(?P<monthday>(?P<m>{_NUMBER})月(?:份|(?P<d>{_NUMBER})[日号]|(?!薪|饼|亮|球|经)))",
            r"(?P<seasons>(?P<s>[春夏秋冬])天)",
        )
    )
)
