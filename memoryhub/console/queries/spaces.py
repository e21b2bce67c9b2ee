"""Spaces with their counts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.pipeline.counting import with_counts
from memoryhub.tenants.models import Space

SORT = Choice(
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
ACTIVE = Choice(
    "active",
    _("Active"),
    (
        ("", _("Ever")),
        ("1", _("Since yesterday")),
        ("7", _("In the last week")),
        ("30", _("In the last month")),
    ),
)
WORK = Choice(
    "work",
    _("Work"),
    (("any", _("Any")), ("waiting", _("Jobs waiting")), ("failed", _("Jobs given up"))),
)


def space_or_404(space_id: UUID, now: datetime) -> Any:
    """The space with its counts per kind."""
    space = with_counts(Space.objects.filter(id=space_id), now).first()
    if space is None:
        raise Http404
    return space


def spaces(filters: Filters, now: datetime) -> Page[Any]:
    rows = with_counts(matching(filters.q), now)
    if filters["work"] != "any":
        rows = rows.filter(**{f"{filters['work']}__gt": 0})
    if filters["active"]:
        since = now - timedelta(days=int(filters["active"]))
        rows = rows.filter(last_activity_at__gte=since)
    return page_of(rows.order_by(*_order(filters["sort"])), filters.page)


def matching(text: str) -> QuerySet[Space]:
    rows: QuerySet[Space] = Space.objects.filter(containing(text, "subject", "name"))
    return rows.order_by("subject", "id")


def _order(sort: str) -> tuple[Any, ...]:
    first = {
        "recent": F("last_activity_at").desc(nulls_last=True),
        "name": F("subject").asc(),
        "new": F("created_at").desc(),
    }
    return (first.get(sort) or F(sort).desc(), "subject", "id")
