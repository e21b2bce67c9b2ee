"""Corrections that name only what changes ("Actually it was Tuesday, not Monday"; spec E19).

The sentence that is put right is looked for in what was said before; told again with the
new words it is read like any other statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memoryhub.engines.local.claims.short_answers import CompletedStatement
from memoryhub.engines.local.grammar.speech import is_correction, normalise_quotes
from memoryhub.engines.types import Utterance

_IN_PLACE = r"(?:on |in |at |to |from |a |an |the )?"
_WORDS = r"[\w'-]+(?: [\w'-]+){0,2}?"
_NEW, _OLD = rf"{_IN_PLACE}(?P<new>{_WORDS})", rf"{_IN_PLACE}(?P<old>{_WORDS})"
_CORRECTION_PATTERNS = (
    re.compile(
        r"\b(?:it|that|i|he|she|they)(?:'s| is| was| were|) (?:meant |said )?"
        rf"{_NEW},? (?:and )?not {_OLD}\W*$",
        re.I,
    ),
    re.compile(rf"\bnot {_OLD},? but {_NEW}\W*$", re.I),
    re.compile(rf"^\W*(?:sorry|oops|wait|no)\W+{_NEW},? not {_OLD}\W*$", re.I),
)
# "Otis was 5 and not 4": what was said of Otis before, with a 4 in it.
_NAMED_CORRECTION = re.compile(
    rf"\b(?P<who>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?) (?:is|was|are|were) {_NEW},? (?:and )?not {_OLD}"
    r"(?=\W*$|[,;])"
)
_DENIAL = re.compile(r"\bi (?:never said|didn't say|did not say) (?:that )?(?P<said>.+)", re.I)
SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


def apply_correction(
    utterance: Utterance, before: Iterable[Utterance]
) -> CompletedStatement | None:
    """The earlier sentence put right; `before` runs from the latest utterance back."""
    for found in SENTENCE.finditer(utterance.text):
        denied = _DENIAL.search(normalise_quotes(found.group()))
        if denied:
            text = denied["said"][:1].upper() + denied["said"][1:]
            return CompletedStatement(text, found.start(), found.end(), denied=True)
        change = _parse_change(found.group())
        if change is None:
            continue
        old, new, who = change
        pattern = re.compile(rf"\b{re.escape(old)}\b", re.I)
        for earlier in (u for u in before if u.speaker == utterance.speaker):
            for said in SENTENCE.findall(earlier.text):
                if pattern.search(said) and who in said and "?" not in said:
                    text = pattern.sub(_drop_repeated(new, old, said), said).strip()
                    return CompletedStatement(text, found.start(), found.end())
    return None


def _drop_repeated(new: str, old: str, said: str) -> str:
    """ "41" of "41 Ash Lane", where what was said goes on with the rest: "14 Ash Lane, flat 3"."""
    behind = re.split(rf"\b{re.escape(old)}\b", said, maxsplit=1, flags=re.I)[-1].casefold()
    words = new.split()
    tails = (" ".join(words[at:]) for at in range(1, len(words)))
    same = next((t for t in tails if re.match(rf" {re.escape(t.casefold())}\b", behind)), "")
    return new[: len(new) - len(same)].strip()


def _parse_change(sentence: str) -> tuple[str, str, str] | None:
    """What was said, what is so instead, and of whom, "" where nobody is named."""
    text = normalise_quotes(sentence)
    if named := _NAMED_CORRECTION.search(text):
        return named["old"], named["new"], named["who"]
    if not is_correction(text):
        return None
    match = next((m for shape in _CORRECTION_PATTERNS if (m := shape.search(text))), None)
    return (match["old"], match["new"], "") if match else None
