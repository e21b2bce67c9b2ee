"""ISO dates in a reply as intervals: the words of a model, the arithmetic of code."""

from __future__ import annotations

import re
from datetime import datetime

from memoryhub.engines.local.calendar import Span, unit_of
from memoryhub.engines.types import Granularity, TimeSpan, Utterance

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})\S*)?)?)?"
)


def time_of(first: str, last: str, words: str, utterance: Utterance) -> TimeSpan | None:
    """From the start of `first` to the end of `last`, in the utterance's time zone.

    None when `first` is no date, or only repeats the minute of the message, which small
    models fill in where no time is said. `words` are kept where the utterance really has them.
    """
    start = _unit(first, utterance.at)
    if start is None or start == unit_of("minute", utterance.at):
        return None
    end = _unit(last, utterance.at) or start
    if end.end <= start.start:
        end = start
    at = utterance.text.find(words) if words else -1
    text, at = (words, at) if at >= 0 else ("", 0)
    granularity = _granularity(start, end)
    return TimeSpan(start.start, end.end, granularity, text, at)


def _granularity(start: Span, end: Span) -> Granularity:
    days = (end.end - start.start).days
    return "week" if start.granularity == "day" and 2 < days <= 7 else start.granularity


def _unit(iso: str, at: datetime) -> Span | None:
    match = _ISO.fullmatch(iso.strip())
    if match is None:
        return None
    given = {name: int(value) for name, value in match.groupdict().items() if value}
    unit = list(given)[-1]
    try:
        return unit_of(unit, at.replace(**({"month": 1, "day": 1} | given)))  # type: ignore[arg-type]  # ints by name
    except (ValueError, OverflowError):
        return None
