"""Memory in the operator's words. Pure: `now` and the zone are parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

from notes.models import Fact

_MONTH = timedelta(days=60)


def ago(at: datetime, now: datetime) -> str:
    """ "3 hours ago"; in words up to two months, then the date."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < 45:
        return "just now"
    if abs(seconds) > _MONTH.total_seconds():
        return day(at, now)
    amount = _amount(abs(seconds))
    return f"{amount} ago" if seconds > 0 else f"in {amount}"


def _amount(seconds: float) -> str:
    for size, name in ((604800, "week"), (86400, "day"), (3600, "hour")):
        if seconds >= size * (2 if name == "week" else 1):
            return plural(int(seconds // size), name)
    return plural(max(1, round(seconds / 60)), "minute")


def amount(passed: timedelta) -> str:
    """ "3 hours", "5 days", "2 weeks"."""
    return _amount(passed.total_seconds())


def duration(took: timedelta) -> str:
    """ "12 s", "5 min", "2 h 10 min"."""
    seconds = max(0, round(took.total_seconds()))
    if seconds < 90:
        return f"{seconds} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def plural(count: int, noun: str) -> str:
    if count == 1:
        return f"{count:,} {noun}"
    several = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {several}"


def kind_words(kind: str) -> str:
    """A kind of row as an operator calls it."""
    return {
        "segmentpage": "place",
        "profileattribute": "profile entry",
        "coreblock": "block",
        "page": "exchange",
        "chain": "conversation",
    }.get(kind, kind)


ERASED_TARGETS = {
    "subject": "everything about somebody",
    "session": "a conversation",
    "facts": "memories",
    "turns": "what was said",
}
_ERASED = {
    "rederived": "derived again from the rest",
    "loosened": "kept for what else they rest on",
    "withheld": "withheld until rewritten",
    "reopened": "true again, as nothing contradicts them",
    "segmentpage": "places in a segment",
    "memberships": "places in a segment",
    "profileattribute": "attributes of the profile",
    "profile": "attributes of the profile",
    "entity": "entities",
    "wishes": "of these turns, requests to forget that said it again",
    "fingerprints": "marks of what was recalled",
    "answers": "kept answers",
    "goldenquestion": "golden questions",
}


def erased(kind: str) -> str:
    """What a count of a dry run or of a receipt counts: kinds of rows come in both numbers."""
    stem = kind.removesuffix("s") if kind.removesuffix("s") in _ERASED else kind
    words = _ERASED.get(stem) or (stem if stem.endswith("s") else f"{stem}s").replace("_", " ")
    return words[:1].upper() + words[1:]


def day(at: datetime, now: datetime) -> str:
    """ "12 May", with the year when it is not this one. `at` and `now` in the reader's zone."""
    return f"{at.day} {at:%b}" if at.year == now.year else f"{at.day} {at:%b %Y}"


def exact(at: datetime) -> str:
    return f"{at:%a} {at.day} {at:%b %Y, %H:%M:%S %Z}"


def validity(fact: Fact, successor: Fact | None, now: datetime, zone: tzinfo) -> str:
    """When the claim held, as a sentence without its full stop."""

    def on(at: datetime) -> str:
        return day(at.astimezone(zone), now.astimezone(zone))

    if fact.status == Fact.Status.RETRACTED:
        return f"Withdrawn{_when(fact, on)}: it was never true"
    if fact.retired_at:
        return f"Reworded on {on(fact.retired_at)}: a later version says more"
    if fact.valid_to and fact.valid_to <= now:
        return f"Believed until {on(fact.valid_to)}{_then(successor)}"
    return _open(fact, now, on)


def _when(fact: Fact, on: Callable[[datetime], str]) -> str:
    at = fact.retired_at or fact.valid_to
    return f" on {on(at)}" if at else ""


def _then(successor: Fact | None) -> str:
    return f", then replaced by “{successor.text}”" if successor else ""


def _open(fact: Fact, now: datetime, on: Callable[[datetime], str]) -> str:
    word = {"denied": "Not so", "ended": "Over", "planned": "Planned"}.get(
        fact.polarity, "Believed"
    )
    start = f"{word} {'from' if fact.valid_from > now else 'since'} {on(fact.valid_from)}"
    return f"{start}, until {on(fact.valid_to)}" if fact.valid_to else start


_STEPS = {
    "": "Said it",
    "send_message": "Said it",
    "core_append": "Added to the block “{label}”",
    "core_replace": "Changed words in the block “{label}”",
    "core_insert": "Inserted a line into the block “{label}”",
    "core_rethink": "Wrote the block “{label}” anew",
    "recall_search": "Looked for “{query}” in what was said",
    "recall_search_dates": "Read what was said from {start} to {end}",
    "archival_insert": "Kept in archival memory",
    "archival_search": "Looked for “{query}” in archival memory",
    "pause_heartbeats": "Rests for {minutes} minutes",
}


def step(tool: str, arguments: Mapping[str, Any] | str) -> str:
    """What an agent did in a step, in words. Arguments as sent say nothing that is sure."""
    if tool not in _STEPS or isinstance(arguments, str):
        return f"Tried to use “{tool[:40]}”"
    named = {name: str(value)[:80] for name, value in arguments.items()}
    page = f", page {named['page']}" if named.get("page", "1") != "1" else ""
    return _STEPS[tool].format_map(defaultdict(lambda: "…", named)) + page
