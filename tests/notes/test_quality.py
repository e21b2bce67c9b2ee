"""What each signal of quality is about. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection

from notes.quality.signals import (
    NAMELESS_PATTERN,
    SHORT_TEXT_PATTERN,
    ComparedFact,
    are_duplicates,
    compute_rate,
    find_alike_pairs,
    is_echo,
)

MAY = datetime(2026, 5, 12, tzinfo=UTC)
FACT = ComparedFact("Ana", "holds", "Ana has 2 hives", MAY, None, True, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("bees", True),
        ("Ana bees", True),
        ("Ana keeps bees", False),
        ("He likes the sea very much", True),
        ("It's raining in Porto today", True),
        ("Helena likes the sea", False),
        ("喜欢茶", True),
        ("安娜住在波尔图", False),
    ],
)
@pytest.mark.django_db
def test_a_fragment_says_too_little_or_of_nobody(text: str, found: bool) -> None:
    """By the database's expressions, as the quality page finds them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT %(text)s ~ %(short)s OR %(text)s ~* %(nameless)s",
            {"text": text, "short": SHORT_TEXT_PATTERN, "nameless": NAMELESS_PATTERN},
        )
        assert cursor.fetchone() == (found,)


@pytest.mark.parametrize(
    ("change", "cosine", "found"),
    [
        ({}, 0.95, True),
        ({}, 0.9499, False),
        ({"text": "Ana has 3 hives"}, 0.99, False),
        ({"owner": "Ben"}, 0.99, False),
        ({"polarity": "denied"}, 0.99, False),
        ({"event_from": MAY}, 0.99, False),
    ],
)
def test_duplicates_say_the_same_of_the_same(
    change: dict[str, object], cosine: float, found: bool
) -> None:
    assert are_duplicates(FACT, replace(FACT, **change), cosine) == found  # type: ignore[arg-type]  # each is a field


def test_an_echo_is_newer_said_by_no_person_and_of_what_was_recalled() -> None:
    newer = replace(FACT, recorded_at=MAY + timedelta(days=1), said_by_a_person=False)
    assert is_echo(newer, FACT, 0.9)
    assert not is_echo(newer, FACT, 0.89)
    assert not is_echo(replace(newer, said_by_a_person=True), FACT, 0.95)
    assert not is_echo(newer, replace(FACT, recalled=False), 0.95)
    assert not is_echo(newer, replace(FACT, recorded_at=newer.recorded_at), 0.95)


def test_alike_finds_every_pair_once_over_all_blocks() -> None:
    vectors = np.zeros((1200, 3), np.float32)
    vectors[:, 0] = 1
    vectors[[3, 700, 1199]] = [0, 2, 0]  # of any length
    vectors[5] = 0  # and of none
    pairs = {(one, two) for one, two, _ in find_alike_pairs(vectors, 0.95) if one in (3, 700)}
    assert pairs == {(3, 700), (3, 1199), (700, 1199)}
    assert not [pair for pair in find_alike_pairs(vectors, 0.95) if 5 in pair[:2]]
    cosines = [
        cosine for one, two, cosine in find_alike_pairs(vectors, 0.95) if (one, two) == (3, 700)
    ]
    assert cosines == [pytest.approx(1)]


def test_no_facts_have_no_rate() -> None:
    assert (compute_rate(0, 0), compute_rate(1, 4)) == (0.0, 0.25)
