"""What became of memories, questions, models and cases over time."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.pages.figures import plots, queries
from memoryhub.console.pages.usage.views import USAGE_DAYS_CHOICE, sum_usage_by_day

DAYS = 30  # of questions and of models


@page_at("figures/", "figures")
@tenant_page()
def figures_page(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    usage = sum_usage_by_day(read_filters({"days": str(DAYS)}, (USAGE_DAYS_CHOICE,)), now)
    shown = [
        plots.plot_facts_by_week(queries.count_facts_by_week(None, now)),
        plots.plot_latency_by_day(queries.load_latency_by_day(DAYS, now)),
        plots.plot_recall_quality(queries.load_replay_qualities()),
        plots.plot_case_ages(queries.count_cases_by_age(now)),
        plots.plot_usage_by_day([(each.key, each.tokens, each.money) for each in reversed(usage)]),
    ]
    shown.sort(key=lambda plot: plot.figure is None)  # what there is nothing of yet comes last
    return render(request, "figures/tenant.html", {"plots": shown, "now": now})


@page_at("spaces/<uuid:space_id>/figures/", "space-figures")
@tenant_page()
def space_figures_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    shown = [
        plots.plot_lifelines(queries.load_lifelines(space, now), now),
        plots.plot_facts_by_week(queries.count_facts_by_week(space, now)),
    ]
    return render_tab(request, space, "figures", "figures/space.html", plots=shown)
