"""The forgetting curve of one memory, from the day it was said until it would be hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.console.frame.forgetting_curves import LifeChart, build_life_chart
from memoryhub.policies.schema import ForgetPolicy
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.unasked import UNRATED_SECTIONS
from memoryhub.tenants.models import Space
from notes.retention.curve import compute_rank_weight
from notes.retention.decay import SAID_COLUMNS, RetentionState, compute_retention_state
from notes.retention.spans import RetentionLife, RetentionSpan, rebuild_retention_life

MAX_LOGGED_RECALLS = 500  # the latest are enough for a picture
# Where a person only looked, nothing was remembered better for it.
_ONLY_LOOKED = Q(via="console") | Q(via="chat", options__has_key="policy")


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A span with what began it: the question that recalled the memory, None where it was said or
    the question is not in the log. `left`: R just before, None where that is unknown."""

    span: RetentionSpan
    log: RecallLog | None
    left: float | None


@dataclass(frozen=True, slots=True)
class MemoryLife:
    """`floor`: when R is at the policy's least; `floor_weight`: what a search then weighs it with.
    `rows`: newest first."""

    life: RetentionLife
    standing: RetentionState
    floor: datetime | None
    floor_weight: str
    chart: LifeChart
    rows: list[LifeRow]


def load_recalls_of(space: Space, kind: str, memory: UUID) -> dict[datetime, RecallLog]:
    """The recalls that strengthened it and are still in the log, by their time. One statement."""
    items = RecallLogItem.objects.filter(space=space, kind=kind, memory_id=memory)
    shown = items.exclude(section__in=UNRATED_SECTIONS).values("log")
    logs = RecallLog.objects.filter(space=space, id__in=shown).exclude(_ONLY_LOOKED)
    found = logs.only("id", "asked_at", "query", "form")[:MAX_LOGGED_RECALLS]
    return {log.asked_at: log for log in found}


def build_memory_life(
    row: Any,
    logs: Mapping[datetime, RecallLog],
    forget: ForgetPolicy,
    now: datetime,
) -> MemoryLife:
    said: datetime = getattr(row, SAID_COLUMNS[type(row)])
    standing = compute_retention_state(row, said, forget, now)
    life = rebuild_retention_life(row, said, logs, forget, spared=standing.spared)
    floor = None if standing.spared else life.compute_floor_time(forget)
    before = [None, *(span.compute_left(span.end) for span in life.spans if span.end)]
    rows = [
        LifeRow(span, logs.get(span.start), left)
        for span, left in zip(life.spans, before, strict=True)
    ]
    weight = f"{compute_rank_weight(forget, forget.r_min):.2f}"
    return MemoryLife(life, standing, floor, weight, build_life_chart(life, floor, now), rows[::-1])
