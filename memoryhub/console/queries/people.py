"""The people of a tenant."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, containing
from memoryhub.tenants.models import Membership

ROLE = Choice("role", _("Role"), (("all", _("any")), *Membership.Role.choices))


def people(filters: Filters) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.select_related("user")
    if filters["role"] != "all":
        rows = rows.filter(role=filters["role"])
    rows = rows.filter(containing(filters.q, "user__username", "user__email"))
    return rows.order_by("user__username", "id")


def member_or_404(member_id: UUID) -> Membership:
    found: Membership | None = (
        Membership.objects.filter(id=member_id).select_related("user").first()
    )
    if found is None:
        raise Http404
    return found
