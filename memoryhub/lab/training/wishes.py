"""`lab train-wishes`: what asks for something told to be forgotten, and what only sounds like it.

From scenes (`benchmarks/wishes`, docs/reference/truth.md): what somebody tells over some weeks,
with wishes to forget, each with the clauses that tell what it means, or with none where it was
never told; and from messages of others that use such words for something else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from memoryhub.engines.local.grammar.wish_decider import (
    VECTOR_SCALE,
    embed_messages,
    list_words,
)
from memoryhub.lab.training.asked import load_asked
from memoryhub.lab.training.judgements import leave_authors_out

_STRENGTH = 1.0  # C of the regressions: how far the examples may pull
# Words of fewer messages are no features; nor are those of fewer wishes, unless they are common.
_RARE, _RARE_IN_WISHES, _COMMON = 4, 2, 12
# From this chance on it is a wish: few messages of the development half that only sound like one
# are taken for it.
_BARS = {"en": 0.8, "zh": 0.85}
_ASKED_SHARE = 3  # of the messages that questions are asked of, every third
# What is told in Chinese is read without a vector: MiniLM's, of glosses, adds nothing.
_VECTOR_LANGUAGES = ("en",)


class MeantClause(NamedTuple):
    """Where a message of the scene, by its place, tells what is meant."""

    message: int
    span: tuple[int, int]


class SceneWish(NamedTuple):
    say: str
    means: Sequence[MeantClause]


class WishScene(NamedTuple):
    author: str
    language: str
    told: Sequence[str]
    wishes: Sequence[SceneWish]


class SaidMessage(NamedTuple):
    """`author` "": sentences that are always learned from."""

    author: str
    text: str
    is_wish: bool


def load_scenes(folder: Path, without: Sequence[str] = ()) -> list[WishScene]:
    """Of all authors below `folder` but those named: folders such as `zh-1`."""
    return [
        _parse_scene(author, line)
        for author, line in _read_lines(folder, without)
        if "told" in line
    ]


def _parse_scene(author: str, line: Mapping[str, Any]) -> WishScene:
    told = line["told"]
    wishes = [
        SceneWish(
            wish["say"],
            [_find_clause(told, each["at"], each["clause"]) for each in wish["means"]],
        )
        for wish in line["wishes"]
    ]
    return WishScene(author, author.partition("-")[0], told, wishes)


def _find_clause(told: Sequence[str], at: int, clause: str) -> MeantClause:
    start = told[at].index(clause)
    return MeantClause(at, (start, start + len(clause)))


def load_messages(folder: Path, without: Sequence[str] = ()) -> list[SaidMessage]:
    """Wishes and other messages that belong to no scene, of all authors but those named."""
    return [
        SaidMessage(author, line["say"], line["wish"])
        for author, line in _read_lines(folder, without)
        if "say" in line
    ]


def load_said(
    folder: Path, asked: Path, language: str, without: Sequence[str] = ()
) -> list[SaidMessage]:
    """Wishes and other messages of all authors in this language but those named, with some of those
    that questions are asked of."""
    own = f"{language}-"
    found = [each for each in load_messages(folder, without) if each.author.startswith(own)]
    for scene in load_scenes(folder, without):
        if scene.language == language:
            found += [SaidMessage(scene.author, wish.say, True) for wish in scene.wishes]
            found += [SaidMessage(scene.author, text, False) for text in scene.told]
    plain = dict.fromkeys(each.message for each in load_asked(asked, language))
    return found + [SaidMessage("", text, False) for text in list(plain)[::_ASKED_SHARE]]


def _read_lines(folder: Path, without: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in sorted(folder.rglob("*.jsonl")):
        if file.parent.name not in without:
            for line in file.read_text(encoding="utf-8").splitlines():
                yield file.parent.name, json.loads(line)


def train_wish_decider(said: Sequence[SaidMessage], language: str) -> dict[str, Any]:
    """A decider as `wish_decider.json` holds it, with its scores on authors left out."""
    vectors = _build_vectors(said, language)
    words = [list_words(each.text, language) for each in said]
    marks = np.array([each.is_wish for each in said])
    chances = np.zeros(len(said))
    for known, left_out in leave_authors_out([each.author for each in said]):
        fitted, names = _fit(vectors, words, marks, known)
        rows = _build_rows(vectors, words, names)
        chances[left_out] = fitted.predict_proba(rows[left_out])[:, 1]
    named = np.array([bool(each.author) for each in said])
    fitted, names = _fit(vectors, words, marks, np.arange(len(said)))
    weights = fitted.coef_[0]
    size = vectors.shape[1]
    return {
        "messages": len(said),
        "auc": round(float(roc_auc_score(marks[named], chances[named])), 3),
        "found": round(float((chances[named & marks] >= _BARS[language]).mean()), 3),
        "wrong": round(float((chances[named & ~marks] >= _BARS[language]).mean()), 4),
        "bar": _BARS[language],
        "bias": round(float(fitted.intercept_[0]), 3),
        "vector": [round(float(value), 3) for value in weights[:size]],
        "words": {
            name: round(float(weight), 3)
            for name, weight in zip(names, weights[size:], strict=True)
            if round(float(weight), 2)
        },
    }


def _build_vectors(said: Sequence[SaidMessage], language: str) -> NDArray[np.float64]:
    if language not in _VECTOR_LANGUAGES:
        return np.zeros((len(said), 0))
    return VECTOR_SCALE * embed_messages([each.text for each in said]).astype(np.float64)


def _fit(
    vectors: NDArray[np.float64],
    words: Sequence[frozenset[str]],
    marks: NDArray[np.bool_],
    places: NDArray[np.int64],
) -> tuple[LogisticRegression, list[str]]:
    """Learned of the messages at these places, with the words that are features."""
    held = Counter(word for at in places for word in words[at])
    wished = Counter(word for at in places if marks[at] for word in words[at])
    names = sorted(
        word
        for word, count in held.items()
        if count >= _RARE and (wished[word] >= _RARE_IN_WISHES or count >= _COMMON)
    )
    rows = _build_rows(vectors, words, names)
    return LogisticRegression(C=_STRENGTH, max_iter=2000).fit(rows[places], marks[places]), names


def _build_rows(
    vectors: NDArray[np.float64], words: Sequence[frozenset[str]], names: Sequence[str]
) -> NDArray[np.float32]:
    places = {name: at for at, name in enumerate(names)}
    rows = np.zeros((len(words), vectors.shape[1] + len(names)), np.float32)
    rows[:, : vectors.shape[1]] = vectors
    for at, said in enumerate(words):
        rows[at, [vectors.shape[1] + places[word] for word in said if word in places]] = 1
    return rows
