"""Porter's stemmer (M. F. Porter, An algorithm for suffix stripping, 1980).

LoCoMo's F1 compares stems made this way; the stems PostgreSQL makes for the hub's search are
those of a later algorithm and would give other figures. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

_VOWELS = "aeiou"
_STEP2: Mapping[str, str] = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP3: Mapping[str, str] = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; words of one or two letters are their own."""
    if len(word) <= 2 or not word.isascii():
        return word
    for step in (_plural, _past, _final_y, _long, _longer, _longest, _final_e):
        word = step(word)
    return word


def _shape(text: str) -> str:
    """c or v by letter; y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(text):
        vowel = letter in _VOWELS or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(text: str) -> int:
    """m of [C](VC)^m[V]."""
    return len(re.findall("v+c+", _shape(text)))


def _doubled(text: str) -> bool:
    return len(text) > 1 and text[-1] == text[-2] and _shape(text)[-1] == "c"


def _short(text: str) -> bool:
    """Ends consonant, vowel, consonant, the last of them not w, x or y."""
    return _shape(text)[-3:] == "cvc" and text[-1] not in "wxy"


def _plural(word: str) -> str:
    for suffix, new in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word.removesuffix(suffix) + new
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            return _mended(rest)
        if rest != word:
            return word
    return word


def _mended(rest: str) -> str:
    """What a word without its -ed or -ing gets back or loses besides."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _doubled(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short(rest) else rest


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, table: Mapping[str, str], holds: Callable[[str], bool]) -> str:
    """By the longest suffix that fits; where its condition does not hold nothing is done."""
    suffix = max((s for s in table if word.endswith(s)), key=len, default="")
    rest = word.removesuffix(suffix)
    return rest + table[suffix] if suffix and holds(rest) else word


def _long(word: str) -> str:
    return _replaced(word, _STEP2, lambda rest: _measure(rest) > 0)


def _longer(word: str) -> str:
    return _replaced(word, _STEP3, lambda rest: _measure(rest) > 0)


def _longest(word: str) -> str:
    table = dict.fromkeys(_STEP4, "")
    if word.endswith("ion"):
        return _replaced(word, table, lambda rest: _measure(rest) > 1 and rest[-1:] in ("s", "t"))
    return _replaced(word, table, lambda rest: _measure(rest) > 1)


def _final_e(word: str) -> str:
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
