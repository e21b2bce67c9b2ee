"""The forgetting curve as it is drawn, in each mode of the policy."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from memoryhub.console.frame.forgetting_curves import (
    HEIGHT,
    HIGH,
    WIDE,
    WIDTH,
    LifeChart,
    build_curve,
    build_life_chart,
)
from memoryhub.policies.schema import ForgetPolicy
from notes.retention.spans import rebuild_retention_life
from tests.support.factories import MAY

ID = UUID(int=7)


def make_row(**values: Any) -> Any:
    given = {"id": ID, "strength": 1, "recall_count": 0, "last_recall_at": None, "forget_at": None}
    return SimpleNamespace(**given | values)


def test_nothing_is_drawn_where_nothing_fades() -> None:
    assert build_curve(make_row(), MAY, ForgetPolicy(mode="off"), MAY) is None


def test_it_starts_whole_and_falls() -> None:
    drawn = build_curve(make_row(), MAY, ForgetPolicy(mode="rank"), MAY + timedelta(days=2))
    assert drawn is not None
    heights = [float(point.split(",")[1]) for point in drawn.line.split()]
    assert heights[0] == 0
    assert heights == sorted(heights)
    assert heights[-1] <= HEIGHT
    assert 0 < drawn.now_x < WIDTH
    assert drawn.level is None
    assert "never hidden" in drawn.says


def test_a_recall_begins_it_anew_and_strength_slows_it() -> None:
    now = MAY + timedelta(days=9)
    forget = ForgetPolicy(mode="rank")
    old = build_curve(make_row(), MAY, forget, now)
    again = build_curve(
        make_row(last_recall_at=now - timedelta(days=1), strength=5), MAY, forget, now
    )
    assert old is not None
    assert again is not None
    assert again.start == now - timedelta(days=1)
    assert again.now_y < old.now_y


@pytest.mark.parametrize("mode", ["sample", "threshold"])
def test_it_meets_its_level_when_it_is_hidden(mode: Any) -> None:
    from notes.retention.curve import compute_forget_at

    forget = ForgetPolicy(mode=mode, r_min=0.2)
    when = compute_forget_at(forget, ID, MAY, 1, 0)
    assert when is not None
    drawn = build_curve(make_row(forget_at=when), MAY, forget, when)
    assert drawn is not None
    assert drawn.level == pytest.approx(drawn.now_y, abs=0.02)
    assert drawn.end > when


def test_a_time_to_come_and_none_at_all_are_drawn_too() -> None:
    assert (
        build_curve(make_row(), MAY + timedelta(days=9), ForgetPolicy(mode="rank"), MAY) is not None
    )
    assert build_curve(make_row(), MAY, ForgetPolicy(mode="rank", unit_days=0.001), MAY) is not None


def draw_life(row: Any, recalls: list[Any], now: Any, mode: Any = "threshold") -> LifeChart:
    forget = ForgetPolicy(mode=mode)
    life = rebuild_retention_life(row, MAY, recalls, forget, spared=False)
    return build_life_chart(life, life.compute_floor_time(forget), now)


def read_points(line: str) -> list[tuple[float, float]]:
    pairs = (point.split(",") for point in line.split())
    return [(float(x), float(y)) for x, y in pairs]


def test_a_life_is_drawn_in_pieces_that_start_whole_at_every_recall() -> None:
    last = MAY + timedelta(days=4)
    now = last + timedelta(days=1)
    chart = draw_life(make_row(strength=2, recall_count=1, last_recall_at=last), [], now)
    first, second = map(read_points, chart.past)
    assert (first[0], second[0][1]) == ((0, 0), 0)
    assert first[-1][0] == second[0][0] == chart.marks[1][0]
    assert first[-1][1] > second[-1][1]  # four days at strength 1, one at strength 2
    (ahead,) = map(read_points, chart.ahead)
    assert ahead[0] == second[-1]
    assert ahead[0][0] == chart.now_x
    assert ahead[-1][0] == WIDE
    ((_, level),) = {(mark[0] * 0, mark[1]) for mark in chart.marks}
    assert level == pytest.approx(HIGH * 0.95)
    # Three days suffice for less than the limit: it was out of sight until the recall, and will be.
    (gone, later) = chart.hidden
    assert gone[0] + gone[1] == pytest.approx(chart.marks[1][0], abs=0.02)
    assert later[0] > chart.now_x
    assert later[0] + later[1] == pytest.approx(WIDE, abs=0.02)
    assert chart.unknown == 0


def test_of_recalls_without_a_time_a_life_leaves_the_stretch_empty() -> None:
    last = MAY + timedelta(days=4)
    row = make_row(strength=4, recall_count=3, last_recall_at=last)
    chart = draw_life(row, [], last, mode="rank")
    assert chart.unknown == chart.now_x > 0
    assert not chart.past
    assert len(chart.ahead) == 1
    assert not chart.levels
    assert not chart.hidden
