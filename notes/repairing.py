"""Intervals after a claim has gone: what it had closed opens again (spec §11.9 step 5). Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from notes.intervals import counts, is_single, same_place
from notes.models import Fact


@dataclass(frozen=True, slots=True)
class Interval:
    """What becomes of a claim that a gone one had bounded, withdrawn or reworded."""

    valid_to: datetime | None
    status: str
    retired_at: datetime | None


def repaired(
    fact: Fact, gone: Collection[Fact], remaining: Sequence[Fact], *, released: bool = False
) -> Interval | None:
    """The claim's interval without `gone`; None if they never touched it. `released`: what
    ended it left no claim of its own, and is gone as well.

    `remaining` are the space's other claims. What they close stays closed: an end is the
    earliest of those left.
    """
    ended_by = [g for g in gone if g.supersedes_id == fact.id or _bounded(fact, g)]
    reworded_by = [g for g in gone if _reworded(fact, g)]
    if not ended_by and not reworded_by and not released:
        return None
    others = [other for other in remaining if other.id != fact.id and counts(other)]
    still = [other for other in others if other.supersedes_id == fact.id]
    withdrawn = fact.status == Fact.Status.RETRACTED and bool(ended_by or released)
    retired_at = None if reworded_by or withdrawn else fact.retired_at
    if fact.status == Fact.Status.RETRACTED and any(_replaces(s, fact) for s in still):
        return Interval(fact.valid_to, fact.status, retired_at)
    later = [o for o in others if o.valid_from > fact.valid_from and same_place(fact, o)]
    ends = [other.valid_from for other in [*still, *later]]
    valid_to = max(min(ends), fact.valid_from) if ends else None
    status = Fact.Status.ACTIVE if valid_to is None else Fact.Status.SUPERSEDED
    return Interval(valid_to, status, retired_at)


def _bounded(fact: Fact, gone: Fact) -> bool:
    """The gone claim stood right behind it."""
    return fact.valid_to is not None and fact.valid_to == gone.valid_from and same_place(fact, gone)


def _replaces(claim: Fact, fact: Fact) -> bool:
    return claim.valid_from == fact.valid_from and (
        is_single(claim) or claim.lineage == fact.lineage
    )


def _reworded(fact: Fact, gone: Fact) -> bool:
    """A later version of the same claim, which retired this one when it was recorded."""
    return (
        fact.retired_at is not None
        and gone.lineage == fact.lineage
        and gone.recorded_at == fact.retired_at
        and gone.valid_from == fact.valid_from
    )
