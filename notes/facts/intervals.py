"""Intervals after a claim has gone: what it had closed opens again (spec §11.9 step 5). Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from notes.models import Fact

# Which claims get in each other's way: the rule of I4, for whoever changes intervals.


class ClaimColumns(Protocol):
    """A fact, or the columns of one that the two rules below look at."""

    @property
    def status(self) -> str: ...
    @property
    def retired_at(self) -> datetime | None: ...
    @property
    def predicate_key(self) -> str: ...
    @property
    def cardinality(self) -> str: ...
    @property
    def polarity(self) -> str: ...


def is_claim_held(fact: ClaimColumns) -> bool:
    """Held by the hub: neither reworded nor withdrawn."""
    return fact.retired_at is None and fact.status != Fact.Status.RETRACTED


def is_single_valued(fact: ClaimColumns) -> bool:
    """Its owner has one value of this predicate at a time."""
    return bool(fact.predicate_key and fact.cardinality == "single" and fact.polarity == "holds")


def are_rivals(a: Fact, b: Fact) -> bool:
    """Only one of them can hold at a time: one memory's versions, or one predicate's values."""
    one_value = is_single_valued(a) and is_single_valued(b)
    return a.lineage == b.lineage or (
        one_value and (a.owner, a.predicate_key) == (b.owner, b.predicate_key)
    )


def has_overlap(a: Fact, b: Fact) -> bool:
    """Whether both hold at some moment; an empty interval holds at none."""
    first, second = sorted((a, b), key=lambda fact: fact.valid_from)
    if any(fact.valid_to == fact.valid_from for fact in (a, b)):
        return False
    return first.valid_to is None or first.valid_to > second.valid_from


@dataclass(frozen=True, slots=True)
class RepairedInterval:
    """What becomes of a claim that a gone one had bounded, withdrawn or reworded."""

    valid_to: datetime | None
    status: str
    retired_at: datetime | None


def repair_interval(
    fact: Fact, gone: Collection[Fact], remaining: Sequence[Fact], *, released: bool = False
) -> RepairedInterval | None:
    """The claim's interval without `gone`; None if they never touched it. `released`: what
    ended it left no claim of its own, and is gone as well.

    `remaining` are the space's other claims. What they close stays closed: an end is the
    earliest of those left.
    """
    ended_by = [g for g in gone if g.supersedes_id == fact.id or _is_bounded_by(fact, g)]
    reworded_by = [g for g in gone if _is_reworded_by(fact, g)]
    if not ended_by and not reworded_by and not released:
        return None
    others = [other for other in remaining if other.id != fact.id and is_claim_held(other)]
    still = [other for other in others if other.supersedes_id == fact.id]
    withdrawn = fact.status == Fact.Status.RETRACTED and bool(ended_by or released)
    retired_at = None if reworded_by or withdrawn else fact.retired_at
    if fact.status == Fact.Status.RETRACTED and any(_is_replacement(s, fact) for s in still):
        return RepairedInterval(fact.valid_to, fact.status, retired_at)
    later = [o for o in others if o.valid_from > fact.valid_from and are_rivals(fact, o)]
    ends = [other.valid_from for other in [*still, *later]]
    valid_to = max(min(ends), fact.valid_from) if ends else None
    status = Fact.Status.ACTIVE if valid_to is None else Fact.Status.SUPERSEDED
    return RepairedInterval(valid_to, status, retired_at)


def _is_bounded_by(fact: Fact, gone: Fact) -> bool:
    """The gone claim stood right behind it."""
    return fact.valid_to is not None and fact.valid_to == gone.valid_from and are_rivals(fact, gone)


def _is_replacement(claim: Fact, fact: Fact) -> bool:
    return claim.valid_from == fact.valid_from and (
        is_single_valued(claim) or claim.lineage == fact.lineage
    )


def _is_reworded_by(fact: Fact, gone: Fact) -> bool:
    """A later version of the same claim, which retired this one when it was recorded."""
    return (
        fact.retired_at is not None
        and gone.lineage == fact.lineage
        and gone.recorded_at == fact.retired_at
        and gone.valid_from == fact.valid_from
    )
