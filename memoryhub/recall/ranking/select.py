"""Which of the ranked candidates are shown: above the floor, each thing once. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from memoryhub.engines.local.answers.asked import ValueKind, has_value
from memoryhub.recall.ranking.score import MemoryCandidate, ScoredCandidate

# Calibrated on questions with and without an answer: see docs/explanation/recall.md.
ENOUGH, FLOOR = 0.25, 0.1
# What rules read stands for its turn if its score is no lower by more than this: it may tell but a
# part. What a model read always does.
RULES_MARGIN, MODEL_MARGIN = 1.0, math.inf
_WORDS, _ONLY_WORDS, _PREDICATE = 0.75, 2.0, 0.3


def score_relevance(scored: ScoredCandidate) -> float:
    """How far it bears on the question by itself, about 0 to 2, whatever else was found.

    Similarity, mean of alone and in its window, plus three quarters of the share of the
    question's words, which count for both without a vector. An asked-for predicate helps.
    """
    return _score_bearing(scored.candidate, is_asked_for=bool(scored.get_part("predicate")))


def _score_bearing(candidate: MemoryCandidate, *, is_asked_for: bool) -> float:
    share = min(candidate.lexical, 1.0)
    asked_for = _PREDICATE if is_asked_for else 0.0
    if candidate.dense is None:
        return _ONLY_WORDS * share + asked_for
    return max(candidate.dense / 2, 0.0) + _WORDS * share + asked_for


def measure_likeness(dense: float | None, lexical: float) -> float:
    """0 to 1: likeness, and three quarters of the share of the question's words; of words alone
    where nothing was compared by meaning."""
    by_words = min(lexical, 1.0)
    raw = _ONLY_WORDS * by_words if dense is None else max(dense, 0.0) + _WORDS * by_words
    return round(min(raw, 1.0), 4)


def filter_like(ranked: Sequence[ScoredCandidate], least: float) -> list[ScoredCandidate]:
    """Those whose `measure_likeness` is so much at least."""
    found = ((each, each.candidate) for each in ranked)
    return [each for each, own in found if measure_likeness(own.dense, own.lexical) >= least]


def filter_relevant(ranked: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Those of one `score_candidates` that bear on the question; none unless one clearly does
    (E32: never junk)."""
    if ranked and "predicate" in ranked[0].names:
        by_itself = [score_relevance(scored) for scored in ranked]
    else:
        by_itself = [_score_bearing(scored.candidate, is_asked_for=False) for scored in ranked]
    if max(by_itself, default=0.0) < ENOUGH:
        return []
    return [s for s, value in zip(ranked, by_itself, strict=True) if value >= FLOOR]


def select_distinct(
    ranked: Sequence[ScoredCandidate],
    turns_of: Mapping[UUID, Collection[UUID]],
    limit: int,
    margin: float = RULES_MARGIN,
    value: ValueKind = "",
) -> list[ScoredCandidate]:
    """The first `limit`, a fact standing for the turn it was read from (spec §12.2 step 5).

    A fact takes the place its turn already has, unless it bears on the question so much less, by
    more than `margin`, that the turn says more; then it keeps its own, as further facts of that
    turn do. Where an amount is the `value` that is asked for, a fact without one stands for no turn
    that tells one.
    A note gives way to its turns, and they to it, whichever ranks first.
    """
    chosen: list[ScoredCandidate] = []
    place: dict[UUID, int] = {}
    covered: set[UUID] = set()
    partly: set[UUID] = set()  # by what tells no amount, where one is asked for
    for scored in ranked:
        own = scored.candidate
        turns = turns_of.get(own.id, ()) if own.kind != "turn" else (own.id,)
        held = next((place[turn] for turn in turns if turn in place), None)
        stands = held is not None and scored.score >= chosen[held].score - margin
        tells = tells_amount(own.text, value)
        stands = stands and (tells or not tells_amount(chosen[held or 0].candidate.text, value))
        if own.kind == "fact" and held is not None and stands:
            chosen[held] = scored.with_score(chosen[held].score, "source")
            for turn in turns:
                place.pop(turn, None)
        elif own.kind == "fact" or not (
            turns and (covered if tells else covered | partly).issuperset(turns)
        ):
            if len(chosen) == limit:
                continue
            if own.kind == "turn":
                place[own.id] = len(chosen)
            chosen.append(scored)
        (covered if tells or own.kind != "fact" else partly).update(turns)
    return chosen


def tells_amount(text: str, value: ValueKind) -> bool:
    """Whether it has an amount; where the `value` that is asked for is none, any text will do."""
    return value != "amount" or has_value(text, value)
