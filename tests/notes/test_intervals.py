"""What a claim's interval comes to when one of those around it is withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from notes.facts.intervals import repair_interval
from notes.models import Fact


def build_home(city: str, year: int, until: int | None = None) -> Fact:
    status = Fact.Status.ACTIVE if until is None else Fact.Status.SUPERSEDED
    return Fact(
        id=uuid4(),
        owner="Ana",
        text=f"Ana lives in {city}.",
        object=city,
        predicate_key="lives_in",
        cardinality="single",
        valid_from=datetime(year, 1, 1, tzinfo=UTC),
        valid_to=None if until is None else datetime(until, 1, 1, tzinfo=UTC),
        status=status,
        lineage=uuid4(),
    )


def test_an_interval_ends_at_the_earliest_of_the_ends_that_are_left() -> None:
    porto, gone = build_home("Porto", 2010, 2012), build_home("Faro", 2012, 2015)
    left = [build_home("Oslo", 2018), build_home("Rome", 2015, 2018)]
    repaired = repair_interval(porto, [gone], left)
    assert repaired is not None
    assert repaired.valid_to == datetime(2015, 1, 1, tzinfo=UTC)
    assert repaired.status == Fact.Status.SUPERSEDED


def test_without_any_end_it_is_open_again() -> None:
    porto, gone = build_home("Porto", 2010, 2012), build_home("Faro", 2012)
    repaired = repair_interval(porto, [gone], [])
    assert repaired is not None
    assert (repaired.valid_to, repaired.status) == (None, Fact.Status.ACTIVE)
