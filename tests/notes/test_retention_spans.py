"""The times between recalls, counted back from what a row and a log know (spec §2.2, §2.3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from memoryhub.policies.schema import ForgetPolicy
from notes.retention.curve import compute_retention, draw_chance
from notes.retention.spans import RetentionLife, rebuild_retention_life
from tests.support.factories import MAY

ID = UUID(int=7)
DAY = timedelta(days=1)


def make_life(
    recalls: list[datetime], logged: list[datetime], mode: Any = "sample", spared: bool = False
) -> RetentionLife:
    """Of a row that was recalled at these times, of which a log knows some."""
    row = SimpleNamespace(
        id=ID,
        strength=1 + len(recalls),
        recall_count=len(recalls),
        last_recall_at=max(recalls, default=None),
    )
    return rebuild_retention_life(row, MAY, logged, ForgetPolicy(mode=mode), spared=spared)


def test_what_was_never_recalled_falls_from_when_it_was_said() -> None:
    life = make_life([], [])
    assert [(s.start, s.end, s.strength, s.recalls) for s in life.spans] == [(MAY, None, 1, 0)]
    assert (life.start, life.untimed) == (MAY, 0)


def test_every_recall_begins_it_anew_stronger_and_with_a_draw_of_its_own() -> None:
    times = [MAY + DAY, MAY + 3 * DAY]
    life = make_life(times, times)
    assert [span.start for span in life.spans] == [MAY, *times]
    assert [span.end for span in life.spans] == [*times, None]
    assert [span.strength for span in life.spans] == [1, 2, 3]
    assert [span.level for span in life.spans] == [
        pytest.approx(draw_chance(ID, count)) for count in range(3)
    ]
    assert life.spans[1].compute_left(times[1]) == pytest.approx(compute_retention(2 * DAY, 2, 1.0))


def test_the_last_recall_is_known_without_a_log() -> None:
    life = make_life([MAY + DAY], [])
    assert [(span.start, span.strength) for span in life.spans] == [(MAY, 1), (MAY + DAY, 2)]
    assert life.untimed == 0


def test_recalls_that_no_log_knows_are_counted_and_not_guessed() -> None:
    times = [MAY + n * DAY for n in range(1, 6)]
    life = make_life(times, times[3:])
    assert life.untimed == 3
    assert [(span.start, span.strength) for span in life.spans] == [(times[3], 5), (times[4], 6)]
    assert life.start == MAY


def test_what_the_log_has_after_the_last_recall_or_too_much_of_counts_for_nothing() -> None:
    """Where somebody only looked, or the space was asked under another policy."""
    last = MAY + 2 * DAY
    life = make_life([last], [MAY + DAY, last, last + DAY])
    assert [span.start for span in life.spans] == [MAY, last]


def test_it_is_hidden_where_its_curve_meets_the_level() -> None:
    life = make_life([MAY + 9 * DAY], [], mode="threshold")
    first, last = life.spans
    assert first.faded
    assert first.fades_at is not None
    assert first.compute_left(first.fades_at) == pytest.approx(0.05)
    assert not last.faded  # that is still to come
    assert last.fades_at == life.compute_floor_time(ForgetPolicy(mode="threshold"))


def test_what_is_kept_is_never_hidden() -> None:
    assert make_life([], [], spared=True).last.fades_at is None
    assert make_life([], [], mode="rank").last.fades_at is None


def test_a_floor_of_nothing_is_never_reached() -> None:
    assert make_life([], []).compute_floor_time(ForgetPolicy(mode="rank", r_min=0)) is None
