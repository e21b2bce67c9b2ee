"""Which questions are asked: the same for every system, spread over categories and dialogues.

Pure; the seed decides, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, zip_longest
from random import Random
from typing import TypeVar

from memoryhub.lab.datasets.types import DatasetQuestion, Dialogue
from memoryhub.lab.metrics.rankings import group_by_key

T = TypeVar("T")
# (dialogue, number of the question in it)
QuestionKey = tuple[str, int]


def sample_questions(
    dialogues: Sequence[Dialogue],
    most: int | None,
    *,
    categories: Collection[int] = (),
    seed: int = 0,
) -> list[QuestionKey]:
    """At most `most` questions: of each category in turn, of each dialogue in turn, drawn by lot.

    In the order of dialogues and questions. Every choice of n is part of the choice of n + 1.
    """
    lots = Random(seed)  # noqa: S311  # a sample, not a secret
    known = [
        (dialogue.name, number, question)
        for dialogue in dialogues
        for number, question in enumerate(dialogue.questions)
        if not categories or question.category in categories
    ]
    lots.shuffle(known)
    by_category = group_by_key(known, lambda row: row[2].category)
    queues = [_interleave_dialogues(rows) for rows in by_category.values()]
    wanted = set(list(interleave_queues(queues))[:most])
    places = {dialogue.name: at for at, dialogue in enumerate(dialogues)}
    return sorted(wanted, key=lambda each: (places[each[0]], each[1]))


def _interleave_dialogues(rows: Iterable[tuple[str, int, DatasetQuestion]]) -> list[QuestionKey]:
    dialogues: dict[str, list[QuestionKey]] = {}
    for name, number, _ in rows:
        dialogues.setdefault(name, []).append((name, number))
    return list(interleave_queues(list(dialogues.values())))


def interleave_queues(queues: Sequence[Sequence[T]]) -> Iterable[T]:
    """One of each queue, then another, until all are empty."""
    gone = object()
    rounds = zip_longest(*queues, fillvalue=gone)
    return (each for each in chain.from_iterable(rounds) if each is not gone)  # type: ignore[misc]  # the filler is left out
