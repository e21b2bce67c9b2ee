"""How warm a segment is, worked out when it is asked for (MemoryOS, spec §11.5).

Two pairs of counters: those of promotion are reset when its pages have been promoted, those of
eviction never. With one pair, the segment just promoted would be the next to go cold.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, FloatField, OuterRef, QuerySet, Value
from django.db.models.functions import Cast, Exp, Extract, Greatest, Least

from memoryhub.policies.schema import HeatPolicy, Policy
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import UnitOfWork
from notes.models import Page, Segment, SegmentPage

# Thresholds compare rounded values (spec §0.1).
_DECIMAL_PLACES = 6
# After so many times mu nothing is left; the database takes what is smaller for an error.
_NEGLIGIBLE_AFTER = 100


def compute_recency(seconds: float, tau: float) -> float:
    """1 now, 1/e after `tau` seconds; a time in the future counts as now (E29)."""
    return exp(-max(0.0, seconds) / tau)


def compute_heat(visits: int, pages: int, idle_seconds: float, weights: HeatPolicy) -> float:
    """alpha x visits + beta x pages + gamma x recency, to six places (spec §11.5)."""
    recency = compute_recency(idle_seconds, weights.mu_seconds)
    warmth = weights.alpha * visits + weights.beta * pages + weights.gamma * recency
    return round(warmth, _DECIMAL_PLACES)


def compute_promotion_heat(segment: Segment, weights: HeatPolicy, as_of: datetime) -> float:
    """Whether to promote: over tau, strictly."""
    return compute_heat(
        segment.promo_visits, segment.promo_pages, _compute_idle_seconds(segment, as_of), weights
    )


def compute_eviction_heat(segment: Segment, weights: HeatPolicy, as_of: datetime) -> float:
    """Which to move out of sight first: the coldest."""
    return compute_heat(
        segment.visits_total, segment.pages_total, _compute_idle_seconds(segment, as_of), weights
    )


def build_coldness_key(
    segment: Segment, weights: HeatPolicy, as_of: datetime
) -> tuple[float, datetime, UUID]:
    """Sorts the coldest first: of equal heat the one visited longer ago, then by id."""
    return compute_eviction_heat(segment, weights, as_of), segment.last_visited_at, segment.id


def _compute_idle_seconds(segment: Segment, as_of: datetime) -> float:
    return (as_of - segment.last_visited_at).total_seconds()


# How many answers had one of its pages, and the last of them. Locked in order of ids: two that
# visit the same segments wait for each other and never both.
_ADD_VISITS_SQL = """
WITH visit AS (
  SELECT m.segment_id, count(DISTINCT g.answer) AS times, max(g.at) AS last
  FROM unnest(%s::int[], %s::uuid[], %s::timestamptz[]) AS g(answer, page, at)
  JOIN notes_segmentpage m ON m.page_id = g.page GROUP BY m.segment_id
), visited AS (
  SELECT s.id, v.times, v.last FROM notes_segment s JOIN visit v ON v.segment_id = s.id
  WHERE s.tenant_id = %s AND s.space_id = %s AND s.retired_at IS NULL
  ORDER BY s.id FOR UPDATE OF s
)
UPDATE notes_segment s SET visits_total = s.visits_total + v.times,
  promo_visits = s.promo_visits + v.times, last_visited_at = greatest(s.last_visited_at, v.last)
FROM visited v WHERE s.id = v.id
"""


def add_visits(space: Space, answers: Sequence[tuple[Collection[UUID], datetime]]) -> int:
    """Count one visit an answer for every segment that has one of its pages. Returns how many
    segments were visited.

    `answers`: the pages that made it into each context, and when. Only counters change: no
    revision is written (I11). Call inside the tenant's scope.
    """
    given = [(n, page, at) for n, (pages, at) in enumerate(answers) for page in pages]
    if not given:
        return 0
    with open_prepared_cursor() as cursor:
        columns = map(list, zip(*given, strict=True))
        cursor.execute(_ADD_VISITS_SQL, [*columns, space.tenant_id, space.id])
        return int(cursor.rowcount)


@dataclass(frozen=True, slots=True)
class DueSegment:
    """A segment warm enough, and its pages that promotion has not read, in order."""

    segment: Segment
    pages: list[Page]


def find_due_promotions(space: Space, policy: Policy, now: datetime) -> list[DueSegment]:
    """Every segment over tau with pages not analysed, the warmest first (spec O4, O5).

    Call inside the tenant's scope.
    """
    waiting = Page.objects.filter(analysed_at=None, memberships__segment=OuterRef("pk"))
    rows = Segment.objects.filter(
        Exists(waiting), space=space, tier=Segment.Tier.MID, retired_at=None, stale=False
    )
    warmth = {row: compute_promotion_heat(row, policy.heat, now) for row in rows}
    warm = [row for row in warmth if warmth[row] > round(policy.heat.tau, _DECIMAL_PLACES)]
    pages = _load_unanalysed_pages(warm)
    ordered = sorted(warm, key=lambda row: (-warmth[row], row.id))
    return [DueSegment(row, pages[row.id]) for row in ordered]


def _load_unanalysed_pages(segments: Sequence[Segment]) -> dict[UUID, list[Page]]:
    members = SegmentPage.objects.filter(segment__in=segments, page__analysed_at=None)
    found: dict[UUID, list[Page]] = {}
    one: dict[UUID, Page] = {}  # a page of two segments is one row in hand
    for member in members.select_related("page").order_by("page__first_seq"):
        page = one.setdefault(member.page_id, member.page)
        found.setdefault(member.segment_id, []).append(page)
    return found


def mark_promoted(
    changes: ChangeSet, segment: Segment, pages: Sequence[Page], weights: HeatPolicy, now: datetime
) -> None:
    """Mark exactly these pages as read and take them off the promotion counters (spec O3, O6).

    Saves the rows and adds their revisions to the change-set. Pages that joined meanwhile stay
    to be read; what decides on eviction is untouched.
    """
    unit = UnitOfWork.from_change_set(changes)
    for page in pages:
        if page.analysed_at is None:
            unit.edit_row(changes, page, analysed_at=now)
    segment.refresh_from_db(fields=["promo_pages", "promo_visits", "version"])
    counters = {"promo_visits": 0} if weights.reset == "both" else {}
    unit.edit_row(
        changes, segment, promo_pages=max(0, segment.promo_pages - len(pages)), **counters
    )
    unit.write_rows()


def annotate_heat(
    segments: QuerySet[Segment], weights: HeatPolicy, as_of: datetime
) -> QuerySet[Any]:
    """Each row with its `recency`, `heat` (of eviction) and `promotion`, worked out by the
    database so that a page of a list can be sorted by them."""
    last = F("last_visited_at")
    return segments.annotate(
        recency=build_recency_expression(last, weights, as_of),
        heat=build_warmth_expression("visits_total", "pages_total", last, weights, as_of),
        promotion=build_warmth_expression("promo_visits", "promo_pages", last, weights, as_of),
    )


def build_recency_expression(last: Any, weights: HeatPolicy, as_of: datetime) -> Any:
    """`compute_recency` since the time of the expression `last`, worked out by the database."""
    since = Cast(Extract(Value(as_of) - last, "epoch"), FloatField())
    idle = Least(Greatest(since, 0.0), _NEGLIGIBLE_AFTER * weights.mu_seconds)
    return Exp(-idle / weights.mu_seconds, output_field=FloatField())


def build_warmth_expression(
    visits: Any, pages: Any, last: Any, weights: HeatPolicy, as_of: datetime
) -> Any:
    """The formula of `heat` for rows of other kinds: how often recalled, how often said, and when
    last. Expressions of the database."""
    seen = weights.alpha * Cast(visits, FloatField()) + weights.beta * Cast(pages, FloatField())
    return seen + weights.gamma * build_recency_expression(last, weights, as_of)
