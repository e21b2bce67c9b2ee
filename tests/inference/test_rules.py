"""Prices, budgets and the breaker: pure rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from memoryhub.inference.breaker import LONGEST_WAIT, CallOutcome, compute_open_until
from memoryhub.inference.budgets import Spending, compute_next_day, describe_spent_budget
from memoryhub.inference.prices import compute_call_cost, parse_prices

NOW = datetime(2026, 5, 12, 23, 30, tzinfo=UTC)


def make_failures(
    *codes: str, purpose: str = "construct", model: str = "small"
) -> list[CallOutcome]:
    """Newest first, a minute apart."""
    return [CallOutcome(purpose, model, c, NOW - timedelta(minutes=i)) for i, c in enumerate(codes)]


def compute_wait(history: list[CallOutcome], most: int = 3) -> timedelta | None:
    until = compute_open_until(history, "construct", "small", most)
    return until - NOW if until else None


def test_E16_the_breaker_opens_at_the_last_of_identical_failures() -> None:
    assert compute_wait(make_failures("timeout", "timeout")) is None
    assert compute_wait(make_failures("timeout", "timeout", "timeout")) == timedelta(seconds=30)
    assert compute_wait(make_failures("timeout", "timeout", "unreachable")) is None
    assert compute_wait(make_failures("timeout", "timeout", "", "timeout")) is None


def test_the_wait_doubles_up_to_a_quarter_of_an_hour() -> None:
    found = [compute_wait(make_failures(*["timeout"] * n)) for n in (3, 4, 5, 6, 7, 8, 50, 200)]
    assert found == [timedelta(seconds=30 * 2**n) for n in range(5)] + [LONGEST_WAIT] * 3


def test_a_success_closes_it() -> None:
    assert compute_wait(make_failures("", *["timeout"] * 9)) is None


def test_other_purposes_and_models_are_their_own_matter() -> None:
    history = [*make_failures("timeout", purpose="resolve"), *make_failures("timeout", "timeout")]
    assert compute_wait(history) is None
    assert (
        compute_open_until(make_failures(*["timeout"] * 3, model="large"), "construct", "small", 3)
        is None
    )


def test_a_text_that_is_too_long_is_no_outage() -> None:
    assert compute_wait(make_failures(*["reply_cut"] * 5)) is None
    assert compute_wait(make_failures(*["context_exceeded"] * 5)) is None


def test_a_budget_is_spent_when_it_is_reached() -> None:
    assert describe_spent_budget(Spending(999, Decimal("0.99")), 1000, 1.0) == ""
    assert describe_spent_budget(Spending(1000), 1000, None) == "1,000 of 1,000 tokens"
    assert describe_spent_budget(Spending(0, Decimal("1.00")), None, 1.0) == "1.00 of 1.00 in money"
    assert describe_spent_budget(Spending(10**9, Decimal(10**6)), None, None) == ""
    assert describe_spent_budget(Spending(), 0, None) == "0 of 0 tokens"


def test_a_day_is_one_in_utc() -> None:
    east = NOW.astimezone(tz=None)
    assert compute_next_day(NOW) == compute_next_day(east) == datetime(2026, 5, 13, tzinfo=UTC)


def test_calls_cost_what_the_list_says() -> None:
    prices = parse_prices('{"small": {"prompt": 0.15, "completion": 0.6}}')
    assert compute_call_cost(prices, "small", 1_000_000, 500_000) == Decimal("0.45")
    assert compute_call_cost(prices, "small", 10, 1) == Decimal("0.000002")
    assert compute_call_cost(prices, "large", 1_000_000, 0) == 0
    assert parse_prices("") == {}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"small": 1}',
        '{"small": {"prompt": 1}}',
        '{"small": {"prompt": "x", "completion": 1}}',
        '{"small": {"prompt": -1, "completion": 1}}',
        '{"small": {"prompt": NaN, "completion": 1}}',
    ],
)
def test_a_price_list_that_is_none_is_refused_at_start(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|needs|small"):
        parse_prices(text)
