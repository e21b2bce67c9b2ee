"""Which questions are asked: the same for every system, spread over categories and dialogues.

Pure; the seed decides, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, zip_longest
from random import Random
from typing import TypeVar

from memoryhub.lab.datasets import Dialogue, Question
from memoryhub.lab.measuring import grouped

T = TypeVar("T")
# (dialogue, number of the question in it)
Chosen = tuple[str, int]


def chosen(
    dialogues: Sequence[Dialogue],
    most: int | None,
    *,
    categories: Collection[int] = (),
    seed: int = 0,
) -> list[Chosen]:
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
    queues = [_by_dialogue(rows) for rows in grouped(known, _category).values()]
    wanted = set(list(in_turn(queues))[:most])
    places = {dialogue.name: at for at, dialogue in enumerate(dialogues)}
    return sorted(wanted, key=lambda each: (places[each[0]], each[1]))


def _category(row: tuple[str, int, Question]) -> int:
    return row[2].category


def _by_dialogue(rows: Iterable[tuple[str, int, Question]]) -> list[Chosen]:
    dialogues: dict[str, list[Chosen]] = {}
    for name, number, _ in rows:
        dialogues.setdefault(name, []).append((name, number))
    return list(in_turn(list(dialogues.values())))


def in_turn(queues: Sequence[Sequence[T]]) -> Iterable[T]:
    """One of each queue, then another, until all are empty."""
    gone = object()
    rounds = zip_longest(*queues, fillvalue=gone)
    return (each for each in chain.from_iterable(rounds) if each is not gone)  # type: ignore[misc]  # the filler is left out
