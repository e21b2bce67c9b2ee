"""Which topics are warm and which memories fade."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone

from memoryhub.console import charts
from memoryhub.console.access import tenant_page
from memoryhub.console.curves import falling
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import fading
from memoryhub.console.queries import heat as queries
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.policies.services import policy_of


@tenant_page()
def heat(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The warmth of topics, or with `view=fading` how memories fade."""
    space = space_or_404(space_id, timezone.now())
    shown = _fading if request.GET.get("view") == "fading" else _topics
    return tab(request, space, "heat", **shown(request, space))


def _topics(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, policy = timezone.now(), policy_of(space).policy
    filters = read_filters(request.GET, (queries.BY, queries.TIER))
    promotion = filters["by"] == "promotion"
    hot = queries.topics(space, filters, policy, now)

    def bar(row: Any) -> list[tuple[str, str, float, float]]:
        return charts.heat_parts(row, hot.scale, policy.heat, promotion=promotion)

    ranked = enumerate(hot.page.rows, hot.page.first)
    return {
        "view": "topics",
        "filters": filters,
        "page": hot.page.holding([(rank, row, bar(row)) for rank, row in ranked]),
        "hot": hot,
        "threshold": round(100 * policy.heat.tau / hot.scale, 2) if promotion else None,
        "weights": policy.heat,
        "most": policy.segments.max,
        "promoted": queries.next_promoted(space, policy, now),
        "cold": queries.next_cold(space, policy, now, hot.mid),
        "moves": queries.latest_moves(space),
    }


def _fading(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, forget = timezone.now(), policy_of(space).policy.forget
    filters = read_filters(request.GET, (fading.KIND, fading.SEEN, fading.DAYS))
    at = fading.ages(int(filters["days"]))
    falls = fading.falls(space, forget, at, now) if forget.mode != "off" else []
    return {
        "view": "fading",
        "held": {"view": "fading"},
        "filters": filters,
        "forget": forget,
        "page": fading.memories(space, filters, forget, now),
        "chart": falling(falls, at),
    }
