"""The request log."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.form_values import read_id
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.requests import queries

_REQUEST_COLUMNS = exports.build_columns(
    "at", "method", "route", "status", "error", "milliseconds", "request_id"
)


@page_at("requests/", "requests")
@tenant_page()
def request_list_page(request: ConsoleRequest) -> HttpResponse:
    """`?key=` narrows it to one key."""
    filters = read_filters(request.GET, queries.REQUEST_CHOICES)
    key, names = read_id(request.GET.get("key", "")), queries.load_key_names()
    rows = queries.list_requests(filters, key, timezone.now())
    if form := exports.read_export_format(request):
        columns = [
            *_REQUEST_COLUMNS,
            *exports.build_columns("key_id"),
            ("key", lambda row: names.get(row.key_id)),
        ]
        return exports.export_rows(form, "requests", columns, rows)
    context = {
        "filters": filters,
        "key": names.get(key) if key else None,
        "held": {"key": key} if key else {},
        "page": load_page(rows, filters.page).map(
            lambda row: (row, _format_key_name(names, row.key_id))
        ),
        "kept": settings.REQUEST_LOG_DAYS,
    }
    return render(request, "requests/list.html", context)


def _format_key_name(names: dict[UUID, str], key_id: UUID) -> str:
    return names.get(key_id, _("a key that is gone"))
