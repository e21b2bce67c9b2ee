from __future__ import annotations

from datetime import timedelta

from memoryhub.webhooks.queue import compute_backoff, compute_quiet_time


def test_each_wait_is_four_times_the_last_and_six_hours_at_most() -> None:
    waits = [compute_backoff(tries, 10, 0.5).total_seconds() for tries in range(1, 9)]
    assert waits == [10, 40, 160, 640, 2560, 10240, 21600, 21600]


def test_a_roll_moves_it_by_a_quarter() -> None:
    assert compute_backoff(1, 10, 0.0) == timedelta(seconds=7.5)
    assert compute_backoff(1, 10, 1.0) == timedelta(seconds=12.5)


def test_what_the_receiver_asks_for_is_kept_up_to_an_hour() -> None:
    assert compute_backoff(1, 10, 0.5, asked=120) == timedelta(minutes=2)
    assert compute_backoff(1, 10, 0.5, asked=999_999) == timedelta(hours=1)
    assert compute_backoff(5, 10, 0.5, asked=1) == timedelta(seconds=2560)


def test_a_failing_receiver_is_left_alone_five_minutes_at_most() -> None:
    assert [compute_quiet_time(n, 10).total_seconds() for n in (1, 2, 3, 6, 1000)] == [
        10,
        20,
        40,
        300,
        300,
    ]
