"""The recall log: what was asked, and each question with the way it took."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import recalls as queries
from memoryhub.console.reading import read_id
from memoryhub.console.requests import ConsoleRequest
from memoryhub.tenants.models import Space


@tenant_page()
def recalls(request: ConsoleRequest) -> HttpResponse:
    """`?space=` narrows it to one space, `?memory=` to what a memory was shown for."""
    filters = read_filters(request.GET, queries.CHOICES)
    space_id = read_id(request.GET.get("space", ""))
    space = Space.objects.filter(id=space_id).first() if space_id else None
    narrowed = queries.Narrowed(space, read_id(request.GET.get("memory", "")))
    rows = queries.recalls(filters, narrowed, timezone.now())
    if form := exports.wanted(request):
        return exports.download(form, "recalls", _columns(), rows)
    held = {"space": space.id if space else None, "memory": narrowed.memory}
    context = {
        "filters": filters,
        "narrowed": narrowed,
        "held": {name: value for name, value in held.items() if value},
        "page": queries.page_of_recalls(rows, filters.page),
        "kept": settings.RECALL_LOG_DAYS,
    }
    return render(request, "recalls.html", context)


def _columns() -> list[exports.Column]:
    names = queries.key_names()
    told = exports.fields(
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
    return [*told, ("asker", lambda log: queries.asker(log, names))]


@tenant_page()
def recall(request: ConsoleRequest, recall_id: UUID) -> HttpResponse:
    log = queries.recall_or_404(recall_id)
    context = {"log": log, "space": log.space, "asker": queries.asker_of(log)}
    return render(request, "recall.html", context | queries.told(log))
