"""The overview: how much is held, and whether it keeps up."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub import health
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.day_ranges import compute_range_start
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.history.queries import load_latest_entries
from memoryhub.console.pages.overview import notices, queries
from memoryhub.console.pages.overview.activity_chart import build_activity_chart
from memoryhub.console.pages.overview.queries import (
    MAX_COUNTED_JOBS,
    count_answer_signals,
    count_decisions,
    count_requests,
    find_latest_model_error,
)
from memoryhub.console.pages.usage.views import sum_usage_since
from memoryhub.console.pages.webhooks import queries as webhooks_queries
from memoryhub.inference.connections import is_connected
from memoryhub.pipeline.counts import count_totals
from memoryhub.tenants.models import Tenant

LATEST_CHANGES = 6


@page_at("", "overview")
@tenant_page()
def overview_page(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, (queries.OVERVIEW_DAYS_CHOICE,))
    length = int(filters["days"])
    first = compute_range_start(length, now)
    queue = queries.load_queue_state(now)
    totals = count_totals(Tenant.objects.filter(id=request.tenant.id), now)
    days = queries.count_activity(length, now)
    administers = request.seat.can_administer
    unreached = webhooks_queries.count_unreached_webhooks() if administers else 0
    context = {
        "totals": totals,
        "queue": queue,
        "lag": queue.oldest,
        "notices": notices.list_notices(
            queue,
            llm=is_connected(request.tenant),
            empty=not totals["turns"],
            unreached=unreached,
            hub=_load_hub_state(request, now),
        ),
        "filters": filters,
        "used": sum_usage_since(first),
        "decisions": count_decisions(first),
        "most_jobs": MAX_COUNTED_JOBS,
        "signals": count_answer_signals(first),
        "requests": count_requests(now),
        "chart": build_activity_chart(days),
        "days": days,
        "failures": queries.load_latest_failures(),
        "changes": load_latest_entries(None, LATEST_CHANGES),
        "spaces": queries.load_liveliest_spaces(now),
    }
    part = "overview/_content.html" if request.htmx else "overview/overview.html"
    return render(request, part, context)


def _load_hub_state(request: ConsoleRequest, now: datetime) -> notices.HubState:
    """What is wrong beside the queue."""
    wants_model = request.tenant.engine == Tenant.Engine.LLM
    return notices.HubState(
        unmigrated=health.count_pending_migrations(),
        model_unset=wants_model and not is_connected(request.tenant),
        model_error=find_latest_model_error(now),
    )
