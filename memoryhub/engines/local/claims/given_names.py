"""What a newborn or a new pet is called, told behind how it came: "Naledi had her baby on Thursday.
They named him Rohan"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.wordlists import ANIMALS

_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2}"
_NAMED = re.compile(
    r"(?i:\b(?:they|we|she|he|i)(?:['’](?:ve|re|s|m)| have| has| are| is| am)?(?: just| finally)?"
    r" (?:named|naming|called|calling|christened) (?P<sex>him|her|it)) "
    rf"(?P<name>{_NAME}|[a-z]{{3,}}(?=\W*$))(?=\W*$|[,.;!]| (?i:after|and)\b)"
)
_HAS = r"(?i:['’]s| has| have|['’]ve)?(?i: just| finally)?"
_CAME = re.compile(
    rf"(?P<whose>(?i:\b(?:my|our) [\w'’ -]{{2,30}}?)|\b(?:[a-z]+ )?{_NAME}|(?i:\bi|\bwe|^\W*))"
    rf"{_HAS} ?(?:(?i:(?:had|gave birth to|welcomed)"
    r" (?:an?|her|his|their|our|my|the|another) (?:[\w-]+ ){0,2}?)"
    r"(?P<young>(?i:baby|boy|girl|son|daughter))(?! (?!on|in|at|last|this|yesterday|today|girl|boy"
    r"|and|after|early|we|they|she|he)[a-z])"  # no "baby shower"
    r"|(?i:(?:got|adopted|bought|rescued|getting|adopting) (?:an?|another) (?:[\w-]+ ){0,2}?)"
    rf"(?P<pet>{'|'.join(sorted(ANIMALS, key=len, reverse=True))}))\b"
)
_CHILD = {"boy": "son", "girl": "daughter", "son": "son", "daughter": "daughter"}
_CHILD_BY_SEX = {"him": "son", "her": "daughter"}
_FARTHEST = 200  # characters between how somebody came and what they are called


def read_given_names(text: str, before: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(who somebody is, where their name stands) of a sentence; `before`: what was said before."""
    found = _NAMED.search(text)
    came = list(_CAME.finditer(f"{before}{text[: found.start()]}"[-_FARTHEST:])) if found else []
    if found is None or not came:
        return
    whose = _name_owner(came[-1]["whose"].strip())
    child = _CHILD.get((came[-1]["young"] or "").lower()) or _CHILD_BY_SEX.get(found["sex"].lower())
    kind = came[-1]["pet"] or child or "baby"
    name = found["name"]
    yield f"{name.title() if name.islower() else name} is {whose} {kind}.", found.span("name")


def _name_owner(who: str) -> str:
    """("my sister Naledi") → "my sister Naledi's"; ("we") → "my"."""
    if who.lower() in ("i", "we", ""):
        return "my"
    named = re.search(rf"{_NAME}$", who)
    return f"{named[0] if named else who}'s"
