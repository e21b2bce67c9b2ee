"""`lab train-reading`: what the deciders of Chinese go by, learned from dialogues with readings.

Each is a logistic regression over characters and words (engines/local/chinese/judgements.py). Its
scores are those on the dialogues of an author it has not learned from, each author in turn. What
ended is marked by the place where the statement begins; for its frames, sentences made for it are
added. What is worth keeping is what a careful person kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from memoryhub.engines.local.chinese.extract import (
    StatedFact,
    find_main_clause,
    list_stated_facts,
)
from memoryhub.engines.local.chinese.judgements import list_ending_features
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.lab.truth.dialogues import TruthDialogue, is_matching
from memoryhub.lab.truth.reading import build_exchanges

_DATA = "memoryhub.lab.training.chinese"
_MADE_SPEAKER, _MADE_AT = "陈静", datetime(2025, 3, 5, tzinfo=UTC)
_LEAST_SEEN = 2  # examples that have a feature, below which it teaches nothing
_LEAST_WEIGHT = 0.02


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


def train_chinese_judgements(dialogues: Sequence[TruthDialogue]) -> dict[str, Any]:
    """Each decider by name: bias, bar, weights and scores, as the engine's file has them."""
    told = [(d, fact) for d in dialogues if d.language == "zh" for fact in _iter_stated(d)]
    marks = json.loads(files(_DATA).joinpath("endings.json").read_text(encoding="utf-8"))
    examples = {
        "ended": [*_build_ending_examples(told, marks), *_read_made_sentences("endings.tsv")],
        "worth": [
            *(Example(d.author, frozenset(f.list_features()), _is_kept(d, f)) for d, f in told),
            *_read_made_sentences("worth.tsv"),
        ],
    }
    return {plan.name: _train(plan, examples[plan.name]) for plan in PLANS}


def _iter_stated(dialogue: TruthDialogue) -> Iterator[StatedFact]:
    for _, exchange in build_exchanges(dialogue):
        people = frozenset([*exchange.participants, *(u.speaker for u in exchange.utterances)])
        for utterance in exchange.utterances:
            if utterance.role == "user":
                yield from list_stated_facts(utterance, exchange, people - {""})


def _build_ending_examples(
    told: Sequence[tuple[TruthDialogue, StatedFact]], marks: dict[str, dict[str, list[int]]]
) -> Iterator[Example]:
    for dialogue, each in told:
        (source,) = each.fact.sources
        ended = source.start in marks.get(dialogue.id, {}).get(source.handle, ())
        yield Example(dialogue.author, frozenset(_list_ending_features(each)), ended)


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


def _is_kept(dialogue: TruthDialogue, each: StatedFact) -> bool:
    ref, text = each.fact.sources[0].handle, each.fact.text
    if any(said.ref == ref and is_matching(said.match, text) for said in dialogue.not_asserted):
        return False
    claims, changes = dialogue.claims, dialogue.changes.get(ref, ())
    matches = [change.match for change in changes if change.id and change.match]
    matches += [claims[target].match for change in changes for target in change.targets]
    over = each.fact.polarity == "ended" and any(change.do == "end" for change in changes)
    return over or any(is_matching(match, text) for match in matches if match)


def _train(plan: DeciderPlan, examples: Sequence[Example]) -> dict[str, Any]:
    chances, right = _cross_validate(plan, examples)
    bar = float(np.quantile(chances[right], 1 - plan.recall)) if right.any() else 0.5
    kept = chances >= bar
    names, weights, bias = _fit(plan, examples)
    chosen = {n: round(float(w), 3) for n, w in zip(names, weights, strict=True)}
    return {
        "bias": round(bias, 3),
        "bar": round(bar, 3),
        "scores": {
            "examples": len(examples),
            "true": int(sum(example.is_true for example in examples)),
            "recall": round(float((kept & right).sum() / max(1, right.sum())), 3),
            "precision": round(float((kept & right).sum() / max(1, kept.sum())), 3),
        },
        "weights": {n: w for n, w in sorted(chosen.items()) if abs(w) >= _LEAST_WEIGHT},
    }


def _cross_validate(
    plan: DeciderPlan, examples: Sequence[Example]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The chances of examples of each author, learned from the others, and which are true."""
    chances, right = list[float](), list[bool]()
    for author in sorted({example.author for example in examples} - {""}):
        names, weights, bias = _fit(plan, [e for e in examples if e.author != author])
        known = dict(zip(names, weights, strict=True))
        for example in (e for e in examples if e.author == author):
            total = bias + sum(known.get(feature, 0.0) for feature in example.features)
            chances.append(float(1 / (1 + np.exp(-total))))
            right.append(example.is_true)
    return np.array(chances), np.array(right, dtype=bool)


def _fit(
    plan: DeciderPlan, examples: Sequence[Example]
) -> tuple[list[str], np.ndarray[Any, Any], float]:
    counts: dict[str, int] = {}
    for example in examples:
        for feature in example.features:
            counts[feature] = counts.get(feature, 0) + 1
    rows = [
        {feature: 1 for feature in sorted(example.features) if counts[feature] >= _LEAST_SEEN}
        for example in examples
    ]
    vectors = DictVectorizer()
    model = LogisticRegression(
        C=plan.strength, class_weight="balanced" if plan.balanced else None, max_iter=2000
    )
    model.fit(vectors.fit_transform(rows), [example.is_true for example in examples])
    return list(vectors.get_feature_names_out()), model.coef_[0], float(model.intercept_[0])
