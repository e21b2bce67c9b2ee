"""How warm rows of a list are and how much of them is left, by the policies of their spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from memoryhub.policies.services import load_space_policies
from notes.models import Episode, Fact, Note, Segment
from notes.retention.decay import SAID_COLUMNS, compute_retention_state
from notes.topics.heat import compute_eviction_heat, compute_heat

WARM_MODELS = (Segment, Fact, Note, Episode)


@dataclass(frozen=True, slots=True)
class Warmth:
    """`heat` as the pages show it. `left`: R between 0 and 1, None where nothing fades."""

    heat: float
    left: float | None = None


def load_warmth(rows: Sequence[Any], now: datetime) -> dict[Any, Warmth]:
    """By id, of rows of one of `WARM_MODELS`, whatever their spaces. One statement."""
    policies = load_space_policies(rows[0].tenant_id, {r.space_id for r in rows}) if rows else {}
    found = {}
    for row in rows:
        policy = policies[row.space_id]
        if isinstance(row, Segment):
            found[row.id] = Warmth(compute_eviction_heat(row, policy.heat, now))
            continue
        said: datetime = getattr(row, SAID_COLUMNS[type(row)])
        idle = (now - (row.last_recall_at or said)).total_seconds()
        heat = compute_heat(row.recall_count, getattr(row, "mention_count", 1), idle, policy.heat)
        fades = policy.forget.mode != "off"
        left = compute_retention_state(row, said, policy.forget, now).r if fades else None
        found[row.id] = Warmth(heat, left)
    return found


def prepare_rows(rows: Sequence[Any]) -> None:
    """Give rows of one table what their columns say besides what is stored."""
    if rows and isinstance(rows[0], WARM_MODELS):
        warmth = load_warmth(rows, timezone.now())
        for row in rows:
            row.warmth = warmth[row.id]
