"""A request of somebody who is signed in and works for one tenant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.scope import user_scope

ROLE_RANKS = {Membership.Role.VIEWER: 0, Membership.Role.EDITOR: 1, Membership.Role.ADMIN: 2}


@dataclass(frozen=True)
class Seat:
    """Which tenant a person works for now, and what they may do there."""

    membership: Membership
    others: list[Membership]

    @property
    def tenant(self) -> Tenant:
        return self.membership.tenant

    def has_role(self, role: str) -> bool:
        return (
            ROLE_RANKS[Membership.Role(self.membership.role)] >= ROLE_RANKS[Membership.Role(role)]
        )

    @cached_property
    def can_edit(self) -> bool:
        return self.has_role(Membership.Role.EDITOR)

    @cached_property
    def can_administer(self) -> bool:
        return self.has_role(Membership.Role.ADMIN)


class ConsoleRequest(HttpRequest):
    """What views receive after `tenant_page`."""

    user: User
    htmx: HtmxDetails
    seat: Seat
    tenant: Tenant


# The tenants a person belongs to, and the one chosen.


# The session's key for the id of the tenant chosen.
TENANT_SESSION_KEY = "tenant"


def load_memberships(user_id: int) -> list[Membership]:
    """Read before any tenant is in scope, which is why the tenant's manager would find none."""
    with user_scope(user_id):
        rows = Membership._base_manager.filter(user_id=user_id).select_related("tenant")
        return list(rows.order_by("tenant__name", "tenant_id"))


def select_seat(memberships: list[Membership], chosen: str) -> Seat | None:
    """The chosen tenant if the person still belongs to it, else the first; None without any."""
    if not memberships:
        return None
    wanted = (m for m in memberships if str(m.tenant_id) == chosen)
    membership = next(wanted, memberships[0])
    return Seat(membership, [m for m in memberships if m is not membership])
