"""Word-level differences of two texts. Pure.

Words are told apart by spaces and signs; in scripts without spaces between words, every
character is a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

ChangeKind = Literal["same", "gone", "new"]
# Chinese, Japanese and Korean signs one by one; runs of other letters; runs of space; signs.
_WORD_PATTERN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
    r"|\s+|[^\w\s]"
)
# Comparing takes time with the square of this.
MAX_COMPARED_WORDS = 2_000
# Texts with less in common than this are shown one after the other.
MIN_SIMILARITY = 0.3
# Of what stays the same, so many characters are shown at either side of a change.
CONTEXT_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class DiffPart:
    text: str
    how: ChangeKind


def split_words(text: str) -> list[str]:
    """The text in words; together they are the text."""
    return _WORD_PATTERN.findall(text)


def diff_texts(before: str, after: str) -> list[DiffPart]:
    """From one text to the other: what stays, what goes, what comes, in reading order."""
    if before == after:
        return [DiffPart(after, "same")] if after else []
    old, new = split_words(before), split_words(after)
    if max(len(old), len(new)) > MAX_COMPARED_WORDS:
        return _replace_whole(before, after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < MIN_SIMILARITY:
        return _replace_whole(before, after)
    parts: list[DiffPart] = []
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "equal":
            parts.append(DiffPart("".join(new[c:d]), "same"))
        else:
            parts += _replace_whole("".join(old[a:b]), "".join(new[c:d]))
    return _join_changes(parts)


def _replace_whole(before: str, after: str) -> list[DiffPart]:
    gone, new = DiffPart(before, "gone"), DiffPart(after, "new")
    return [part for part in (gone, new) if part.text]


def _join_changes(parts: Sequence[DiffPart]) -> list[DiffPart]:
    """Changes with nothing but space between them read as one: gone words first, then the new."""
    joined: list[DiffPart] = []
    gone = new = ""
    for at, part in enumerate(parts):
        between = part.how == "same" and not part.text.strip() and 0 < at < len(parts) - 1
        if part.how == "gone" or between:
            gone += part.text
        if part.how == "new" or between:
            new += part.text
        if part.how == "same" and not between:
            joined += [*_replace_whole(gone if gone.strip() else "", new), part]
            gone = new = ""
    return [*joined, *_replace_whole(gone if gone.strip() else "", new)]


def diff_lists(before: Sequence[str], after: Sequence[str]) -> list[DiffPart]:
    """The same of two lists of words, whose order says nothing."""
    kept = [DiffPart(each, "same") for each in after if each in before]
    gone = [DiffPart(each, "gone") for each in before if each not in after]
    return [*kept, *gone, *(DiffPart(each, "new") for each in after if each not in before)]


def shorten_parts(parts: Sequence[DiffPart], around: int = CONTEXT_CHARACTERS) -> list[DiffPart]:
    """With long stretches that stay the same cut down to what stands beside a change."""
    last = len(parts) - 1
    return [
        DiffPart(_cut_middle(part.text, at > 0, at < last, around), "same")
        if part.how == "same"
        else part
        for at, part in enumerate(parts)
    ]


def _cut_middle(text: str, after_change: bool, before_change: bool, around: int) -> str:
    kept = around * (after_change + before_change)
    if len(text) <= kept + 20:
        return text
    head = text[:around] if after_change else ""
    tail = text[-around:] if before_change else ""
    return f"{head} … {tail}"
