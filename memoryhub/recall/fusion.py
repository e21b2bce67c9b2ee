"""Scores of candidates from their signals. Pure: no database, no clock.

Dense and lexical scores are put on one scale (standard deviations from the candidates' mean)
and added; the other signals are constants on that scale. Weights: docs/explanation/recall.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from memoryhub.engines.types import TimeSpan
from memoryhub.recall.results import Kind
from memoryhub.recall.routing import Route


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with what the signals need. `dense` in [-2, 2] (two vectors added) or None;
    `lexical` is the sum of two ts_ranks. `text` is cut to its first 500 characters.
    """

    kind: Kind
    id: UUID
    dense: float | None
    lexical: float
    speaker: str
    owner: str
    predicate: str
    occurred_at: datetime
    event_from: datetime | None
    event_to: datetime | None
    group: UUID | None
    text: str


@dataclass(frozen=True, slots=True)
class Weights:
    dense: float = 1.0
    lexical: float = 0.5
    speaker: float = 1.0
    session: float = 0.2
    date: float = 1.0
    when: float = 0.7
    predicate: float = 2.0


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    parts: Mapping[str, float]

    @property
    def score(self) -> float:
        return sum(self.parts.values())


def z_scores(values: Sequence[float]) -> list[float]:
    """Standard deviations from the mean; all zero when the values don't differ."""
    numbers = np.asarray(values, dtype=float)
    spread = float(numbers.std()) if len(numbers) else 0.0
    if spread < 1e-9:
        return [0.0] * len(numbers)
    return [float(z) for z in (numbers - numbers.mean()) / spread]


# A turn that says when. Cheap, since it is asked of every candidate.
_TIMED = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|weekend|(?:last|next|this|past) \w+|recently"
    r"|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:19|20)\d\d\b|\d ?[年月日号点]|昨天|今天|明天|上周|下周|去年|明年|上个月|周末",
    re.I,
)


def fuse(route: Route, found: Sequence[Candidate], weights: Weights = WEIGHTS) -> list[Scored]:
    """`found` with the parts of their scores, best first; ties by time, newest first."""
    near = z_scores([c.dense or 0.0 for c in found])
    words = z_scores([c.lexical for c in found])
    sessions = _session_scores(found)
    scored = [
        Scored(
            candidate,
            {"dense": weights.dense * near[at], "lexical": weights.lexical * words[at]}
            | _signals(route, candidate, weights)
            | _session(candidate, sessions, weights),
        )
        for at, candidate in enumerate(found)
    ]
    return sorted(scored, key=lambda s: (-s.score, -s.candidate.occurred_at.timestamp()))


def _signals(route: Route, candidate: Candidate, weights: Weights) -> dict[str, float]:
    """The constants that apply."""
    holds = {
        "speaker": bool(route.speaker) and route.speaker in (candidate.speaker, candidate.owner),
        "date": any(_at_time(candidate, span) for span in route.spans),
        "when": route.asks_when and _says_when(candidate),
        "predicate": bool(candidate.predicate) and candidate.predicate in route.predicates,
    }
    return {name: float(getattr(weights, name)) for name, true in holds.items() if true}


def _at_time(candidate: Candidate, span: TimeSpan) -> bool:
    if candidate.event_from and candidate.event_to:
        return candidate.event_from < span.end and candidate.event_to > span.start
    return span.start <= candidate.occurred_at < span.end


def _says_when(candidate: Candidate) -> bool:
    return bool(candidate.event_from or _TIMED.search(candidate.text))


def _session_scores(found: Sequence[Candidate]) -> dict[UUID, float]:
    """By session, how far its turns' words stand out together."""
    totals: dict[UUID, float] = defaultdict(float)
    for candidate in found:
        if candidate.group:
            totals[candidate.group] += candidate.lexical
    return dict(zip(totals, z_scores(list(totals.values())), strict=True))


def _session(
    candidate: Candidate, sessions: Mapping[UUID, float], weights: Weights
) -> dict[str, float]:
    score = sessions.get(candidate.group) if candidate.group else None
    return {} if score is None else {"session": weights.session * score}
