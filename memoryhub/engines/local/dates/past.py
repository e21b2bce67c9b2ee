"""Until when something was so that is told as past: "lived in Leeds until 2016"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoryhub.engines.types import TimeSpan

_UNTIL = re.compile(
    r"(?:\b(?:until|till|'?til|up to|through)(?: about| around| the end of)? ?"
    r"|(?:住|待|呆|干|做|工作|上班|任职|教书?|读|用|养|租|开|当|学)到了?)$",
    re.I,
)
_UNTIL_INSIDE = re.compile(r"^(?:until|till|'?til|up to|through)\b", re.I)
_BETWEEN = re.compile(r"^ ?(?:to|until|till|through|-|–|到|至|~|～) ?$", re.I)
_YEAR_AFTER = re.compile(
    r"^ ?(?:to|until|till|through|-|–|到|至) ?(?P<year>(?:19|20)\d\d)(?!\d)", re.I
)
_BEFORE = re.compile(r"^(?:之前|以前)")
_AND_THEN = re.compile(r"^(?:就|再|才)")  # "住到六月就走" is a plan
# A shift until nine or a stay until Friday is no state of anybody's.
_LASTING = ("month", "season", "year", "decade")


def widen_range(text: str, event: TimeSpan, times: Sequence[TimeSpan]) -> TimeSpan:
    """The time with the one it reaches to: ("from 2012 to 2016", 2012) → 2012 to 2016."""
    end = event.at + len(event.text)
    for later in times:
        if later.at >= end and later.end > event.start and _BETWEEN.match(text[end : later.at]):
            whole = text[event.at : later.at + len(later.text)]
            return replace(event, end=later.end, text=whole)
    found = _YEAR_AFTER.match(text[end:]) if event.granularity == "year" else None
    if found and int(found["year"]) > event.start.year:
        last = event.start.replace(year=int(found["year"]) + 1)
        return replace(event, end=last, text=text[event.at : end + found.end()])
    return event


def tells_bound(text: str, event: TimeSpan) -> bool:
    """Whether a time is until when something goes on, and not when it is: "until Friday"."""
    return bool(_UNTIL.search(text[: event.at]) or _UNTIL_INSIDE.match(event.text))


def find_stated_end(text: str, event: TimeSpan, at: datetime) -> datetime | None:
    """When what was said at `at` had ended by then, where the words beside its time say so: ("until
    2016") → the end of 2016. None where they say nothing, or of what is still to come."""
    if event.granularity not in _LASTING:
        return None
    if _BEFORE.match(text[event.at + len(event.text) :]) and event.start <= at:
        return event.start
    if _AND_THEN.match(text[event.at + len(event.text) :]):
        return None
    return event.end if tells_bound(text, event) and event.end <= at else None
