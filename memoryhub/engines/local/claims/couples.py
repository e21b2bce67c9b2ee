"""What becomes of a couple, told by both of its names: "me and Imani made it official", "Mateo and
I got engaged", "me and Trent are over"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.grammar.verbs import is_dictionary_word
from memoryhub.engines.local.wordlists import PEOPLE

_COUPLE = (
    r"(?:\b(?P<name>[A-Za-z][\w'’-]+) and (?i:i|me)|\b(?i:me|i) and (?P<other>[A-Za-z][\w'’-]+))"
    r"(?i:(?: have| are|['’]ve|['’]re| just| finally| officially| sadly| now)*)"
)
_OFFICIAL = re.compile(
    rf"{_COUPLE}(?i: made it official| an item| a couple| going out| official| dating"
    r"| started (?:dating|going out)| got together)(?=\W*$|[,.;!]| (?:on|in|last|this|now)\b)"
)
_ENGAGED = re.compile(rf"{_COUPLE}(?i: got| gotten)?(?i: engaged)(?=\W*$|[\W]| on| at| over| last)")
_OVER = re.compile(
    rf"{_COUPLE}(?i:"
    r" (?:decided|agreed) to (?:end (?:things|it)|split(?: up)?|separate|part ways|break up"
    r"|call it (?:a day|quits)|go our separate ways)"
    r"| ended (?:things|it)| called it (?:quits|a day)|(?: gone| went) our separate ways"
    r"| parted ways|(?: over| no more))(?=\W*$|[,.;!]| (?:on|last|this|yesterday|today|now)\b)"
)
# "It's over with Pete", "Pete dumped me".
_LEFT_BY = re.compile(
    r"\b(?i:it['’]?s|it is|things are) (?i:all )?(?i:over|off|done) (?i:with|between me and)"
    r" (?P<name>[A-Z][\w'’-]+)(?=\W*$|[,.;!])"
    r"|\b(?P<other>[A-Z][\w'’-]+)(?i:['’]?s| has| just| finally| only)*"
    r" (?i:dumped|broke up with|finished with|split up with) (?i:me)\b"
)
# What is told so was long ago, and what has come of it since is told elsewhere.
_LONG_AGO = re.compile(r"\b(?:(?:19|20)\d\d|ago|when|before|back in|years?|months?)\b", re.I)


def read_couples(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(a state, where the words that tell it stand)."""
    lately = not _LONG_AGO.search(text)
    if lately and (found := _OFFICIAL.search(text)) and (name := _name_partner(found)):
        yield f"I am dating {name}.", found.span()
    if lately and (found := _ENGAGED.search(text)) and (name := _name_partner(found)):
        yield f"{name} is now engaged to me.", found.span()
    if (found := _OVER.search(text) or _LEFT_BY.search(text)) and (name := _name_partner(found)):
        yield f"I broke up with {name}.", found.span()


def _name_partner(found: re.Match[str]) -> str:
    name = found["name"] or found["other"]
    plain = name.islower() and is_dictionary_word(name)
    return "" if plain or name.lower() in PEOPLE else name[:1].upper() + name[1:]
