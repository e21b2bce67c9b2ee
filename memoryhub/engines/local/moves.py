"""Moving out ("I moved out of Elm Street"): what no longer holds, where only a movement is told."""

from __future__ import annotations

import re
from dataclasses import replace

from memoryhub.engines.types import FactCandidate

_LEFT = re.compile(r"\bmoved out(?: of (?P<place>[^,.;!?]+))?", re.I)
_STREET = re.compile(r"\d+\w? [A-Z]\w*|.*\b(?:street|road|avenue|lane|square)\b", re.I)
_HOUSING = re.compile(r"\b(?:flat|apartment|house|home|place|room|studio|dorm\w*)\b", re.I)
_LATER = re.compile(r" (?:last|this|in|on|at|when|because|after|before|yesterday|today)\b.*")


def moved_out(fact: FactCandidate) -> FactCandidate:
    """The fact as the end of an address or a home, if it tells of moving out of one."""
    found = _LEFT.search(fact.text)
    if found is None or fact.polarity == "planned":
        return fact
    named = found["place"] or ""
    place = named if _HOUSING.search(named) else _LATER.sub("", named)
    if not place or _STREET.match(place):
        return replace(fact, polarity="ended", predicate_key="address", o=place)
    if _HOUSING.search(place):
        return replace(fact, polarity="ended", predicate_key="address", o="")
    if place[:1].isupper():
        return replace(fact, polarity="ended", predicate_key="lives_in", o=place)
    return fact
