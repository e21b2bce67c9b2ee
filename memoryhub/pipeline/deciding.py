"""Asking an engine what candidates do to the claims near them, and checking what it says.

All candidates of a batch are asked about in one call. A claim is ended or reworded at most once
by that call's verdicts: a later candidate that names it again is asked about anew, by itself,
against what is held by then (spec M9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoryhub.engines.types import Candidate, Comparison, Engine, HeldClaim, Verdict
from notes.judging import judged
from notes.models import Fact
from notes.recording import Source
from notes.resolving import Decision, Op
from notes.services import Resolver


@dataclass(frozen=True, slots=True)
class Question:
    """A candidate with what may be offered for it, nearest first: rows held, and the places of
    earlier candidates of the batch."""

    fact: Fact
    sources: Sequence[Source]
    trusted: bool
    correction: bool
    held: Sequence[UUID] = ()
    earlier: Sequence[int] = ()
    held_back: str = ""


@dataclass(frozen=True, slots=True)
class _Ruling:
    """A verdict with what its handle stood for when it was asked."""

    verdict: Verdict
    row: UUID | None = None
    earlier: int | None = None


@dataclass
class Deciding:
    """One batch being decided in memory. Nothing is open; `engine` may be a model far away."""

    resolver: Resolver
    engine: Engine
    questions: Sequence[Question]
    rows: Mapping[UUID, Fact]
    subject: str
    most: int
    _stands: dict[int, Fact] = field(default_factory=dict)  # what says a candidate, by its place
    _made: dict[UUID, Fact] = field(default_factory=dict)  # of this batch, and offered since

    def decide(self) -> list[tuple[Decision[Any], Fact | None]]:
        """For each candidate, in order, what became of it and the row that now says it."""
        asked = [(p, self.questions[p].held, self.questions[p].earlier) for p in self._open()]
        rulings = self._asked(asked)
        return [self._settle(place, rulings.get(place)) for place in range(len(self.questions))]

    def _open(self) -> list[int]:
        """Candidates that code leaves open and that have something to be compared with."""
        if self.resolver.rules.resolution != "resolve":
            return []
        return [
            place
            for place, question in enumerate(self.questions)
            if not question.held_back
            and (question.held or question.earlier)
            and self._by_code(question).is_open
        ]

    def _by_code(self, question: Question) -> Decision[Any]:
        return self.resolver.by_code(
            question.fact, trusted=question.trusted, correction=question.correction
        )

    def _settle(self, place: int, ruling: _Ruling | None) -> tuple[Decision[Any], Fact | None]:
        question = self.questions[place]
        new, sources = question.fact, question.sources
        if question.held_back:
            return self.resolver.hold_back(new, sources, question.held_back), None
        decision = self._by_code(question)
        if decision.is_open and ruling is not None:
            decision = self._judged(place, ruling)
        done = self.resolver.settle(decision, new, sources, trusted=question.trusted)
        stands: Fact | None = done.target if done.op is Op.SAME else None
        if done.inserts:
            stands = new
        if stands is not None:
            self._stands[place] = stands
        return done, stands

    def _judged(self, place: int, ruling: _Ruling) -> Decision[Any]:
        target = self._target(ruling)
        if target is not None and target.id in self.resolver.changed:
            again = self._asked_again(place, target)
            target = self._target(again) if again else None
            if again is None or (target is not None and target.id in self.resolver.changed):
                return Decision(Op.ADD, "new")
            ruling = again
        question, verdict = self.questions[place], ruling.verdict
        new: Any = question.fact
        return judged(
            verdict.op,
            new,
            target,
            text=verdict.text,
            sure=verdict.sure,
            trusted=question.trusted,
            correction=question.correction,
        )

    def _target(self, ruling: _Ruling) -> Fact | None:
        if ruling.row is not None:
            return self._row(ruling.row)
        return self._stands.get(ruling.earlier) if ruling.earlier is not None else None

    def _asked_again(self, place: int, target: Fact) -> _Ruling | None:
        """Ask about one candidate by itself, against what took the place of what it named."""
        successor = self.resolver.successors[target.id]
        left = [row for row in self.questions[place].held if row not in self.resolver.changed]
        if successor.id not in self.resolver.changed:
            self._made[successor.id] = successor
            left = [successor.id, *left]
        return self._asked([(place, left[: self.most], ())]).get(place)

    def _asked(
        self, asked: Sequence[tuple[int, Sequence[UUID], Sequence[int]]]
    ) -> dict[int, _Ruling]:
        """One call about these candidates, each with the rows and earlier candidates offered."""
        held = list(dict.fromkeys(row for _, rows, _ in asked for row in rows))
        if not (held or any(earlier for _, _, earlier in asked)):
            return {}
        handles = {row: f"m{number}" for number, row in enumerate(held, 1)}
        candidates = [
            self._candidate(p, [handles[row] for row in rows], earlier)
            for p, rows, earlier in asked
        ]
        shown = [held_claim(handle, self._row(row)) for row, handle in handles.items()]
        named = {other for _, _, earlier in asked for other in earlier}
        settled = sorted(named - {place for place, _, _ in asked})
        shown += [held_claim(_handle(place), self.questions[place].fact) for place in settled]
        verdicts = self.engine.resolve(Comparison(candidates, shown, self.subject))
        rows = {handle: row for row, handle in handles.items()}
        places = {_handle(p): p for p in range(len(self.questions))}
        return {
            places[v.candidate]: _Ruling(v, rows.get(v.target), places.get(v.target))
            for v in reversed(verdicts)
            if v.candidate in places
        }

    def _candidate(self, place: int, rows: list[str], earlier: Sequence[int]) -> Candidate:
        fact = self.questions[place].fact
        offered = [*rows, *(_handle(other) for other in earlier)]
        return Candidate(
            handle=_handle(place),
            text=fact.text,
            owner=fact.owner,
            speaker=fact.speaker,
            said_at=fact.asserted_at,
            event_from=fact.event_from,
            offered=tuple(offered[: self.most]),
            polarity=fact.polarity,  # type: ignore[arg-type]  # a checked choice
        )

    def _row(self, row: UUID) -> Fact:
        return self._made.get(row) or self.rows[row]


def _handle(place: int) -> str:
    return f"c{place + 1}"


def held_claim(handle: str, fact: Fact) -> HeldClaim:
    return HeldClaim(
        handle=handle,
        text=fact.text,
        owner=fact.owner,
        predicate_key=fact.predicate_key,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        polarity=fact.polarity,  # type: ignore[arg-type]  # a checked choice
    )
