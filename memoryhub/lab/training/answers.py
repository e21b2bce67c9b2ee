"""`lab train-answers`: whether a piece of a memory answers a question, learned from such questions
as people type.

A piece is right if it has the right value and none that is outdated before it. Measured on
dialogues left out of the training, in four parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.local.answers.decide import (
    AnswerDecider,
    DeciderTraining,
    describe_pieces,
)
from memoryhub.engines.local.answers.evidence import parse_question, rank_sentences
from memoryhub.engines.local.trees import BoostedTrees
from memoryhub.engines.types import Quote
from memoryhub.errors import InvalidInput
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.lab.training.boosting import fit_trees
from memoryhub.lab.truth.dialogues import EverydayQuestion, TruthDialogue
from memoryhub.lab.truth.everyday import is_right
from memoryhub.lab.truth.run import tell_dialogue
from memoryhub.recall.answers import load_quotes_for_question
from memoryhub.recall.services import DEFAULT_LIMIT

FloatArray = NDArray[np.float64]
_PARTS = 4
# Of what is unknown this share is to be refused, in dialogues that were not learned from.
REFUSED_AIM = 0.7


@dataclass(frozen=True, slots=True)
class AskedPieces:
    """A question of a dialogue with all pieces that may answer it: (pieces, features), and which
    of them are right."""

    dialogue: str
    language: str
    known: bool
    names: Sequence[str]
    values: FloatArray
    right: NDArray[np.bool_]


# A question, the chance of its likeliest piece, and whether that is right.
_Judged = tuple[AskedPieces, float, bool]


def describe_question(
    dialogue: TruthDialogue, question: EverydayQuestion, quotes: Sequence[Quote], subject: str
) -> AskedPieces:
    """As the rules read it before they answer."""
    quotes = quotes[:DEFAULT_LIMIT]
    asked = parse_question(question.text, quotes, subject)
    pieces = list(describe_pieces(asked, quotes, rank_sentences(asked, quotes)))
    known = question.kind != "unknown"
    return AskedPieces(
        dialogue.id,
        dialogue.language,
        known,
        list(pieces[0][1]) if pieces else [],
        np.array([list(features.values()) for _, features in pieces], dtype=float),
        np.array([known and is_right(question, s.text) for s, _ in pieces], dtype=bool),
    )


def train_decider(
    dialogues: Sequence[TruthDialogue], *, on: str = "", progress: Callable[[str], None]
) -> AnswerDecider:
    """Raises InvalidInput where there is nothing to learn."""
    asked = list[AskedPieces]()
    with open_throwaway_tenant() as tenant:
        for number, dialogue in enumerate(dialogues, 1):
            space, at = tell_dialogue(tenant, dialogue)
            subject = space.display_name
            for question in dialogue.questions:
                quotes = load_quotes_for_question(space, question.text, now=at)
                asked.append(describe_question(dialogue, question, quotes, subject))
            if number % 10 == 0:
                progress(f"{number} of {len(dialogues)} dialogues")
    return fit_decider(asked, on=on)


def fit_decider(asked: Sequence[AskedPieces], *, on: str = "") -> AnswerDecider:
    """The same questions always give the same decider. A language's bar is where `REFUSED_AIM` of
    its unknown things are refused, each by a decider that has not seen its dialogue."""
    if not any(each.right.any() for each in asked):
        raise InvalidInput("no question there has an answer that is found", field="path")
    names = next(each.names for each in asked if each.names)
    places = {name: at for at, name in enumerate(dict.fromkeys(e.dialogue for e in asked))}
    chances = list[_Judged]()
    for part in range(_PARTS):
        left_out = [each for each in asked if places[each.dialogue] % _PARTS == part]
        trees = _learn([each for each in asked if places[each.dialogue] % _PARTS != part])
        chances += [(each, *_find_best(each, trees)) for each in left_out]
    bars, measured = dict[str, float](), dict[str, Mapping[str, float]]()
    for language in ("en", "zh"):
        own = [each for each in chances if each[0].language == language] or chances
        bars[language] = _find_bar(own)
        measured[language] = _measure(own, bars[language])
    trained = DeciderTraining(dialogues=len(places), questions=len(asked), on=on, left_out=measured)
    return AnswerDecider(features=tuple(names), bars=bars, trained=trained, trees=_learn(asked))


def _find_bar(chances: Sequence[_Judged]) -> float:
    unknown = sorted(chance for each, chance, _ in chances if not each.known)
    return round(unknown[int(REFUSED_AIM * len(unknown))], 3) if unknown else 0.0


def _learn(asked: Sequence[AskedPieces]) -> BoostedTrees:
    """Each question counts as one."""
    found = [each for each in asked if len(each.right)]
    counts = np.concatenate([np.full(len(e.right), 1 / len(e.right)) for e in found])
    values = np.concatenate([each.values for each in found])
    right = np.concatenate([each.right for each in found])
    return fit_trees(values, right, counts * len(counts) / counts.sum())


def _find_best(each: AskedPieces, trees: BoostedTrees) -> tuple[float, bool]:
    if not len(each.right):
        return 0.0, False
    chances = trees.estimate_shares(each.values)
    best = int(chances.argmax())
    return float(chances[best]), bool(each.right[best])


def _measure(chances: Sequence[_Judged], bar: float) -> Mapping[str, float]:
    known = [(chance >= bar, right) for each, chance, right in chances if each.known]
    unknown = [chance < bar for each, chance, _ in chances if not each.known]
    return {
        "right": round(sum(given and right for given, right in known) / max(1, len(known)), 3),
        "wrong": round(sum(given and not right for given, right in known) / max(1, len(known)), 3),
        "refused": round(sum(unknown) / max(1, len(unknown)), 3),
    }
