"""Who changed what: the audit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from api.v1.activity import AUDIT_COLUMNS, build_audit_sources
from memoryhub.console.frame import exports
from memoryhub.console.frame.access import ADMIN, page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text.audit_words import (
    format_audit_detail,
    format_audit_subject,
    format_trigger,
)
from memoryhub.console.frame.text.wording import format_erase_target
from memoryhub.tenants.models import AuditEntry
from notes.models import EvolutionEvent

AUDIT_DAYS_CHOICE = FilterChoice(
    "days",
    _("Days"),
    (("30", _("last 30 days")), ("7", _("last 7 days")), ("1", _("last day")), ("all", _("all"))),
)
AUDIT_AREA_CHOICE = FilterChoice(
    "area",
    _("Scope"),
    (
        ("all", _("anything")),
        ("memory", _("memories")),
        ("policy", _("policy")),
        ("erasure", _("erasures")),
        ("key", _("keys")),
        ("person", _("people")),
        ("webhook", _("webhooks")),
        ("tenant", _("tenant")),
        ("data", _("exports")),
    ),
)
AUDIT_CHOICES = (AUDIT_DAYS_CHOICE, AUDIT_AREA_CHOICE)
_AUDIT_ACTION_WORDS = {
    **dict(EvolutionEvent.Kind.choices),
    **dict(AuditEntry.Action.choices),
    "policy": _("Policy changed"),
    "erased": _("Erased"),
}
_AREA_PAGES = {"key": "keys", "person": "people", "webhook": "webhooks", "tenant": "settings"}


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row of the audit."""

    id: UUID
    when: datetime
    who: str
    area: str
    what: str
    of: str
    why: str
    in_space: UUID | None
    subject: str | None

    @property
    def words(self) -> str:
        return str(_AUDIT_ACTION_WORDS.get(self.what, self.what))

    @property
    def about(self) -> str:
        if self.area == "memory":
            return format_trigger(self.of)
        if self.area == "erasure":
            return format_erase_target(self.of)
        return format_audit_subject(self.of)

    @property
    def reason(self) -> str:
        return format_audit_detail(self.why)

    @property
    def address(self) -> str:
        """Where it is told in full; "" where nothing more is known."""
        if self.area == "memory":
            return reverse("space-event", args=[self.in_space, self.id])
        if self.area == "erasure":
            return reverse("receipt", args=[self.id])
        if self.area == "policy":
            space = self.in_space
            return reverse("space-policy", args=[space]) if space else reverse("policy")
        return reverse(_AREA_PAGES[self.area]) if self.area in _AREA_PAGES else ""


def list_audit_values(filters: Filters, now: datetime) -> QuerySet[Any]:
    """Values of `AuditRow`, newest first. One statement, of all sources."""
    kept = build_text_condition(filters.q, "who", "why", "of", "subject")
    if filters["area"] != "all":
        kept &= Q(area=filters["area"])
    if filters["days"] != "all":
        kept &= Q(when__gte=now - timedelta(days=int(filters["days"])))
    first, *rest = [
        rows.filter(kept).order_by().values(*AUDIT_COLUMNS) for rows in build_audit_sources()
    ]
    return first.union(*rest, all=True).order_by("-when", "-id")


_AUDIT_COLUMNS = exports.build_columns("when who area what of why subject id")


@page_at("changes/", "changes")
@tenant_page(role=ADMIN)
def change_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, AUDIT_CHOICES)
    rows = list_audit_values(filters, timezone.now())
    if form := exports.read_export_format(request):
        told = (AuditRow(**row) for row in rows.iterator(exports.CHUNK_ROWS))
        return exports.export_rows(form, "changes", _AUDIT_COLUMNS, told)
    page = load_page(rows, filters.page).map(lambda row: AuditRow(**row))
    context = {"filters": filters, "page": page}
    return render(request, "changes/list.html", context)
