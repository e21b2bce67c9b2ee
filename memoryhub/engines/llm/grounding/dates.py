"""ISO dates in a reply as intervals: the words of a model, the arithmetic of code."""

from __future__ import annotations

import re
from datetime import datetime

from memoryhub.engines.local.dates.calendar import DateRange, resolve_unit
from memoryhub.engines.types import Granularity, TimeSpan, Utterance

_ISO_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})\S*)?)?)?"
)


def parse_time_span(first: str, last: str, words: str, utterance: Utterance) -> TimeSpan | None:
    """From the start of `first` to the end of `last`, or either alone, in the time zone
    of the utterance.

    None when there is no date, or only repeats the minute of the message, which small
    models fill in where no time is said. `words` are kept where the utterance really has them.
    """
    start = _parse_unit(first or last, utterance.at)
    if start is None or start == resolve_unit("minute", utterance.at):
        return None
    end = _parse_unit(last, utterance.at) or start
    if end.end <= start.start:
        end = start
    at = utterance.text.find(words) if words else -1
    text, at = (words, at) if at >= 0 else ("", 0)
    granularity = _choose_granularity(start, end)
    return TimeSpan(start.start, end.end, granularity, text, at)


def _choose_granularity(start: DateRange, end: DateRange) -> Granularity:
    days = (end.end - start.start).days
    return "week" if start.granularity == "day" and 2 < days <= 7 else start.granularity


def _parse_unit(iso: str, at: datetime) -> DateRange | None:
    match = _ISO_DATE.fullmatch(iso.strip())
    if match is None:
        return None
    given = {name: int(value) for name, value in match.groupdict().items() if value}
    unit = list(given)[-1]
    try:
        return resolve_unit(unit, at.replace(**({"month": 1, "day": 1} | given)))  # type: ignore[arg-type]  # ints by name
    except (ValueError, OverflowError):
        return None
