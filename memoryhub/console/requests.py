"""A request of somebody who is signed in and works for one tenant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from memoryhub.tenants.models import Membership, Tenant, User

RANK = {Membership.Role.VIEWER: 0, Membership.Role.EDITOR: 1, Membership.Role.ADMIN: 2}


@dataclass(frozen=True)
class Seat:
    """Which tenant a person works for now, and what they may do there."""

    membership: Membership
    others: list[Membership]

    @property
    def tenant(self) -> Tenant:
        return self.membership.tenant

    def may(self, role: str) -> bool:
        return RANK[Membership.Role(self.membership.role)] >= RANK[Membership.Role(role)]

    @cached_property
    def can_edit(self) -> bool:
        return self.may(Membership.Role.EDITOR)

    @cached_property
    def can_administer(self) -> bool:
        return self.may(Membership.Role.ADMIN)


class ConsoleRequest(HttpRequest):
    """What views receive after `tenant_page`."""

    user: User
    htmx: HtmxDetails
    seat: Seat
    tenant: Tenant
