"""Which year or month a day without one is of, by the words around it; and what is a plan."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.types import Exchange, FactCandidate, Utterance


def tell_on(day: str, text: str) -> list[FactCandidate]:
    at = datetime.fromisoformat(day).replace(hour=10, tzinfo=UTC)
    exchange = Exchange([Utterance("t", "Ana", "user", text, at)], (), ("Ana",), "Ana")
    return list(LocalEngine().extract_memories([exchange])[0].facts)


@pytest.mark.parametrize(
    ("day", "text", "starts", "planned"),
    [
        (
            "2025-03-15",
            "I've got an appointment with the physio, a man called Mr Oru, on the 27th of March.",
            "2025-03-27",
            True,
        ),
        (
            "2026-01-15",
            "The wedding is fixed for the 12th of September in Ballina.",
            "2026-09-12",
            True,
        ),
        (
            "2025-12-20",
            "dentist gave ibuprofen and the op is 7 jan at St Ann's",
            "2026-01-07",
            True,
        ),
        (
            "2025-12-02",
            "I have accepted the post of chief buyer in Montreal, beginning on 2 February.",
            "2026-02-02",
            False,
        ),
        (
            "2025-04-08",
            "An MRI of my knee is scheduled at the Civic hospital for 22 April.",
            "2025-04-22",
            True,
        ),
        (
            "2025-07-01",
            "We've booked a caravan near Tenby from the 9th to the 16th of August.",
            "2025-08-09",
            True,
        ),
        (
            "2026-01-28",
            "I got an internship at a bakery for the summer.",
            "2026-06-01",
            False,
        ),
        ("2025-03-24", "Kit's assembly turned out to be on the 27th.", "2025-03-27", False),
        (
            "2025-03-15",
            "I've got an appointment with the physio on the 27th of March, because my shoulder has"
            " been grumbling since I carried a bed upstairs.",
            "2025-03-27",
            True,
        ),
        ("2025-05-02", "got physio at the clinic 13 may 9am", "2025-05-13", False),
        ("2025-05-02", "got married 3 may", "2024-05-03", False),
        ("2025-05-20", "My mother called on 3 May.", "2025-05-03", False),
        ("2025-05-20", "I booked the room on 3 May.", "2025-05-03", False),
    ],
)
def test_a_day_is_ahead_or_behind_by_what_is_said_of_it(
    day: str, text: str, starts: str, planned: bool
) -> None:
    found = [fact for fact in tell_on(day, text) if fact.event]
    assert [fact.event.start.date().isoformat() for fact in found if fact.event] == [starts]
    assert [fact.polarity == "planned" for fact in found] == [planned]


@pytest.mark.parametrize(
    "text",
    [
        "My Opel Astra from 2011 makes a noise again.",
        "A grey Octavia stands before our house now, from 2019.",
        "We sold 90 Christmas cakes.",
        "He promised delivery on 4 August and I have paid 60 percent.",
    ],
)
def test_what_dates_something_else_is_no_date_of_it(text: str) -> None:
    assert [fact.event for fact in tell_on("2025-07-12", text) if fact.event] == []


def test_what_lasted_from_one_year_to_another_keeps_both() -> None:
    (lived,) = tell_on("2025-07-12", "I lived in Oslo from 2011 to 2015.")
    assert lived.event is not None
    assert (lived.event.start.year, lived.event.end.year) == (2011, 2016)
