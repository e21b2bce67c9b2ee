"""`lab train-words`: vectors of Chinese words, learned from questions and what answers them.

A word begins with what the configured embedder, a multilingual one, makes of it by itself, cut to
its main components. Then statements are drawn to the questions they answer and away from all
others of their batch (InfoNCE, van den Oord et al. 2018); words stay near where they began.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.chinese import (
    LATIN,
    NUMBER,
    ChineseWords,
    list_known_words,
)
from memoryhub.engines.embedding.vectors import normalise_rows
from memoryhub.engines.types import Embedder
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.asked import AskedStatement, compute_contrast, number_messages

FloatArray = NDArray[np.float32]
DIMENSION = 128
ROUNDS, BATCH, PACE, DROPPED = 7, 256, 2e-3, 0.1
# How strongly words and the turn are held where they began.
_WORD_PULL, _TURN_PULL = 0.01, 0.01
_START_SHARPNESS = 2.7  # of the softmax, as a logarithm; learned with the rest
_AT_ONCE = 256  # words that are embedded together


def embed_words(words: Sequence[str], embedder: Embedder) -> FloatArray:
    """(words, DIMENSION) unit rows, the main components of what the embedder makes of them."""
    parts = [embedder.embed(words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)]
    made = np.concatenate(parts)
    made -= made.mean(axis=0)
    _, _, components = np.linalg.svd(made, full_matrices=False)
    return normalise_rows(made @ components[:DIMENSION].T)


def train_words(
    asked: Sequence[AskedStatement],
    words: Sequence[str],
    vectors: FloatArray,
    progress: Callable[[str], None],
) -> ChineseWords:
    """The same questions and `vectors` of words, unit rows, always give the same. Raises
    InvalidInput for fewer questions than a batch has."""
    if len(asked) < BATCH:
        raise InvalidInput(f"{BATCH} questions at least", field="path")
    import torch  # heavy, and needed by whoever trains

    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    kinds = chance.standard_normal((2, vectors.shape[1])).astype(np.float32)
    start = np.concatenate([vectors, normalise_rows(kinds)])
    places = {word: row for row, word in enumerate([*words, NUMBER, LATIN])}
    told = [list_known_words(each.clause, places) for each in asked]
    sought = [list_known_words(each.question, places) for each in asked]
    message = torch.tensor(number_messages(asked))

    held = torch.tensor(start)
    rare = torch.tensor(_weigh_by_rarity(told, len(places)))
    embedding = torch.nn.Parameter(held.clone())
    stated, counted = torch.nn.Parameter(rare.clone()), torch.nn.Parameter(rare.clone())
    unit = torch.eye(start.shape[1])
    turns = [torch.nn.Parameter(unit.clone()) for _ in range(2)]
    sharp = torch.nn.Parameter(torch.tensor(_START_SHARPNESS))
    learned = [embedding, stated, counted, *turns, sharp]
    steps = torch.optim.Adam(learned, lr=PACE)

    def sum_words(rows: list[list[int]], counts: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        flat = torch.tensor([row for some in rows for row in some], dtype=torch.long)
        text = torch.tensor([at for at, some in enumerate(rows) for _ in some], dtype=torch.long)
        weights = counts[flat] * (torch.rand(len(flat)) > DROPPED)
        sums = torch.zeros(len(rows), embedding.shape[1])
        sums = sums.index_add(0, text, embedding[flat] * weights[:, None])
        kept = torch.nn.functional.dropout(sums, DROPPED) @ turn
        return torch.nn.functional.normalize(kept + 1e-9, dim=-1)

    for number in range(1, ROUNDS + 1):
        order, total = chance.permutation(len(asked)), 0.0
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            questions = sum_words([sought[n] for n in batch], counted, turns[0])
            clauses = sum_words([told[n] for n in batch], stated, turns[1])
            loss = compute_contrast(questions @ clauses.T * sharp.exp(), message[batch])
            pull = _WORD_PULL * ((embedding - held) ** 2).sum()
            pull = pull + sum(_TURN_PULL * ((each - unit) ** 2).sum() for each in turns)
            steps.zero_grad()
            cast("Any", loss + pull).backward()  # which torch gives no type
            steps.step()
            total += float(loss.detach())
        progress(f"round {number}: {total / (len(order) // BATCH):.3f}")
    back = [each.detach().numpy() for each in (embedding, stated, counted, *turns)]
    return _pack_words(places, *back)


def _weigh_by_rarity(texts: Sequence[Sequence[int]], words: int) -> FloatArray:
    """In (0, 1], by the share of texts that have the word."""
    spread = Counter(word for text in texts for word in set(text))
    raw = [math.log((len(texts) + 10) / (spread[word] + 1)) for word in range(words)]
    return np.array(raw, np.float32) / max(raw)


def _pack_words(
    places: dict[str, int],
    embedding: FloatArray,
    stated: FloatArray,
    asked: FloatArray,
    question_turn: FloatArray,
    clause_turn: FloatArray,
) -> ChineseWords:
    """As shipped: the clauses' turn is in the words' vectors, the questions' comes after it."""
    turned = embedding @ clause_turn
    size = np.abs(turned).max(axis=1) / 127
    whole = np.round(turned / size[:, None]).astype(np.int8)
    turn = np.linalg.inv(clause_turn) @ question_turn
    return ChineseWords(places, whole, stated * size, asked * size, turn.astype(np.float32))


def measure_words(made: ChineseWords, asked: Sequence[AskedStatement]) -> dict[str, float]:
    """How often the clause that answers a question is nearest to it, or among three, of 40 others
    of its author's; of other clauses of its message none is offered."""
    chance = np.random.default_rng(0)
    clauses = sorted({(each.clause, each.message) for each in asked})
    rows = made.embed_statements([clause for clause, _ in clauses])
    at = {clause: row for row, (clause, _) in enumerate(clauses)}
    questions = made.embed_questions([each.question for each in asked])
    first, three = 0, 0
    for each, question in zip(asked, questions, strict=True):
        others = [row for row, (_, message) in enumerate(clauses) if message != each.message]
        offered = chance.choice(others, 40, replace=False)
        better = int((rows[offered] @ question >= rows[at[each.clause]] @ question).sum())
        first += better == 0
        three += better < 3
    return {"first": round(first / len(asked), 3), "among 3": round(three / len(asked), 3)}
