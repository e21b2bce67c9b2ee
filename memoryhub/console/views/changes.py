"""Who changed what: the audit."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries import changes as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.tenants.models import Membership

_COLUMNS = exports.fields("when", "who", "area", "what", "of", "why", "subject", "id")


@tenant_page(role=Membership.Role.ADMIN)
def changes(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, queries.CHOICES)
    rows = queries.changes(filters, timezone.now())
    if form := exports.wanted(request):
        told = queries.told(rows.iterator(exports.CHUNK))
        return exports.download(form, "changes", _COLUMNS, told)
    page = page_of(rows, filters.page)
    context = {"filters": filters, "page": page.holding(list(queries.told(page.rows)))}
    return render(request, "changes.html", context)
