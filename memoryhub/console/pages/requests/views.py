"""The request log."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from api.models import LoggedRequest
from memoryhub.console.frame import exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.forms import read_id
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.tenants.models import ApiKey

REQUEST_DAYS_CHOICE = FilterChoice(
    "days",
    _("Days"),
    (
        ("1", _("last day")),
        ("7", _("last 7 days")),
        ("30", _("last 30 days")),
        ("all", _("everything kept")),
    ),
)
REQUEST_OUTCOME_CHOICE = FilterChoice(
    "outcome",
    pgettext_lazy("column", "Ended"),
    (("all", _("any outcome")), ("good", _("succeeded")), ("4", _("refused")), ("5", _("failed"))),
)
REQUEST_DURATION_CHOICE = FilterChoice(
    "slow",
    _("Time"),
    (
        ("0", _("any time")),
        ("100", _("over 100 ms")),
        ("1000", _("over 1 s")),
        ("10000", _("over 10 s")),
    ),
)
REQUEST_CHOICES = (REQUEST_DAYS_CHOICE, REQUEST_OUTCOME_CHOICE, REQUEST_DURATION_CHOICE)
_REQUEST_OUTCOME_CONDITIONS = {
    "all": Q(),
    "good": Q(status__lt=400),
    "4": Q(status__gte=400, status__lt=500),
    "5": Q(status__gte=500),
}


def list_requests(filters: Filters, key: UUID | None, now: datetime) -> QuerySet[LoggedRequest]:
    """Newest first. `key`: of that one alone."""
    rows: QuerySet[LoggedRequest] = LoggedRequest.objects.filter(
        _REQUEST_OUTCOME_CONDITIONS[filters["outcome"]]
    )
    if filters["days"] != "all":
        rows = rows.filter(at__gte=now - timedelta(days=int(filters["days"])))
    if filters["slow"] != "0":
        rows = rows.filter(milliseconds__gt=int(filters["slow"]))
    if key is not None:
        rows = rows.filter(key_id=key)
    return rows.filter(build_text_condition(filters.q, "method", "route", "error", "request_id"))


_REQUEST_COLUMNS = exports.build_columns(
    "at method route status error milliseconds request_id key_id"
)


# Some routes are patterns ("^mcp/?$"); what takes anything is declared for addresses of nothing.
_ROUTE_MARKS = (("^", ""), ("/?$", ""), ("$", ""), (r"[\s\S]*", "…"), (".*", "…"))


_ROUTE_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def _format_route(route: str) -> str:
    """As an address, with parameters as the API's description writes them."""
    route = _ROUTE_PARAMETER.sub(r"{\1}", route)
    for mark, words in _ROUTE_MARKS:
        route = route.replace(mark, words)
    return f"/{route}"


@page_at("requests/", "requests")
@tenant_page()
def request_list_page(request: ConsoleRequest) -> HttpResponse:
    """`?key=` narrows it to one key."""
    filters = read_filters(request.GET, REQUEST_CHOICES)
    key = read_id(request.GET.get("key", ""))
    names = dict(ApiKey.objects.order_by().values_list("id", "name"))
    rows = list_requests(filters, key, timezone.now())
    if form := exports.read_export_format(request):
        columns = [*_REQUEST_COLUMNS, ("key", lambda row: names.get(row.key_id))]
        return exports.export_rows(form, "requests", columns, rows)
    context = {
        "filters": filters,
        "key": names.get(key) if key else None,
        "held": {"key": key} if key else {},
        "page": load_page(rows, filters.page).map(
            lambda row: (
                row,
                _format_route(row.route),
                names.get(row.key_id, gettext("a deleted key")),
            )
        ),
        "kept": settings.REQUEST_LOG_DAYS,
    }
    return render(request, "requests/list.html", context)
