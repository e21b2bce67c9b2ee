"""Times in a text of either language, and spans of time as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta

from memoryhub.engines.local.chinese import dates
from memoryhub.engines.local.dates import english
from memoryhub.engines.local.language import LanguageCode, detect_language
from memoryhub.engines.types import TimeSpan


def find_times(text: str, at: datetime) -> tuple[TimeSpan, ...]:
    """Time expressions of `text` in order, resolved against `at` (aware)."""
    if detect_language(text) == "zh":
        return dates.find_times(text, at)
    return english.find_times(text, at)


def format_span(span: TimeSpan, language: LanguageCode = "en") -> str:
    """A span as people write it: "7 May 2023", "the week of 1 May 2023", "2021年5月"."""
    start, last = span.start, span.end - timedelta(microseconds=1)
    if span.granularity in ("minute", "hour"):
        return f"{format_day(start, language)}{' ' if language == 'zh' else ', '}{start:%H:%M}"
    if span.granularity == "day" and last.date() == start.date():
        return format_day(start, language)
    chinese = language == "zh"
    if span.granularity == "week" and (last - start).days == 6 and not chinese:
        return f"the week of {format_day(start)}"
    if span.granularity == "month" and (start.year, start.month) == (last.year, last.month):
        return f"{start.year}年{start.month}月" if chinese else f"{start:%B %Y}"
    if span.granularity == "year" and start.year == last.year:
        return f"{start.year}年" if chinese else str(start.year)
    between = "至" if chinese else " to "
    return f"{format_day(start, language)}{between}{format_day(last, language)}"


def format_day(at: datetime, language: LanguageCode = "en") -> str:
    return f"{at.year}年{at.month}月{at.day}日" if language == "zh" else f"{at.day} {at:%B %Y}"
