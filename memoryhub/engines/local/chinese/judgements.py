"""Small learned deciders over characters and words: what has ended, and what is worth keeping.

Their weights are learned by `lab train-reading` (memoryhub/lab/training/chinese/statements.py) and
shipped beside this file with the scores they had on dialogues they were not learned from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from memoryhub.engines.local.logistic import Logistic

TaggedWord = tuple[str, str]
JUDGEMENTS_FILE = Path(__file__).with_name("judgements.json")
_NUMBER, _LATIN = re.compile(r"\d+"), re.compile(r"[A-Za-z]+")
_NUMERALS = re.compile(r"[一二两三四五六七八九十百千万几]+")
_LONGEST = 60  # characters of a clause that are looked at
_TURN = re.compile(r"(?P<no>[不没未])(?P<rest>\w{1,8})了$")


@cache
def load_decider(name: str) -> Logistic:
    """One of the shipped deciders: "ended" or "worth"."""
    told = json.loads(JUDGEMENTS_FILE.read_text(encoding="utf-8"))
    return Logistic(told[name]["bias"], told[name]["bar"], told[name]["weights"])


def decide(name: str, features: Iterable[str]) -> bool:
    """What one of the shipped deciders says of something with these features."""
    decider = load_decider(name)
    return decider.estimate(dict.fromkeys(features, 1.0)) >= decider.bar


def list_clause_features(text: str, words: Sequence[TaggedWord]) -> Iterator[str]:
    """What a clause looks like; numbers and Latin words are told by their kind."""
    said = f"^{_normalise(text[:_LONGEST])}$"
    for size in (1, 2):
        yield from (said[i : i + size] for i in range(len(said) - size + 1))
    tags = ["^", *(tag for _, tag in words[:_LONGEST]), "$"]
    yield from (f"{a}/{b}" for a, b in pairwise(tags))
    yield f"nouns:{min(4, sum(tag.startswith('n') for tag in tags))}"
    yield f"words:{min(8, len(tags) // 2)}"


def list_ending_features(text: str, words: Sequence[TaggedWord]) -> Iterator[str]:
    """As of a clause, and the frames in which something ends: "no … any more", "V off"."""
    said = f"^{_normalise(text[:_LONGEST])}$"
    for size in (1, 2, 3):
        yield from (said[i : i + size] for i in range(len(said) - size + 1))
    yield from (f"{word}/{tag}" for word, tag in words[:_LONGEST])
    if turn := _TURN.search(text):
        yield f"turn:{turn['no']}"
        yield f"turn:{turn['no']}:{min(4, len(turn['rest']))}"
    verbs = [word for word, tag in words if tag.startswith("v")]
    yield f"verbs:{min(3, len(verbs))}"
    if verbs:
        yield f"first:{verbs[0]}"
        yield f"last:{verbs[-1]}"


def _normalise(text: str) -> str:
    text = _NUMBER.sub(lambda found: "0" * min(4, len(found[0])), text)
    return _LATIN.sub("a", _NUMERALS.sub(lambda found: "数" * min(3, len(found[0])), text))
