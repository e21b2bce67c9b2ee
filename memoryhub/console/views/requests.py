"""The request log."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries import requests as queries
from memoryhub.console.reading import read_id
from memoryhub.console.requests import ConsoleRequest

_COLUMNS = exports.fields("at", "method", "route", "status", "error", "milliseconds", "request_id")


@tenant_page()
def requests(request: ConsoleRequest) -> HttpResponse:
    """`?key=` narrows it to one key."""
    filters = read_filters(request.GET, queries.CHOICES)
    key, names = read_id(request.GET.get("key", "")), queries.key_names()
    rows = queries.requests(filters, key, timezone.now())
    if form := exports.wanted(request):
        columns = [*_COLUMNS, *exports.fields("key_id"), ("key", lambda row: names.get(row.key_id))]
        return exports.download(form, "requests", columns, rows)
    context = {
        "filters": filters,
        "key": names.get(key) if key else None,
        "held": {"key": key} if key else {},
        "page": page_of(rows, filters.page).map(lambda row: (row, _name(names, row.key_id))),
        "kept": settings.REQUEST_LOG_DAYS,
    }
    return render(request, "requests.html", context)


def _name(names: dict[UUID, str], key_id: UUID) -> str:
    return names.get(key_id, _("a key that is gone"))
