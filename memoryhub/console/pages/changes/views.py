"""Who changed what: the audit."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import ADMIN, page_at, tenant_page
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.changes import queries

_AUDIT_COLUMNS = exports.build_columns("when", "who", "area", "what", "of", "why", "subject", "id")


@page_at("changes/", "changes")
@tenant_page(role=ADMIN)
def change_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, queries.AUDIT_CHOICES)
    rows = queries.list_audit_values(filters, timezone.now())
    if form := exports.read_export_format(request):
        told = queries.build_audit_rows(rows.iterator(exports.CHUNK_ROWS))
        return exports.export_rows(form, "changes", _AUDIT_COLUMNS, told)
    page = load_page(rows, filters.page)
    context = {
        "filters": filters,
        "page": page.with_rows(list(queries.build_audit_rows(page.rows))),
    }
    return render(request, "changes/list.html", context)
