"""The overview: how much is held, and whether it keeps up."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub import migrating
from memoryhub.console import charts, health
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries import overview as queries
from memoryhub.console.queries import quality, usage, webhooks, work
from memoryhub.console.queries import spaces as space_queries
from memoryhub.console.ranges import since
from memoryhub.console.requests import ConsoleRequest
from memoryhub.tenants.models import Tenant


@tenant_page()
def overview(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, (queries.RANGE,))
    length = int(filters["days"])
    first = since(length, now)
    queue = queries.queue(now)
    totals = queries.tenant_totals(request.tenant, now)
    days = queries.activity(length, now)
    context = {
        "totals": totals,
        "queue": queue,
        "lag": queue.oldest,
        "notices": health.notices(
            queue,
            llm=bool(settings.OPENAI_BASE_URL),
            empty=not totals["turns"],
            unreached=webhooks.unreached() if request.seat.can_administer else 0,
            hub=_hub(request, now),
        ),
        "filters": filters,
        "used": usage.since(first),
        "decisions": quality.decisions(first),
        "most_jobs": quality.MOST_JOBS,
        "signals": quality.signals(first),
        "requests": quality.requests(now),
        "chart": charts.activity(days),
        "days": days,
        "failures": queries.failures(),
        "events": queries.latest_events(),
        "spaces": queries.liveliest_spaces(now),
    }
    part = "parts/overview_live.html" if request.htmx else "overview.html"
    return render(request, part, context)


def _hub(request: ConsoleRequest, now: datetime) -> health.Hub:
    """What is wrong beside the queue."""
    wants_model = request.tenant.engine == Tenant.Engine.LLM
    return health.Hub(
        unmigrated=migrating.pending(),
        model_unset=wants_model and not (settings.OPENAI_BASE_URL and settings.LLM_MODEL),
        model_error=quality.failing(now),
    )


@tenant_page()
def search(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET)
    context: dict[str, Any] = {"filters": filters}
    if filters.q:
        context |= {
            "spaces": page_of(space_queries.matching(filters.q), 1),
            "facts": work.found_facts(filters.q),
        }
    return render(request, "search.html", context)
