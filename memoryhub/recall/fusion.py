"""Scores of candidates from their signals. Pure: no database, no clock.

Dense and lexical scores are put on one scale (standard deviations from the candidates' mean)
and added; the other signals are constants on that scale. Weights: docs/explanation/recall.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from memoryhub.engines.types import TimeSpan
from memoryhub.recall.results import ItemKind
from memoryhub.recall.routing import Route


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with what the signals need.

    `dense` is in [-2, 2], two similarities added, or None without a vector. `lexical` is about
    the share of the question's words it has, in itself and in its window on average, and more
    where they are repeated. `session` and `place` say where a turn stands. `text` is cut to 500
    characters. `recalled_at` and `strength` say how well it is remembered (spec §11.6).
    """

    kind: ItemKind
    id: UUID
    dense: float | None
    lexical: float
    speaker: str
    owner: str
    predicate: str
    occurred_at: datetime
    event_from: datetime | None
    event_to: datetime | None
    session: UUID | None
    place: int
    text: str
    recalled_at: datetime | None = None
    strength: int = 1


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal adds: of a standard deviation, or outright where it is yes or no."""

    dense: float = 1.0
    lexical: float = 0.5
    speaker: float = 1.2
    date: float = 1.0
    when: float = 0.7
    predicate: float = 2.0
    asks: float = -0.8
    answers: float = 0.15


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    parts: Mapping[str, float]

    @property
    def score(self) -> float:
        return sum(self.parts.values())


# Deviations smaller than these mean nothing: few memories may all be much alike.
DENSE_SPREAD, LEXICAL_SPREAD = 0.12, 0.08


def z_scores(values: Sequence[float], least: float = 1e-9) -> list[float]:
    """Standard deviations (of at least `least`) from the mean."""
    numbers = np.asarray(values, dtype=float)
    if not len(numbers):
        return []
    return [float(z) for z in (numbers - numbers.mean()) / max(float(numbers.std()), least)]


# A turn that says when. Cheap, since it is asked of every candidate.
_TIMED = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|weekend|(?:last|next|this|past) \w+|recently"
    r"|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:19|20)\d\d\b|\d ?[年月日号点]|昨天|今天|明天|上周|下周|去年|明年|上个月|周末",
    re.I,
)


def fuse(
    route: Route,
    found: Sequence[Candidate],
    weights: Weights = WEIGHTS,
    kept: Callable[[Candidate], float] = lambda _: 1.0,
) -> list[Scored]:
    """`found` with the parts of their scores, best first; ties by time, newest first.

    `kept` is in (0, 1]: what is left of a score for how well the memory is remembered.
    """
    near = z_scores(_known([c.dense for c in found]), DENSE_SPREAD)
    words = z_scores([c.lexical for c in found], LEXICAL_SPREAD)
    parts = [
        {"dense": weights.dense * d, "lexical": weights.lexical * x}
        for d, x in zip(near, words, strict=True)
    ]
    answers = _answers(found, [sum(part.values()) for part in parts])
    scored = [
        Scored(candidate, part | _signals(route, candidate, weights) | _answer(answer, weights))
        for candidate, part, answer in zip(found, parts, answers, strict=True)
    ]
    scored = [_faded(each, kept(each.candidate)) for each in scored]
    return sorted(scored, key=lambda s: (-s.score, -s.candidate.occurred_at.timestamp()))


def _faded(scored: Scored, left: float) -> Scored:
    """A score below the mean is far from it by as much more."""
    score = scored.score
    lost = score * left - score if score > 0 else score / left - score
    return Scored(scored.candidate, {**scored.parts, "kept": lost}) if left < 1 else scored


def _known(values: Sequence[float | None]) -> list[float]:
    """Those without a vector yet are taken for average, neither near nor far (E18)."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if value is None else value for value in values]


def _answers(found: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """For each, the score of the question it replies to, if that bears on what is asked."""
    asked: dict[tuple[UUID | None, int], float] = {
        (c.session, c.place): score
        for c, score in zip(found, scores, strict=True)
        if c.session and score > 0 and ("?" in c.text or "？" in c.text)
    }
    return [asked.get((c.session, c.place - 1), 0.0) for c in found]


def _answer(score: float, weights: Weights) -> dict[str, float]:
    return {"answers": weights.answers * score} if score else {}


def _signals(route: Route, candidate: Candidate, weights: Weights) -> dict[str, float]:
    """The constants that apply."""
    holds = {
        "speaker": bool(route.speaker) and route.speaker in (candidate.speaker, candidate.owner),
        "date": any(_at_time(candidate, span) for span in route.spans),
        "when": route.asks_when and _says_when(candidate),
        "asks": candidate.kind == "turn" and candidate.text.rstrip().endswith(("?", "？")),
        "predicate": candidate.predicate in route.predicates
        and route.speaker in ("", candidate.owner),
    }
    return {name: float(getattr(weights, name)) for name, true in holds.items() if true}


def _at_time(candidate: Candidate, span: TimeSpan) -> bool:
    if candidate.event_from and candidate.event_to:
        return candidate.event_from < span.end and candidate.event_to > span.start
    return span.start <= candidate.occurred_at < span.end


def _says_when(candidate: Candidate) -> bool:
    return bool(candidate.event_from or _TIMED.search(candidate.text))
