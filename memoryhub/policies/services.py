"""The policy in force: a preset, what the tenant changed, what the space changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class Effective:
    """A policy and its version, which events carry ("t3.s1": tenant's third, space's first)."""

    policy: Policy
    version: str


def policy_of(space: Space) -> Effective:
    """Call inside the tenant's scope."""
    return Effective(Policy(), "t0.s0")


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

    Raises InvalidInput that names the switch and its bounds. Opens its own scope.
    """
    raise NotImplementedError
