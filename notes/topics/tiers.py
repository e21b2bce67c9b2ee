"""Which segments are in reach, and which are moved out of sight (MemoryOS, spec §11.5).

A cold segment is out of the mid-term channel and nothing else: its pages are found by every
other, and a visit that way brings it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Max, QuerySet

from memoryhub.policies.schema import HeatPolicy, Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import UnitOfWork
from notes.models import EvolutionEvent, Revision, Segment
from notes.topics.heat import build_coldness_key, compute_eviction_heat


def filter_in_reach(segments: QuerySet[Segment]) -> QuerySet[Segment]:
    """Those of the mid-term channel: neither cold nor withheld until they are rewritten."""
    rows: QuerySet[Segment] = segments.filter(tier=Segment.Tier.MID, stale=False, retired_at=None)
    return rows


def select_surplus(
    segments: Iterable[Segment],
    most: int,
    weights: HeatPolicy,
    as_of: datetime,
    keep: Collection[UUID],
) -> list[Segment]:
    """The coldest over `most`, coldest first; never those to `keep` (spec O1)."""
    rows = list(segments)
    others = sorted(
        (row for row in rows if row.id not in keep),
        key=lambda r: build_coldness_key(r, weights, as_of),
    )
    return others[: max(0, len(rows) - most)]


def evict_segments(
    changes: ChangeSet, policy: Policy, now: datetime, keep: Collection[UUID] = ()
) -> int:
    """Move the coldest mid-term segments over the limit out of sight; returns how many.

    `keep`: those just made. Saves the change-set. Call inside the tenant's scope.
    """
    rows = _filter_mid_tier(changes.space)
    if rows.count() <= policy.segments.max:
        return 0
    gone = select_surplus(rows, policy.segments.max, policy.heat, now, keep)
    _move_segments(changes, gone, Segment.Tier.COLD)
    return len(gone)


def bring_back_segments(space: Space, policy: Policy, now: datetime) -> None:
    """Bring cold segments back that were visited since and are warmer than the coldest in reach;
    what is then too much goes cold (spec §11.5). A task of the sweep.
    """
    cold = Segment.objects.filter(space=space, tier=Segment.Tier.COLD, retired_at=None)
    visited = _select_visited_since(list(cold))
    if not visited:
        return
    reach = [compute_eviction_heat(row, policy.heat, now) for row in _filter_mid_tier(space)]
    coldest = min(reach, default=0.0)
    warm = [row for row in visited if compute_eviction_heat(row, policy.heat, now) > coldest]
    _move_segments(_build_change_set(space, now, "visited again"), warm, Segment.Tier.MID)
    evict_segments(_build_change_set(space, now, "too many segments in reach"), policy, now)


def _filter_mid_tier(space: Space) -> QuerySet[Segment]:
    return Segment.objects.filter(space=space, tier=Segment.Tier.MID, retired_at=None)


def _select_visited_since(cold: Sequence[Segment]) -> list[Segment]:
    """Those visited after they were moved out of sight."""
    moved = Revision.objects.filter(
        row_type="segment",
        row_id__in=[row.id for row in cold],
        event__kind=EvolutionEvent.Kind.ARCHIVE,
    ).values("row_id")
    since = dict(moved.annotate(at=Max("event__created_at")).values_list("row_id", "at"))
    return [row for row in cold if row.id not in since or row.last_visited_at > since[row.id]]


def _build_change_set(space: Space, now: datetime, reason: str) -> ChangeSet:
    return ChangeSet(
        space,
        EvolutionEvent.Kind.ARCHIVE,
        actor="pipeline",
        at=now,
        reason=reason,
        trigger="sweep",
        policy_version=load_effective_policy(space).version,
    )


def _move_segments(changes: ChangeSet, segments: Sequence[Segment], tier: str) -> None:
    unit = UnitOfWork.from_change_set(changes)
    for row in segments:
        unit.track_row(row)
        row.tier = tier
    unit.save()
