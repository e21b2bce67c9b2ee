"""The recall log: what was asked, and each question with the way it took."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.form_values import read_id
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.recalls import queries
from memoryhub.tenants.models import Space


@page_at("recalls/", "recalls")
@tenant_page()
def recall_list_page(request: ConsoleRequest) -> HttpResponse:
    """`?space=` narrows it to one space, `?memory=` to what a memory was shown for."""
    filters = read_filters(request.GET, queries.RECALL_CHOICES)
    space_id = read_id(request.GET.get("space", ""))
    space = Space.objects.filter(id=space_id).first() if space_id else None
    narrowed = queries.RecallScope(space, read_id(request.GET.get("memory", "")))
    rows = queries.list_recalls(filters, narrowed, timezone.now())
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "recalls", _build_recall_columns(), rows)
    held = {"space": space.id if space else None, "memory": narrowed.memory}
    context = {
        "filters": filters,
        "narrowed": narrowed,
        "held": {name: value for name, value in held.items() if value},
        "page": queries.load_recall_page(rows, filters.page),
        "kept": settings.RECALL_LOG_DAYS,
    }
    return render(request, "recalls/list.html", context)


def _build_recall_columns() -> list[exports.ExportColumn]:
    names = queries.load_asker_key_names()
    told = exports.build_columns(
        "asked_at",
        "space.subject",
        "form",
        "query",
        "shown",
        "tokens",
        "milliseconds",
        "insufficient",
        "unverified",
        "degraded",
        "pending_turns",
        "channels",
        "policy_version",
        "embedder",
        "id",
    )
    return [*told, ("asker", lambda log: queries.format_asker(log, names))]


@page_at("recalls/<uuid:recall_id>/", "recall")
@tenant_page()
def recall_page(request: ConsoleRequest, recall_id: UUID) -> HttpResponse:
    log = queries.get_recall_or_404(recall_id)
    context = {"log": log, "space": log.space, "asker": queries.load_asker(log)}
    return render(request, "recalls/recall.html", context | queries.explain_recall(log))
