"""The policy in force: a preset, what the tenant changed, what the space changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memoryhub.errors import InvalidInput, NotFound
from memoryhub.policies.composing import composed, normalised
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import DEFAULT
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope


@dataclass(frozen=True, slots=True)
class Effective:
    """A policy and its version, which events carry ("t3.s1": tenant's third, space's first)."""

    policy: Policy
    version: str


def policy_of(space: Space) -> Effective:
    """The space's policy, in one query. Call inside the tenant's scope."""
    tenant, own = _in_force(space.tenant_id, space)
    return Effective(_composed(tenant, own), _version(tenant, own))


def policy_of_tenant(tenant_id: UUID) -> Effective:
    """What spaces without a word of their own have. Call inside the tenant's scope."""
    tenant, _ = _in_force(tenant_id, None)
    return Effective(_composed(tenant, None), _version(tenant, None))


def _composed(tenant: PolicyVersion | None, own: PolicyVersion | None) -> Policy:
    return composed(
        tenant.preset if tenant else DEFAULT,
        tenant.overrides if tenant else {},
        own.preset if own else "",
        own.overrides if own else {},
    )


def _version(tenant: PolicyVersion | None, own: PolicyVersion | None) -> str:
    return f"t{tenant.version if tenant else 0}.s{own.version if own else 0}"


def _in_force(
    tenant_id: UUID, space: Space | None
) -> tuple[PolicyVersion | None, PolicyVersion | None]:
    """The newest versions of the tenant and of the space."""
    wanted = Q(space=None) | Q(space=space) if space else Q(space=None)
    rows = PolicyVersion.objects.filter(wanted, tenant_id=tenant_id)
    newest = list(rows.order_by("space_id", "-version").distinct("space_id"))
    tenant = next((row for row in newest if row.space_id is None), None)
    return tenant, next((row for row in newest if row.space_id is not None), None)


def set_policy(
    tenant_id: UUID,
    *,
    actor: str,
    preset: str = "",
    overrides: dict[str, Any] | None = None,
    space: Space | None = None,
    reason: str = "",
    now: datetime | None = None,
) -> PolicyVersion:
    """Put a new version in force, for the tenant or for one of its spaces.

    `overrides` are all that is to differ from the preset: they replace those of the version
    before. Without a preset a tenant keeps the one it has, and a space takes its tenant's.
    Raises InvalidInput that names the switch and its bounds. Opens its own scope.
    """
    if space is not None and space.tenant_id != tenant_id:
        raise NotFound("there is no such space")
    changed = overrides or {}
    if space is not None:
        _refuse_for_space(changed)
    with tenant_scope(tenant_id):
        Tenant.objects.select_for_update().get(id=tenant_id)  # one version after the other
        tenant, own = _in_force(tenant_id, space)
        before = own if space else tenant
        made = PolicyVersion(
            tenant_id=tenant_id,
            space=space,
            version=before.version + 1 if before else 1,
            preset=preset or ("" if space else tenant.preset if tenant else DEFAULT),
            overrides=changed,
            actor=actor[:120],
            reason=reason[:500],
            created_at=now or timezone.now(),
        )
        policy = _composed(tenant if space else made, made if space else None)
        made.overrides = normalised(policy, changed)
        made.save(force_insert=True)
    return made


def _refuse_for_space(overrides: dict[str, Any]) -> None:
    for name in overrides:
        if name.startswith("llm.budget_"):
            raise InvalidInput(f"{name} is the tenant's: a space has no budget", field=name)
