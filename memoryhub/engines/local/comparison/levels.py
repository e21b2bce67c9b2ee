"""How well somebody speaks a language, which a higher level puts an end to: "my German is A2",
"passed B1 today"."""

from __future__ import annotations

import re
from typing import Literal

from memoryhub.engines.local.comparison.pairs import ClaimView
from memoryhub.engines.local.comparison.ties import is_unreal
from memoryhub.engines.local.wordlists import split_words

_LEVEL = re.compile(r"\b[ABC][12]\b")
_REACHED = re.compile(r"\b(?:passed|reached|got|made|finished|completed|is|has)\b", re.I)
_AIM = re.compile(r"\b(?:goal|aim|target|course|class|book|exam is|test is|studying for)\b", re.I)
_LANGUAGES = split_words("""
    arabic bengali cantonese catalan chinese croatian czech danish dutch english farsi finnish
    french german greek hebrew hindi hungarian icelandic irish italian japanese korean mandarin
    norwegian persian polish portuguese romanian russian serbian spanish swahili swedish tamil thai
    turkish ukrainian urdu vietnamese welsh yoruba
""")


def outgrows_level(new: ClaimView, old: ClaimView) -> Literal["", "surely", "likely"]:
    """Whether a level that was reached puts an end to a lower one of the same person: surely where
    both name the language, likely where only the older one does."""
    levels = [_LEVEL.findall(each.text) for each in (new, old)]
    if any(len(found) != 1 for found in levels) or new.person != old.person:
        return ""
    states = old.kind != "event" and old.polarity == "holds" and new.polarity == "holds"
    told = _REACHED.search(new.text) and not is_unreal(new.text)
    aims = any(_AIM.search(each.text) for each in (new, old))
    if not states or not told or aims or levels[0] <= levels[1]:
        return ""
    ours, theirs = (_name_languages(each.text) for each in (new, old))
    if not ours:
        return "likely"
    return "surely" if ours == theirs else ""


def _name_languages(text: str) -> set[str]:
    return {*re.findall(r"[a-z]+", text.lower())} & _LANGUAGES
