"""Which topics are warm and which memories fade."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone

from memoryhub.console.frame import charts
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.forgetting_curves import build_fading_chart
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.pages.heat import decay, queries
from memoryhub.policies.services import load_effective_policy


@page_at("spaces/<uuid:space_id>/heat/", "space-heat")
@tenant_page()
def heat_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The warmth of topics, or with `view=fading` how memories fade."""
    space = get_space_or_404(space_id, timezone.now())
    shown = _build_fading_context if request.GET.get("view") == "fading" else _build_topics_context
    return render_tab(request, space, "heat", "heat/heat.html", **shown(request, space))


def _build_topics_context(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, policy = timezone.now(), load_effective_policy(space).policy
    filters = read_filters(request.GET, (queries.HEAT_KIND_CHOICE, queries.TOPIC_TIER_CHOICE))
    promotion = filters["by"] == "promotion"
    hot = queries.load_topics_by_heat(space, filters, policy, now)

    def bar(row: Any) -> list[tuple[str, str, float, float]]:
        return charts.build_heat_parts(row, hot.scale, policy.heat, promotion=promotion)

    ranked = enumerate(hot.page.rows, hot.page.first)
    return {
        "view": "topics",
        "filters": filters,
        "page": hot.page.with_rows([(rank, row, bar(row)) for rank, row in ranked]),
        "hot": hot,
        "threshold": round(100 * policy.heat.tau / hot.scale, 2) if promotion else None,
        "weights": policy.heat,
        "most": policy.segments.max,
        "promoted": queries.load_next_promoted(space, policy, now),
        "cold": queries.load_next_cold(space, policy, now, hot.mid),
        "moves": queries.load_latest_moves(space),
    }


def _build_fading_context(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    now, forget = timezone.now(), load_effective_policy(space).policy.forget
    filters = read_filters(
        request.GET, (decay.FADING_KIND_CHOICE, decay.FADING_SEEN_CHOICE, decay.FADING_DAYS_CHOICE)
    )
    at = decay.list_ages(int(filters["days"]))
    falls = decay.load_fading_summaries(space, forget, at, now) if forget.mode != "off" else []
    return {
        "view": "fading",
        "held": {"view": "fading"},
        "filters": filters,
        "forget": forget,
        "page": decay.load_fading_memories(space, filters, forget, now),
        "chart": build_fading_chart(falls, at),
    }
