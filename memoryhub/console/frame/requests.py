"""A request of somebody who is signed in and works for one tenant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from memoryhub.tenants.models import Membership, Tenant, User

# The session's key for the id of the tenant chosen.
TENANT_SESSION_KEY = "tenant"
_RANKS: Sequence[str] = (Membership.Role.VIEWER, Membership.Role.EDITOR, Membership.Role.ADMIN)


@dataclass(frozen=True)
class Seat:
    """Which tenant a person works for now, and what they may do there."""

    membership: Membership
    others: list[Membership]

    @property
    def tenant(self) -> Tenant:
        return self.membership.tenant

    def has_role(self, role: str) -> bool:
        return _RANKS.index(self.membership.role) >= _RANKS.index(role)

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
    actor: str  # the person, as the history names who did something
