"""The forgetting curve as it is drawn, in each mode of the policy."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from memoryhub.console.frame.forgetting_curves import HEIGHT, WIDTH, build_curve
from memoryhub.policies.schema import ForgetPolicy
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
