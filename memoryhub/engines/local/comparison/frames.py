"""Claims that say the same of somebody but for one value: "Ana pays £40 for it", "Ana pays £45".

What stands around the value is the slot, in whatever words it is told; the value itself is of one
kind on both sides: a number, a weekday, a name. Nothing is known here of verbs or nouns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.wordlists import JOBS, PEOPLE, split_words

SELF = "\N{BULLET}"  # stands for the person whom all is about
_SOMEBODIES = PEOPLE | JOBS
_SHORTEST_FRAME, _LONGEST_VALUE = 2, 4  # words
_SHORTEST_FRAME_ZH, _LONGEST_VALUE_ZH = 3, 8  # characters
_TIME = re.compile(
    r"(?:,? (?:now|these days|nowadays|currently|instead|from now on|any ?more"
    r"|at the (?:moment|minute)"
    r"|today|yesterday|(?:last|this) (?:week|month|year|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|a month|per month"
    r"|(?:once|twice|three times|\w+ times) a (?:week|month|day)))+$",
    re.I,
)
_TIME_ZH = re.compile("现在|目前|如今|已经|了(?=$|[，。])|[。！!]")
_WORD = re.compile(rf"[\w@{SELF}][\w'’@.:/-]*\w|[\w£$€{SELF}]")
_PASSING_WORDS = split_words("""
    now currently actually still just again also only about around a an the
""")
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?$|weekends?$", re.I)
_NUMERAL_ZH = r"[\d.:一二两三四五六七八九十百千万半]"
_AMOUNT_ZH = re.compile(rf"{_NUMERAL_ZH}+(?P<unit>[^\d一二两三四五六七八九十]{{0,3}})")
_BEFORE_VALUE_ZH = re.compile("[姓叫是在归用坐开跟住读喝]$")


def mark_subject(text: str, names: Collection[str]) -> str:
    """The text with a sign in place of the names of the person whom all is about."""
    return _mark_names(text, tuple(sorted(set(names) - {""}, key=lambda n: (-len(n), n))))


@lru_cache(maxsize=4096)
def _mark_names(text: str, names: tuple[str, ...]) -> str:
    chinese = detect_language(text) == "zh"
    for name in names:
        pattern = re.escape(name)
        # Not within an address of theirs: "ana@example.org".
        whole = pattern if chinese else rf"(?<![\w@.]){pattern}(?![\w@]|\.\w)"
        text = re.sub(whole, SELF, text, flags=re.I)
    return text


def strip_time(text: str) -> str:
    """Without what an English sentence says last of when it is so."""
    return _TIME.sub("", text)


def match_frames(new: str, old: str) -> str:
    """Of what kind the value is by which alone two claims differ ("number"), "" where they differ
    otherwise. In both the subject is marked."""
    if detect_language(new) == "zh":
        return _match_chinese_frames(_TIME_ZH.sub("", new), _TIME_ZH.sub("", old))
    a, b = _list_words(new), _list_words(old)
    start, ours, theirs = _cut_shared([w.casefold() for w in a], [w.casefold() for w in b])
    # "Bea is in Leeds", "Bea is in marketing": there is more than one thing that somebody is.
    told = [word.casefold() for word in a[1:start]]
    vague = told[:1] in (["is"], ["was"], ["are"], ["has"]) and len(told) < _SHORTEST_FRAME + 1
    # "Bea's dad is 71", "Bea's dad is on metformin, 500 twice a day": of a person still more.
    somebody = len(told) > 1 and told[-1] in ("is", "was", "are") and told[-2] in _SOMEBODIES
    longest = 1 if somebody else _LONGEST_VALUE
    if start < _SHORTEST_FRAME or vague or not _are_values(ours, theirs, longest):
        return ""
    kinds = ({_find_kind(w) for w in words[start : start + size]} - {""} for words, size in (
        (a, len(ours)), (b, len(theirs))
    ))  # fmt: skip
    return min(next(kinds) & next(kinds), default="")


def _match_chinese_frames(a: str, b: str) -> str:
    start, ours, theirs = _cut_shared(a, b)
    if start < _SHORTEST_FRAME_ZH or not _are_values(ours, theirs, _LONGEST_VALUE_ZH):
        return ""
    one, other = (_AMOUNT_ZH.fullmatch("".join(each)) for each in (ours, theirs))
    if one and other:
        return "number" if one["unit"] == other["unit"] else ""
    return "value" if _BEFORE_VALUE_ZH.search(a[:start]) else ""


def _are_values(ours: Sequence[str], theirs: Sequence[str], longest: int) -> bool:
    return 0 < len(ours) <= longest and 0 < len(theirs) <= longest


def _cut_shared(a: Sequence[str], b: Sequence[str]) -> tuple[int, Sequence[str], Sequence[str]]:
    """How many they share at the start, and what is left of each without that and a shared end."""
    shorter = min(len(a), len(b))
    start = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    left = shorter - start
    end = next((n for n in range(left) if a[-1 - n] != b[-1 - n]), left)
    return start, a[start : len(a) - end], b[start : len(b) - end]


def _find_kind(word: str) -> str:
    if _WEEKDAY.match(word):
        return "weekday"
    if any(c.isdigit() for c in word):
        return "number"
    return "name" if word[:1].isupper() else ""


@lru_cache(maxsize=4096)
def _list_words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(strip_time(text.strip().rstrip(".!")))
    return tuple(word for word in words if word.casefold() not in _PASSING_WORDS)
