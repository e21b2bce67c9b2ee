"""The forgetting curve: how much of a memory is left, and when it fades (spec §2.3, §11.6).

R = exp(-t / (S x unit)): strength slows forgetting down. Chance is drawn once a recall, not once
a look: the draw is frozen by the item's id and the number of its recalls, so that fading is one
instant that can be computed beforehand, stored and indexed, however often anybody looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import exp, log
from uuid import UUID

import numpy as np

from memoryhub.policies.schema import ForgetPolicy

DAY_SECONDS = 86_400
# A date further away than this means never.
NEVER_AFTER = timedelta(days=365 * 1000)


def compute_retention(elapsed: timedelta, strength: int, unit_days: float) -> float:
    """R in [0, 1] after `elapsed` since the last recall; 1 for a time still to come."""
    days = max(0.0, elapsed.total_seconds()) / DAY_SECONDS
    return exp(-days / (strength * unit_days))


def draw_chance(item_id: UUID, recall_count: int) -> float:
    """u in (0, 1), always the same for an item between two recalls: it fades when R < u."""
    digest = hashlib.sha256(f"{item_id}:{recall_count}".encode()).digest()
    return float((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)


def compute_fade_time(
    last_recall: datetime, strength: int, level: float, unit_days: float
) -> datetime:
    """When R falls to `level`: last_recall + S x unit x (-ln level)."""
    days = strength * unit_days * -log(level)
    return last_recall + (timedelta(days=days) if days < NEVER_AFTER.days else NEVER_AFTER)


def compute_forget_at(
    forget: ForgetPolicy, item_id: UUID, last_recall: datetime, strength: int, recall_count: int
) -> datetime | None:
    """When the item fades under this policy; None where nothing ever does."""
    level = {
        "sample": draw_chance(item_id, recall_count),
        "threshold": forget.r_min,
    }.get(forget.mode, 0.0)
    return compute_fade_time(last_recall, strength, level, forget.unit_days) if level > 0 else None


def is_hiding_enabled(forget: ForgetPolicy) -> bool:
    """Whether this policy ever hides anything."""
    return forget.mode in ("sample", "threshold")


def compute_rank_weight(forget: ForgetPolicy, r: float) -> float:
    """What a result's score is multiplied by: R^w in mode `rank`, else 1.

    R counts as r_min at least, so that age orders what is alike and never buries anything.
    """
    return float(max(r, forget.r_min) ** forget.weight) if forget.mode == "rank" else 1.0


def compute_rank_weights(
    forget: ForgetPolicy, seconds: Sequence[float], strengths: Sequence[int]
) -> list[float]:
    """`weight` of what is `compute_retention` of each after so many `seconds`: a search asks it of
    some hundreds at once."""
    days = np.maximum(np.array(seconds, dtype=float), 0.0) / DAY_SECONDS
    left = np.exp(-days / (np.array(strengths, dtype=float) * forget.unit_days))
    found: list[float] = (np.maximum(left, forget.r_min) ** forget.weight).tolist()
    return found if forget.mode == "rank" else [1.0] * len(found)
