"""The tenants a person belongs to, and the one chosen."""

from __future__ import annotations

from memoryhub.console.requests import Seat
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import user_scope

# The session's key for the id of the tenant chosen.
CHOSEN = "tenant"


def memberships_of(user_id: int) -> list[Membership]:
    """Read before any tenant is in scope, which is why the tenant's manager would find none."""
    with user_scope(user_id):
        rows = Membership._base_manager.filter(user_id=user_id).select_related("tenant")
        return list(rows.order_by("tenant__name", "tenant_id"))


def seat_in(memberships: list[Membership], chosen: str) -> Seat | None:
    """The chosen tenant if the person still belongs to it, else the first; None without any."""
    if not memberships:
        return None
    wanted = (m for m in memberships if str(m.tenant_id) == chosen)
    membership = next(wanted, memberships[0])
    return Seat(membership, [m for m in memberships if m is not membership])
