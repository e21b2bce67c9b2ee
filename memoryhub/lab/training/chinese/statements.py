"""`lab train-reading`: what the deciders of Chinese go by, learned from dialogues with readings.

Each is a logistic regression over characters and words (engines/local/chinese/judgements.py). Its
scores are those on the dialogues of an author it has not learned from, each author in turn. What
ended is marked by the words that the statement begins with; for its frames, sentences made for it
are added. What is worth keeping is what a careful person kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from memoryhub.engines.local.chinese.extract import (
    StatedFact,
    find_main_clause,
    list_stated_facts,
)
from memoryhub.engines.local.chinese.judgements import list_ending_features
from memoryhub.engines.local.logistic import Logistic
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.judgements import is_kept, leave_authors_out
from memoryhub.lab.truth.dialogues import TruthDialogue
from memoryhub.lab.truth.reading import build_exchanges

_DATA = "memoryhub.lab.training.chinese"
_MADE_SPEAKER, _MADE_AT = "陈静", datetime(2025, 3, 5, tzinfo=UTC)
_LEAST_SEEN = 2  # examples that have a feature, below which it teaches nothing
_LEAST_WEIGHT = 0.1  # what smaller ones add is lost among new dialogues

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Example:
    """`author` of the dialogue, "" for a sentence made for it."""

    author: str
    features: frozenset[str]
    is_true: bool


@dataclass(frozen=True, slots=True)
class DeciderPlan:
    """`strength`: the inverse of the pull on weights to zero. `recall`: what the bar leaves."""

    name: str
    strength: float
    recall: float
    balanced: bool


PLANS = (
    DeciderPlan("ended", 1.0, 0.72, balanced=True),
    DeciderPlan("worth", 0.3, 0.95, balanced=False),
)


def train_chinese_judgements(dialogues: Sequence[TruthDialogue], on: str) -> dict[str, Any]:
    """Both deciders with their weights, bars and scores, as `judgements.json` holds them. Raises
    InvalidInput where a dialogue no longer says what is marked in it."""
    told = [(d, fact) for d in dialogues if d.language == "zh" for fact in _iter_stated(d)]
    marks = json.loads(files(_DATA).joinpath("endings.json").read_text(encoding="utf-8"))
    examples = {
        "ended": [*_build_ending_examples(told, marks), *_read_made_sentences("endings.tsv")],
        "worth": [
            *(Example(d.author, frozenset(f.list_features()), is_kept(d, f.fact)) for d, f in told),
            *_read_made_sentences("worth.tsv"),
        ],
    }
    made = {plan.name: _train(plan, examples[plan.name]) for plan in PLANS}
    return {"learned": on, **made}


def _iter_stated(dialogue: TruthDialogue) -> Iterator[StatedFact]:
    for _, exchange in build_exchanges(dialogue):
        people = frozenset([*exchange.participants, *(u.speaker for u in exchange.utterances)])
        for utterance in exchange.utterances:
            if utterance.role == "user":
                yield from list_stated_facts(utterance, exchange, people - {""})


def _build_ending_examples(
    told: Sequence[tuple[TruthDialogue, StatedFact]], marks: Mapping[str, Mapping[str, list[str]]]
) -> Iterator[Example]:
    """`marks`: by dialogue and turn, the words that what ended begins with. Raises InvalidInput
    where no statement begins with them: then the dialogue was changed, or is read otherwise."""
    dialogues = {dialogue.id: dialogue for dialogue, _ in told}
    texts = {(d.id, turn.ref): turn.text for d in dialogues.values() for turn in d.turns}
    unmet = {
        (name, ref, words)
        for name in dialogues
        for ref, marked in marks.get(name, {}).items()
        for words in marked
    }
    for dialogue, each in told:
        (source,) = each.fact.sources
        at = dialogue.id, source.handle
        begins = [
            words
            for words in marks.get(dialogue.id, {}).get(source.handle, ())
            if texts[at].startswith(words, source.start)
        ]
        unmet -= {(*at, words) for words in begins}
        yield Example(dialogue.author, frozenset(_list_ending_features(each)), bool(begins))
    if unmet:
        raise InvalidInput(f"no statement begins with what is marked as ended: {sorted(unmet)}")


def _read_made_sentences(name: str) -> Iterator[Example]:
    """Sentences made to show what dialogues have too little of, "+" or "-" before each."""
    for line in files(_DATA).joinpath(name).read_text(encoding="utf-8").splitlines():
        sign, _, text = line.partition("\t")
        said = Utterance("m", _MADE_SPEAKER, "user", text, _MADE_AT)
        for each in list_stated_facts(said, Exchange([said]), frozenset()):
            features = _list_ending_features(each) if "ending" in name else each.list_features()
            yield Example("", frozenset(features), sign == "+")


def _list_ending_features(each: StatedFact) -> Iterator[str]:
    clause = find_main_clause(each.statement)
    return list_ending_features(clause.text, clause.words)


def _train(plan: DeciderPlan, examples: Sequence[Example]) -> dict[str, Any]:
    chances, right = _cross_validate(plan, examples)
    bar = float(np.quantile(chances[right], 1 - plan.recall)) if right.any() else 0.5
    kept = chances >= bar
    bias, weights = _fit(plan, examples)
    return {
        "bias": bias,
        "bar": round(bar, 3),
        "scores": {
            "examples": len(examples),
            "true": int(sum(example.is_true for example in examples)),
            "recall": round(float((kept & right).sum() / max(1, right.sum())), 3),
            "precision": round(float((kept & right).sum() / max(1, kept.sum())), 3),
        },
        "weights": weights,
    }


def _cross_validate(plan: DeciderPlan, examples: Sequence[Example]) -> tuple[Floats, Flags]:
    """The chances of examples of each author, learned from the others, and which are true."""
    chances, right = list[float](), list[bool]()
    for known, left in leave_authors_out([example.author for example in examples]):
        bias, weights = _fit(plan, [examples[at] for at in known])
        learned = Logistic(bias, 0.5, weights)
        for example in (examples[at] for at in left):
            chances.append(learned.estimate(dict.fromkeys(example.features, 1.0)))
            right.append(example.is_true)
    return np.array(chances), np.array(right, dtype=bool)


def _fit(plan: DeciderPlan, examples: Sequence[Example]) -> tuple[float, dict[str, float]]:
    """The bias and the weights that are worth keeping, by feature."""
    counts = Counter(feature for example in examples for feature in example.features)
    rows = [
        {feature: 1 for feature in sorted(example.features) if counts[feature] >= _LEAST_SEEN}
        for example in examples
    ]
    vectors = DictVectorizer()
    model = LogisticRegression(
        C=plan.strength, class_weight="balanced" if plan.balanced else None, max_iter=2000
    )
    model.fit(vectors.fit_transform(rows), [example.is_true for example in examples])
    weights = zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)
    kept = {
        name: round(float(weight), 3) for name, weight in weights if abs(weight) >= _LEAST_WEIGHT
    }
    return round(float(model.intercept_[0]), 3), kept
