"""`lab train-reading`: what is worth keeping of what people say, and what says that it is over.

Examples are the statements that the engine reads of dialogues with updates before anything is
judged, marked by the dialogues' readings. Readings hold only what matters, so what they lack is
taken for not worth keeping; of a message with an ending, the statement it rests on is one.
`endings.txt` adds sentences of our own that tell of an ending (+) or do not (-), all of them worth
keeping, and `chatter.txt` some that are not.
The scores beside the weights are those on the dialogues of each author, learned from the others'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.claims.judgements import (
    MAX_CHARACTERS,
    VECTOR_SCALE,
    JudgedStatement,
    build_statement,
    describe_statement,
    embed_words,
)
from memoryhub.engines.local.language import list_word_pairs
from memoryhub.engines.types import FactCandidate
from memoryhub.lab.training.judgements import is_kept, leave_authors_out
from memoryhub.lab.truth.dialogues import TruthDialogue, TruthTurn, is_matching
from memoryhub.lab.truth.reading import build_exchanges

ENDINGS_FILE = Path(__file__).with_name("endings.txt")
CHATTER_FILE = Path(__file__).with_name("chatter.txt")
_STRENGTH = 0.3  # C of the regressions: how far the examples may pull
_RARE = 3  # words of fewer sentences of our own are no features
_KEEP = 0.98  # the share of what is worth keeping that the bar lets through
_ENDED_BAR = 0.35

# What a sentence of our own is taken for.
_OWN_FACT = FactCandidate(text="", owner="I", speaker="I", pattern="SVO", subject="I", verb="is")
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Example:
    """`author` of the dialogue. `ended` None: its reading does not tell."""

    author: str
    statement: JudgedStatement
    worth: bool
    ended: bool | None


def train_judgements(dialogues: Sequence[TruthDialogue], on: str) -> dict[str, Any]:
    """Both deciders with their scores, as `judgements.json` holds them."""
    examples = collect_examples(dialogues)
    authors = [each.author for each in examples]
    spoken = [each.statement.words for each in examples]
    stated = [each.statement for each in examples]
    vectors = embed_words(spoken) * VECTOR_SCALE
    names = list(describe_statement(examples[0].statement))

    lines = _read_lines(ENDINGS_FILE)
    own, is_own = [line[2:] for line in lines], np.array([line[0] == "+" for line in lines])
    chatter = _read_lines(CHATTER_FILE)
    made = embed_words([*own, *chatter]) * VECTOR_SCALE

    is_worth = np.array([each.worth for each in examples])
    marks = np.concatenate([is_worth, np.arange(len(made)) < len(own)])
    stated += [JudgedStatement(_OWN_FACT, words) for words in [*own, *chatter]]
    values = np.hstack([np.vstack([vectors, made]), _build_traits(stated)])
    chances = _cross_predict(values, marks, [*authors, *[""] * len(made)])
    bar = float(np.quantile(chances[is_worth], 1 - _KEEP))
    worth = _describe(_fit(values, marks), bar, [], names) | _score(chances, is_worth, bar)

    vocabulary = _choose_words(own)
    told = np.array([each.ended is not None for each in examples])
    is_ended = np.array([bool(each.ended) for each in examples])[told]
    marks = np.concatenate([is_ended, is_own])
    words = _build_words([*compress(spoken, told), *own], vocabulary)
    values = np.hstack([np.vstack([vectors[told], made[: len(own)]]), words])
    chances = _cross_predict(values, marks, [*compress(authors, told), *[""] * len(own)])
    ended = _describe(_fit(values, marks), _ENDED_BAR, vocabulary, [])
    ended |= _score(chances, is_ended, _ENDED_BAR)
    return {"learned": on, "examples": len(examples), "worth": worth, "ended": ended}


def collect_examples(dialogues: Sequence[TruthDialogue]) -> list[Example]:
    """The statements that people make in the dialogues, marked by their readings."""
    engine = LocalEngine(judges=False)
    asked = [(d, turns, e) for d in dialogues for turns, e in build_exchanges(d)]
    built = engine.extract_memories([exchange for _, _, exchange in asked])
    found = []
    for (dialogue, turns, _), extraction in zip(asked, built, strict=True):
        for turn in (t for t in turns if t.role == "user"):
            told = [f for f in extraction.facts if f.sources[0].handle == turn.ref]
            found += [_mark(dialogue, turn, fact, len(told) == 1) for fact in told]
    return found


def _mark(dialogue: TruthDialogue, turn: TruthTurn, fact: FactCandidate, only: bool) -> Example:
    ended = _mark_ending(dialogue, turn, fact, only)
    worth = bool(ended) or is_kept(dialogue, fact)
    return Example(dialogue.author, build_statement(fact, turn.text), worth, ended)


def _mark_ending(
    dialogue: TruthDialogue, turn: TruthTurn, fact: FactCandidate, only: bool
) -> bool | None:
    changes = dialogue.changes.get(turn.ref, ())
    endings = [change for change in changes if change.do == "end"]
    source = fact.sources[0]
    told = any(c.id and c.do != "end" and is_matching(c.match, fact.text) for c in changes)
    if not endings:
        replacing = any(change.do in ("replace", "wrong") for change in changes)
        return None if replacing and not told else False
    places = [(turn.text.find(c.quote), len(c.quote)) for c in endings if c.quote]
    if places:
        return any(at < source.end and source.start < at + size for at, size in places if at >= 0)
    return True if only else False if told else None


def _read_lines(file: Path) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").splitlines() if line]


def _build_traits(statements: Sequence[JudgedStatement]) -> Floats:
    return np.array([list(describe_statement(each).values()) for each in statements], float)


def _choose_words(texts: Sequence[str]) -> list[str]:
    counted = Counter(word for text in texts for word in list_word_pairs(text[:MAX_CHARACTERS]))
    return sorted(word for word, count in counted.items() if count >= _RARE)


def _build_words(texts: Sequence[str], vocabulary: Sequence[str]) -> Floats:
    found = [list_word_pairs(text[:MAX_CHARACTERS]) for text in texts]
    return np.array([[word in words for word in vocabulary] for words in found], float)


def _fit(values: Floats, marks: Flags) -> LogisticRegression:
    return LogisticRegression(C=_STRENGTH, max_iter=3000).fit(values, marks)


def _cross_predict(values: Floats, marks: Flags, authors: Sequence[str]) -> Floats:
    """Chances of the examples with an author by what the others teach, in order."""
    chances = np.zeros(len(marks))
    for known, left in leave_authors_out(authors):
        chances[left] = _fit(values[known], marks[known]).predict_proba(values[left])[:, 1]
    told: Floats = chances[np.array(authors) != ""]
    return told


def _score(chances: Floats, marks: Flags, bar: float) -> dict[str, Any]:
    over = chances >= bar
    return {
        "scores": {
            "auc": round(float(roc_auc_score(marks, chances)), 3),
            "precision": round(float(marks[over].mean()), 3),
            "recall": round(float(over[marks].mean()), 3),
        }
    }


def _describe(
    model: LogisticRegression, bar: float, words: Sequence[str], traits: Sequence[str]
) -> dict[str, Any]:
    weights = [round(float(weight), 3) for weight in model.coef_[0]]
    size = len(weights) - len(words) - len(traits)
    return {
        "bias": round(float(model.intercept_[0]), 3),
        "bar": round(bar, 3),
        "vector": weights[:size],
        "words": dict(zip(words, weights[size : size + len(words)], strict=True)),
        "traits": dict(zip(traits, weights[size + len(words) :], strict=True)),
    }
