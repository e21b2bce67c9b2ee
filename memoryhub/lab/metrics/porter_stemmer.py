"""Porter's stemmer (M. F. Porter, An algorithm for suffix stripping, 1980).

LoCoMo's F1 compares stems made this way; the stems PostgreSQL makes for the hub's search are
those of a later algorithm and would give other figures. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

_VOWELS = "aeiou"
_STEP2_SUFFIXES: Mapping[str, str] = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP3_SUFFIXES: Mapping[str, str] = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP4_SUFFIXES = dict.fromkeys((
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
), "")  # fmt: skip


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """The stem of a lower-case word; words of one or two letters are their own."""
    if len(word) <= 2 or not word.isascii():
        return word
    word = _replace_final_y(_strip_past(_strip_plural(word)))
    word = _replace_suffix(word, _STEP2_SUFFIXES, lambda rest: _count_vowel_groups(rest) > 0)
    word = _replace_suffix(word, _STEP3_SUFFIXES, lambda rest: _count_vowel_groups(rest) > 0)
    return _strip_final_e(_strip_step4_suffix(word))


def _classify_letters(text: str) -> str:
    """c or v by letter; y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(text):
        vowel = letter in _VOWELS or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _count_vowel_groups(text: str) -> int:
    """m of [C](VC)^m[V]."""
    return len(re.findall("v+c+", _classify_letters(text)))


def _is_short(text: str) -> bool:
    """Ends consonant, vowel, consonant, the last of them not w, x or y."""
    return _classify_letters(text)[-3:] == "cvc" and text[-1] not in "wxy"


def _strip_plural(word: str) -> str:
    for suffix, new in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word.removesuffix(suffix) + new
    return word


def _strip_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _count_vowel_groups(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _classify_letters(rest):
            return _mend_stem(rest)
        if rest != word:
            return word
    return word


def _mend_stem(rest: str) -> str:
    """What a word without its -ed or -ing gets back or loses besides."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    doubled = rest[-1:] == rest[-2:-1] and _classify_letters(rest)[-1:] == "c"
    if doubled and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _count_vowel_groups(rest) == 1 and _is_short(rest) else rest


def _replace_final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _classify_letters(word[:-1]) else word


def _replace_suffix(word: str, table: Mapping[str, str], holds: Callable[[str], bool]) -> str:
    """By the longest suffix that fits; where its condition does not hold nothing is done."""
    suffix = max((s for s in table if word.endswith(s)), key=len, default="")
    rest = word.removesuffix(suffix)
    return rest + table[suffix] if suffix and holds(rest) else word


def _strip_step4_suffix(word: str) -> str:
    """-ion only after s or t."""

    def holds(rest: str) -> bool:
        fits = not word.endswith("ion") or rest[-1:] in ("s", "t")
        return fits and _count_vowel_groups(rest) > 1

    return _replace_suffix(word, _STEP4_SUFFIXES, holds)


def _strip_final_e(word: str) -> str:
    if word.endswith("e"):
        m = _count_vowel_groups(word[:-1])
        if m > 1 or (m == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _count_vowel_groups(word) > 1:
        word = word[:-1]
    return word
