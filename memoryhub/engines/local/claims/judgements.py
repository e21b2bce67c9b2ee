"""Learned judgements of what was read: whether a statement is worth keeping, and whether it says
that something is over ("binned the gym", "me and Tom are done").

Logistic regressions over the vector of the words, some of the words, and what the parse found.
`lab train-reading` learns them from the development half of the dialogues with updates
(memoryhub/lab/training/statements.py) and writes `judgements.json` with its scores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.onnx import get_onnx_minilm
from memoryhub.engines.local.language import list_word_pairs
from memoryhub.engines.local.logistic import Logistic
from memoryhub.engines.types import FactCandidate

JUDGEMENTS_FILE = Path(__file__).with_name("judgements.json")
MAX_CHARACTERS = 64  # of a statement, whose point comes early
# How much the vector weighs beside features that are 0 or 1.
VECTOR_SCALE = 3.0


class JudgedStatement(NamedTuple):
    """A fact, and the words it was read from."""

    fact: FactCandidate
    words: str


def build_statement(fact: FactCandidate, text: str) -> JudgedStatement:
    """The fact with its words in the `text` of its turn; where these say too little by
    themselves ("yes"), with its own."""
    (source,) = fact.sources
    words = text[source.start : source.end]
    short = len(words.split()) < 3 and not fact.text.startswith('Asked "')
    return JudgedStatement(fact, fact.text.removeprefix(f"{fact.speaker}'s ") if short else words)


class StatementChances(NamedTuple):
    """Chances between 0 and 1."""

    worth: float
    ended: float


@dataclass(frozen=True, slots=True)
class StatementDecider:
    """`traits`: what they are worth, and from which chance on it is so. Beside them `vector`, a
    weight for each of the 384 values, and `words`, weights by word or pair of words."""

    traits: Logistic
    vector: NDArray[np.float32]
    words: Mapping[str, float]

    @property
    def bar(self) -> float:
        return self.traits.bar

    def estimate(self, vector: NDArray[np.float32], statement: JudgedStatement) -> float:
        """The chance that it is so."""
        said = VECTOR_SCALE * float(self.vector @ vector)
        said += sum(
            self.words.get(each, 0.0) for each in list_word_pairs(statement.words[:MAX_CHARACTERS])
        )
        return self.traits.estimate(describe_statement(statement), said)


@cache
def load_decider(name: str) -> StatementDecider:
    """`worth` or `ended`, as last learned."""
    given = json.loads(JUDGEMENTS_FILE.read_text(encoding="utf-8"))[name]
    traits = Logistic(given["bias"], given["bar"], given["traits"])
    return StatementDecider(traits, np.asarray(given["vector"], np.float32), given["words"])


def judge_statements(statements: Sequence[JudgedStatement]) -> list[StatementChances]:
    """What the deciders say of each, in order; all vectors are made in one call."""
    worth, ended = load_decider("worth"), load_decider("ended")
    vectors = embed_words([each.words for each in statements])
    return [
        StatementChances(worth.estimate(vector, each), ended.estimate(vector, each))
        for vector, each in zip(vectors, statements, strict=True)
    ]


def embed_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 384): MiniLM's vectors of the beginnings of `texts`."""
    return get_onnx_minilm().embed([text[:MAX_CHARACTERS] for text in texts])


def describe_statement(statement: JudgedStatement) -> dict[str, float]:
    """Traits of a statement besides its words: 0 or 1, and its length."""
    fact, words = statement
    low = f" {words.lower()} "
    return {
        "planned": fact.polarity == "planned",
        "denied": fact.polarity == "denied",
        "ended": fact.polarity == "ended",
        "keyed": bool(fact.predicate_key),
        "verbless": fact.verb == ":",
        "asked": fact.text.startswith('Asked "'),
        "own": fact.owner == fact.speaker,
        "number": any(character.isdigit() for character in words),
        "name": any(word[:1].isupper() for word in words.split()[1:]),
        "exclaimed": "!" in words,
        "my": " my " in low,
        "me": " me " in low,
        "event": fact.kind == "event",
        "preference": fact.kind == "preference",
        "length": min(len(words.split()), 20) / 20,
    }
