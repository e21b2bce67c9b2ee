"""What was said of memories: a list of the activity."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import feedback as queries
from memoryhub.console.requests import ConsoleRequest

_COLUMNS = exports.fields(
    "created_at",
    "space.subject",
    "row_type",
    "row_id",
    "verdict",
    "reason",
    "actor",
    "recall_id",
    "id",
)


@tenant_page()
def feedback(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, queries.CHOICES)
    rows = queries.words(filters, timezone.now())
    if form := exports.wanted(request):
        return exports.download(form, "feedback", _COLUMNS, rows)
    context = {"filters": filters, "page": queries.page_of_words(rows, filters.page)}
    return render(request, "feedback.html", context)
