"""How claims without a predicate of the table are compared: by the words they consist of.

Only explicit endings ("quit smoking") and corrections use this, never plain statements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.language import HAN

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN = re.compile(f"[{HAN}]")
# What says that something ends or is denied, and what says nothing about what that is.
_STOP_WORD_LIST = """
quit quits quitting stop stops stopped give gives gave given up cut cuts out no not longer
anymore any more never nor ended ends finished finishes dropped drop leave leaves left
is are was were be been being am do does did doesn't don't didn't isn't aren't wasn't weren't
has have had hasn't haven't a an the their his her its my our to of in on at for with from go
goes going went and or now already last this week month year years ago recently finally
"""
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
_ENDING_HAN = re.compile(r"不再|再也不|再也没|没有|已经|戒掉|戒|停止|放弃|了|不|没|再|的")
_SUFFIX = re.compile(r"(?:ings?|ers?|ies|es|s|ed|y|e)$")
_MAX_CORRECTED_WORDS = 3  # words a correction may put in the place of others


def extract_stems(text: str, owner: str = "") -> frozenset[str]:
    """What a text speaks of, roughly stemmed, without its owner and words that say nothing."""
    left_out = {*_split_words(owner), *(f"{token}'s" for token in _split_words(owner))}
    words = [w for w in _split_words(text) if w not in _STOP_WORDS and w not in left_out]
    stems = frozenset(stem_word(word) for word in words if not _HAN.search(word))
    return stems | frozenset(_find_telling_han(text, owner))


def _find_telling_han(text: str, owner: str) -> list[str]:
    return _HAN.findall(_ENDING_HAN.sub("", text.replace(owner, "")))


def stem_word(word: str) -> str:
    """Enough of a word to find "smokes" and "smoker" by "smoking"."""
    short = _SUFFIX.sub("", word)
    return short if len(short) >= 3 else word


def _split_words(text: str) -> list[str]:
    return _TOKEN.findall(normalise_text(text))


_MIN_NAMED_HAN = 3  # characters in a row that name a thing: fewer stand in other words too


def is_about_same_thing(new: str, owner: str, held: str) -> bool:
    """Whether what a text denies is said by one that is held, in the same words."""
    said = "".join(_find_telling_han(new, owner))
    if said and (len(said) < _MIN_NAMED_HAN or said not in held):
        return False
    thing = extract_stems(new, owner)
    return bool(thing) and thing <= extract_stems(held)


_AND = re.compile(r",? (?:and|plus|also) |, (?:and |plus |also )?")


def names_one_of_several(thing: str, held: str) -> bool:
    """Whether it is one thing of a list: who stopped "ramipril" still takes the metformin of
    "metformin and ramipril"."""
    listed = [extract_stems(each) for each in _AND.split(held.rstrip("."))]
    named = extract_stems(thing)
    within = [named <= each for each in listed if each]
    return bool(named) and any(within) and not all(within)


def is_small_correction(new: str, old: str) -> bool:
    """Whether one is the other with a few words put right ("on Tuesday" for "on Monday")."""
    a, b = _split_words(new), _split_words(old)
    start = _count_shared_prefix(a, b)
    end = _count_shared_prefix(a[start:][::-1], b[start:][::-1])
    changed = (len(a) - start - end, len(b) - start - end)
    kept = start + end
    return (
        0 < max(changed) <= _MAX_CORRECTED_WORDS and min(changed) > 0 and kept >= max(2, *changed)
    )


def _count_shared_prefix(a: Sequence[str], b: Sequence[str]) -> int:
    found = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        found += 1
    return found
