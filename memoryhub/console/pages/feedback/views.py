"""What was said of memories: a list of the activity."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.feedback import queries

_FEEDBACK_COLUMNS = exports.build_columns(
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


@page_at("feedback/", "feedback")
@tenant_page()
def feedback_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, queries.FEEDBACK_CHOICES)
    rows = queries.list_feedback(filters, timezone.now())
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "feedback", _FEEDBACK_COLUMNS, rows)
    context = {"filters": filters, "page": queries.load_feedback_page(rows, filters.page)}
    return render(request, "feedback/list.html", context)
