"""The list of spaces."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.pipeline.counts import annotate_counts
from memoryhub.tenants.models import Space

SPACE_SORT_CHOICE = FilterChoice(
    "sort",
    _("Sort by"),
    (
        ("recent", _("Last activity")),
        ("name", _("Name")),
        ("turns", _("Most turns")),
        ("facts", _("Most facts")),
        ("notes", _("Most notes")),
        ("new", _("Newest")),
    ),
)
SPACE_ACTIVE_CHOICE = FilterChoice(
    "active",
    _("Active"),
    (
        ("", _("Any time")),
        ("1", _("Since yesterday")),
        ("7", _("In the last week")),
        ("30", _("In the last month")),
    ),
)
SPACE_WORK_CHOICE = FilterChoice(
    "work",
    _("Work"),
    (("any", _("Any")), ("waiting", _("Waiting jobs")), ("failed", _("Given-up jobs"))),
)


def load_spaces(filters: Filters, now: datetime) -> ListPage[Any]:
    rows = annotate_counts(find_spaces(filters.q), now)
    if filters["work"] != "any":
        rows = rows.filter(**{f"{filters['work']}__gt": 0})
    if filters["active"]:
        since = now - timedelta(days=int(filters["active"]))
        rows = rows.filter(last_activity_at__gte=since)
    return load_page(rows.order_by(*_build_space_order(filters["sort"])), filters.page)


def find_spaces(text: str) -> QuerySet[Space]:
    rows: QuerySet[Space] = Space.objects.filter(build_text_condition(text, "subject", "name"))
    return rows.order_by("subject", "id")


def _build_space_order(sort: str) -> tuple[Any, ...]:
    first = {
        "recent": F("last_activity_at").desc(nulls_last=True),
        "name": F("subject").asc(),
        "new": F("created_at").desc(),
    }
    return (first.get(sort) or F(sort).desc(), "subject", "id")


@page_at("spaces/", "spaces")
@tenant_page()
def space_list_page(request: ConsoleRequest) -> HttpResponse:
    choices = (SPACE_SORT_CHOICE, SPACE_ACTIVE_CHOICE, SPACE_WORK_CHOICE)
    filters = read_filters(request.GET, choices)
    page = load_spaces(filters, timezone.now())
    return render(request, "spaces/list.html", {"filters": filters, "page": page})
