"""The people of a tenant."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import FilterChoice, Filters, build_text_condition
from memoryhub.tenants.models import Membership

MEMBER_ROLE_CHOICE = FilterChoice("role", _("Role"), (("all", _("any")), *Membership.Role.choices))


def list_members(filters: Filters) -> QuerySet[Membership]:
    rows: QuerySet[Membership] = Membership.objects.select_related("user")
    if filters["role"] != "all":
        rows = rows.filter(role=filters["role"])
    rows = rows.filter(build_text_condition(filters.q, "user__username", "user__email"))
    return rows.order_by("user__username", "id")


def get_member_or_404(member_id: UUID) -> Membership:
    found: Membership | None = (
        Membership.objects.filter(id=member_id).select_related("user").first()
    )
    if found is None:
        raise Http404
    return found
