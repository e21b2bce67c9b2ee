"""Which claims get in each other's way: the rule of I4, for whoever changes intervals."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from notes.models import Fact


class Stored(Protocol):
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


def counts(fact: Stored) -> bool:
    """Held by the hub: neither reworded nor withdrawn."""
    return fact.retired_at is None and fact.status != Fact.Status.RETRACTED


def is_single(fact: Stored) -> bool:
    """Its owner has one value of this predicate at a time."""
    return bool(fact.predicate_key and fact.cardinality == "single" and fact.polarity == "holds")


def same_place(a: Fact, b: Fact) -> bool:
    """Only one of them can hold at a time: one memory's versions, or one predicate's values."""
    one_value = is_single(a) and is_single(b)
    return a.lineage == b.lineage or (
        one_value and (a.owner, a.predicate_key) == (b.owner, b.predicate_key)
    )


def overlap(a: Fact, b: Fact) -> bool:
    """Whether both hold at some moment; an empty interval holds at none."""
    first, second = sorted((a, b), key=lambda fact: fact.valid_from)
    if any(fact.valid_to == fact.valid_from for fact in (a, b)):
        return False
    return first.valid_to is None or first.valid_to > second.valid_from
