"""What speaks for a candidate: its signals, before any weight. Pure: no database, no clock.

What is a matter of degree is in standard deviations from the candidates' mean, the rest is yes or
no, 1 or 0. What each signal is worth is learned (weights.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.local.answers.asked import has_value, tells_identity
from memoryhub.engines.local.language import HAN
from memoryhub.engines.types import TimeSpan
from memoryhub.recall.candidates.candidate import MemoryCandidate
from memoryhub.recall.question.parse import ParsedQuestion
from memoryhub.subject_names import PLACEHOLDERS

FloatArray = NDArray[np.float64]


# Deviations smaller than these mean nothing: few memories may all be much alike.
DENSE_SPREAD, LEXICAL_SPREAD, RARE_SPREAD = 0.12, 0.08, 0.05
# What words count beside meaning where it is told whether a question bears on what is asked.
_LEXICAL_SHARE = 0.5
_MOST_BEARING = 3.0

# A word, or a Chinese character.
_WORD_PATTERN = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
# A turn of usual length, as the logarithm of its words, and the most it may differ from that.
_USUAL, _MOST = 3.0, 1.5
# A turn that says when. Cheap, since it is asked of every candidate.
_TIME_PATTERN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|weekend|(?:last|next|this|past) \w+|recently"
    r"|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:19|20)\d\d\b|\d ?[年月日号点]|昨天|今天|明天|上周|下周|去年|明年|上个月|周末",
    re.I,
)


def compute_signals(
    route: ParsedQuestion, found: Sequence[MemoryCandidate]
) -> dict[str, FloatArray]:
    """By signal its value for each of `found`."""
    dense = compute_z_scores(_fill_missing_scores([c.dense for c in found]), DENSE_SPREAD)
    lexical = compute_z_scores([c.lexical for c in found], LEXICAL_SPREAD)
    said = _compute_own_signals(route, found)
    bearing = dense + _LEXICAL_SHARE * lexical
    return {
        "dense": dense,
        "lexical": lexical,
        "alone": lexical if all(c.dense is None for c in found) else np.zeros(len(found)),
        "rare": compute_z_scores(_compute_rare_shares(found), RARE_SPREAD),
        "answers": _score_replies(found, bearing),
        **said,
        **_compute_age_signals(route, found, np.clip(bearing, 0.0, _MOST_BEARING)),
    }


def compute_z_scores(values: Sequence[float] | FloatArray, least: float = 1e-9) -> FloatArray:
    """Standard deviations (of at least `least`) from the mean."""
    numbers = np.asarray(values, dtype=float)
    if not len(numbers):
        return numbers
    scores: FloatArray = (numbers - numbers.mean()) / max(float(numbers.std()), least)
    return scores


def _fill_missing_scores(values: Sequence[float | None]) -> list[float]:
    """Those without a vector yet are taken for average, neither near nor far (E18)."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if value is None else value for value in values]


def _compute_rare_shares(found: Sequence[MemoryCandidate]) -> FloatArray:
    """The share of the question's words each has, counting for more what few of them have."""
    asked = found[0].question_words.split() if found else []
    if not asked:
        return np.zeros(len(found))
    # A search within the text is quicker than taking all its words apart.
    own, sought = [f" {candidate.words} " for candidate in found], [f" {w} " for w in asked]
    has = np.array([[word in words for word in sought] for words in own], dtype=float)
    rarity = np.log((len(found) + 1) / (has.sum(axis=0) + 0.5))
    shares: FloatArray = has @ rarity / rarity.sum()
    return shares


def _score_replies(found: Sequence[MemoryCandidate], bearing: FloatArray) -> FloatArray:
    """For each, how far the question it replies to bears on what is asked."""
    asked: Mapping[tuple[UUID | None, int], float] = {
        (c.session, c.place): value
        for c, value in zip(found, bearing.tolist(), strict=True)
        if value > 0 and ("?" in c.text or "？" in c.text) and c.session
    }
    if not asked:
        return np.zeros(len(found))
    return np.array([asked.get((c.session, c.place - 1), 0.0) for c in found])


def _compute_own_signals(
    route: ParsedQuestion, found: Sequence[MemoryCandidate]
) -> dict[str, FloatArray]:
    """What each candidate says for itself, whatever else was found.

    What the question gives no cause for is not looked for.
    """
    who, spans, keys = route.speaker_names, route.spans, route.predicates
    nothing = np.zeros(len(found))
    kinds = np.array([c.kind for c in found])
    asks, length = np.zeros(len(found)), np.zeros(len(found))
    for at, candidate in enumerate(found):
        if candidate.kind == "turn":
            asks[at] = candidate.text.rstrip().endswith(("?", "？"))
            length[at] = _score_length(candidate.text)
    return {
        "speaker": _to_flag_array([c.speaker in who or c.owner in who for c in found])
        if who
        else nothing,
        "date": _to_flag_array([any(_is_at_time(c, s) for s in spans) for c in found])
        if spans
        else nothing,
        "when": _to_flag_array([_mentions_time(c) for c in found]) if route.asks_when else nothing,
        "predicate": _to_flag_array(
            [c.predicate in keys and (not who or c.owner in who) for c in found]
        )
        if keys
        else nothing,
        "asks": asks,
        "length": length,
        "assistant": _to_flag_array([c.role == "assistant" for c in found]),
        "value": _to_flag_array([_tells_value(route, c.text) for c in found])
        if route.value
        else nothing,
        "others": _to_flag_array(_find_others(route, found)) if who else nothing,
        "fact": _to_flag_array(kinds == "fact"),
        "note": _to_flag_array(kinds == "note"),
    }


def _tells_value(route: ParsedQuestion, text: str) -> bool:
    if route.value == "identity" and route.identity:
        return tells_identity(text, route.identity)
    return has_value(text, route.value)


def _compute_age_signals(
    route: ParsedQuestion, found: Sequence[MemoryCandidate], bearing: FloatArray
) -> dict[str, FloatArray]:
    """Of what bears on the question, what was said last where it is after what holds now, and
    what was said first where it is after what held before."""
    recency, nothing = _compute_recency(found), np.zeros(len(found))
    return {
        "recent": recency * bearing if route.tense == "now" else nothing,
        "early": (1 - recency) * bearing if route.tense == "former" else nothing,
    }


def _compute_recency(found: Sequence[MemoryCandidate]) -> FloatArray:
    """In [0, 1], by place among the times of what was found: 1 for what was said last."""
    times = sorted({candidate.occurred_at for candidate in found})
    place = {time: at / max(1, len(times) - 1) for at, time in enumerate(times)}
    return np.array([place[candidate.occurred_at] for candidate in found])


def _find_others(route: ParsedQuestion, found: Sequence[MemoryCandidate]) -> list[bool]:
    """Of each whether it is a fact about somebody else than the one who is asked about, and whom
    the question does not name. "Ana" and "Ana Ferreira" are one."""
    if route.mentions_relative:
        return [False] * len(found)
    query, own = route.query.casefold(), {_fold_first_name(name) for name in route.speaker_names}
    named = {c.owner: _fold_first_name(c.owner) for c in found if c.kind == "fact"}
    others = {owner for owner, name in named.items() if name not in own and name not in query}
    return [c.kind == "fact" and c.owner in others for c in found]


def _fold_first_name(name: str) -> str:
    low = name.casefold()
    user = next((held for held in PLACEHOLDERS if low.startswith(held)), "")
    return low if user else low.partition(" ")[0]


def _to_flag_array(values: Sequence[bool] | NDArray[np.bool_]) -> FloatArray:
    return np.array(values, dtype=float)


def _is_at_time(candidate: MemoryCandidate, span: TimeSpan) -> bool:
    if candidate.event_from and candidate.event_to:
        return candidate.event_from < span.end and candidate.event_to > span.start
    return span.start <= candidate.occurred_at < span.end


def _mentions_time(candidate: MemoryCandidate) -> bool:
    return bool(candidate.event_from or _TIME_PATTERN.search(candidate.text))


def _score_length(text: str) -> float:
    """In [-1.5, 1.5], 0 for some twenty words: "Thanks!" says less than a story."""
    units = text.split() if text.isascii() else _WORD_PATTERN.findall(text)
    over = math.log1p(len(units)) - _USUAL
    return max(-_MOST, min(_MOST, over))
