"""The curve itself (spec §2.3, §15.2): no database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal
from uuid import UUID

import pytest

from memoryhub.policies.schema import ForgetPolicy
from notes.retention.curve import (
    NEVER_AFTER,
    compute_fade_time,
    compute_forget_at,
    compute_rank_weight,
    compute_rank_weights,
    compute_retention,
    draw_chance,
)

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)
ITEM = UUID(int=7)


@pytest.mark.parametrize(
    ("strength", "days", "expected"),
    [(1, 1, 0.3679), (2, 1, 0.6065), (5, 5, 0.3679), (1, 0, 1.0)],
)
def test_MB1_retention_after_a_time(strength: int, days: float, expected: float) -> None:
    assert compute_retention(timedelta(days=days), strength, 1.0) == pytest.approx(
        expected, abs=1e-4
    )


def test_MB2_strength_slows_forgetting_down() -> None:
    left = [compute_retention(timedelta(days=5), strength, 1.0) for strength in range(1, 11)]
    assert all(weaker < stronger for weaker, stronger in pairwise(left))


def test_MB3_the_draw_is_an_instant() -> None:
    at = compute_fade_time(AT, 1, 0.5, 1.0)
    assert (at - AT).total_seconds() == pytest.approx(0.6931 * 86_400, abs=5)
    assert compute_retention(at - timedelta(minutes=1) - AT, 1, 1.0) > 0.5
    assert compute_retention(at + timedelta(minutes=1) - AT, 1, 1.0) < 0.5


def test_MB7_a_recall_in_the_future_leaves_everything() -> None:
    assert compute_retention(timedelta(days=-3), 1, 1.0) == 1.0


def test_B2_the_draw_is_frozen_until_the_next_recall() -> None:
    assert draw_chance(ITEM, 0) == draw_chance(ITEM, 0)
    assert len({draw_chance(ITEM, count) for count in range(100)}) == 100
    assert all(0 < draw_chance(UUID(int=n), 0) < 1 for n in range(100))


def test_each_mode_has_its_own_date() -> None:
    def date(mode: str) -> datetime | None:
        return compute_forget_at(ForgetPolicy(mode=mode, unit_days=2), ITEM, AT, 3, 1)  # type: ignore[arg-type]  # a name under test

    assert date("off") is None
    assert date("rank") is None
    assert date("threshold") == compute_fade_time(AT, 3, 0.05, 2)
    assert date("sample") == compute_fade_time(AT, 3, draw_chance(ITEM, 1), 2)


def test_a_threshold_of_nothing_and_a_unit_of_ages_never_forget() -> None:
    assert compute_forget_at(ForgetPolicy(mode="threshold", r_min=0), ITEM, AT, 1, 0) is None
    assert compute_fade_time(AT, 1, 0.5, 1e300) == AT + NEVER_AFTER


def test_rank_lets_age_order_and_never_bury() -> None:
    policy = ForgetPolicy(mode="rank", weight=0.1, r_min=0.05)
    assert compute_rank_weight(policy, 1.0) == 1.0
    assert compute_rank_weight(policy, 0.5) == pytest.approx(0.5**0.1)
    assert compute_rank_weight(policy, 1e-300) == pytest.approx(0.05**0.1)
    assert compute_rank_weight(ForgetPolicy(mode="sample"), 0.1) == 1.0


@pytest.mark.parametrize("mode", ["rank", "off"])
def test_many_are_weighed_as_one_by_one(mode: Literal["rank", "off"]) -> None:
    forget = ForgetPolicy(mode=mode, r_min=0.2, weight=0.7, unit_days=3.0)
    days, strengths = [-2.0, 0.0, 1.5, 40.0], [1, 3, 2, 1]
    seconds = [each * 86_400 for each in days]
    alone = [
        compute_rank_weight(
            forget, compute_retention(timedelta(days=each), strength, forget.unit_days)
        )
        for each, strength in zip(days, strengths, strict=True)
    ]
    assert compute_rank_weights(forget, seconds, strengths) == pytest.approx(alone)
    assert compute_rank_weights(forget, [], []) == []
