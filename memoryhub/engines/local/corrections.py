"""Corrections that name only what changes ("Actually it was Tuesday, not Monday"; spec E19).

The sentence that is put right is looked for in what was said before; told again with the
new words it is read like any other statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memoryhub.engines.local.pairing import Completed
from memoryhub.engines.local.speech import is_correction, plain
from memoryhub.engines.types import Utterance

_IN_PLACE = r"(?:on |in |at |to |from |a |an |the )?"
_WORDS = r"[\w'-]+(?: [\w'-]+){0,2}?"
_NEW, _OLD = rf"{_IN_PLACE}(?P<new>{_WORDS})", rf"{_IN_PLACE}(?P<old>{_WORDS})"
_SHAPES = (
    re.compile(
        r"\b(?:it|that|i|he|she|they)(?:'s| is| was| were|) (?:meant |said )?"
        rf"{_NEW},? (?:and )?not {_OLD}\W*$",
        re.I,
    ),
    re.compile(rf"\bnot {_OLD},? but {_NEW}\W*$", re.I),
    re.compile(rf"^\W*(?:sorry|oops|wait|no)\W+{_NEW},? not {_OLD}\W*$", re.I),
)
_DENIAL = re.compile(r"\bi (?:never said|didn't say|did not say) (?:that )?(?P<said>.+)", re.I)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


def corrected(utterance: Utterance, before: Iterable[Utterance]) -> Completed | None:
    """The earlier sentence put right; `before` runs from the latest utterance back."""
    for found in _SENTENCE.finditer(utterance.text):
        denied = _DENIAL.search(plain(found.group()))
        if denied:
            text = denied["said"][:1].upper() + denied["said"][1:]
            return Completed(text, found.start(), found.end(), denied=True)
        change = _change(found.group())
        if change is None:
            continue
        old, new = change
        pattern = re.compile(rf"\b{re.escape(old)}\b", re.I)
        for earlier in (u for u in before if u.speaker == utterance.speaker):
            for said in _SENTENCE.findall(earlier.text):
                if pattern.search(said) and "?" not in said:
                    return Completed(pattern.sub(new, said).strip(), found.start(), found.end())
    return None


def _change(sentence: str) -> tuple[str, str] | None:
    text = plain(sentence)
    if not is_correction(text):
        return None
    match = next((m for shape in _SHAPES if (m := shape.search(text))), None)
    return (match["old"], match["new"]) if match else None
