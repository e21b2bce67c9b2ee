"""The times between a memory's recalls, as far as they are known (spec §2.2, §2.3, §11.6).

A row keeps how often it was recalled, how strong that made it, and when last. When it was recalled
before, only a log can tell, and a log ends: what lies between is said to be unknown, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoryhub.policies.schema import ForgetPolicy
from notes.retention.curve import compute_fade_time, compute_forget_at, compute_retention


@dataclass(frozen=True, slots=True)
class RetentionSpan:
    """From one recall to the next: R falls from 1 at `start` by exp(-t / (strength x unit)).

    `end`: None in the last, which goes on. `recalls`: how many there had been. `fades_at`: when R
    meets the level of the policy or of the chance drawn at `start`, also where a recall came
    first; None where nothing is hidden.
    """

    start: datetime
    end: datetime | None
    strength: int
    recalls: int
    fades_at: datetime | None
    unit_days: float

    def compute_left(self, at: datetime) -> float:
        """R at a time of the span, in [0, 1]."""
        return compute_retention(at - self.start, self.strength, self.unit_days)

    @property
    def level(self) -> float | None:
        """R at which it is hidden; None where nothing is."""
        return None if self.fades_at is None else self.compute_left(self.fades_at)

    @property
    def faded(self) -> bool:
        """Whether it was hidden before the next recall brought it back."""
        return bool(self.fades_at and self.end and self.fades_at < self.end)


@dataclass(frozen=True, slots=True)
class RetentionLife:
    """A memory from `start` on. `untimed`: recalls of which no time is known, all of them between
    `start` and the first span."""

    start: datetime
    untimed: int
    spans: list[RetentionSpan]

    @property
    def last(self) -> RetentionSpan:
        return self.spans[-1]

    def compute_floor_time(self, forget: ForgetPolicy) -> datetime | None:
        """When R falls to `r_min`, if it is not recalled before; None for a floor of nothing."""
        last = self.last
        if forget.r_min <= 0:
            return None
        return compute_fade_time(last.start, last.strength, forget.r_min, forget.unit_days)


def rebuild_retention_life(
    row: Any, said: datetime, recalls: Iterable[datetime], forget: ForgetPolicy, *, spared: bool
) -> RetentionLife:
    """The spans of `row` under `forget`, counted back from its strength and its last recall.

    `recalls`: those of which a log knows the time, in any order. `spared`: nothing hides it.
    """
    last = row.last_recall_at
    known = {at for at in recalls if last and at <= last} | ({last} if last else set())
    times = sorted(known)[-row.recall_count :] if row.recall_count else []
    untimed = row.recall_count - len(times)
    start = min([said, *times])
    starts = times if untimed else [start, *times]
    spans = []
    for place, (begin, end) in enumerate(zip(starts, [*starts[1:], None], strict=True)):
        later = len(starts) - 1 - place
        strength, count = max(1, row.strength - later), row.recall_count - later
        fades = None if spared else compute_forget_at(forget, row.id, begin, strength, count)
        spans.append(RetentionSpan(begin, end, strength, count, fades, forget.unit_days))
    return RetentionLife(start, untimed, spans)
