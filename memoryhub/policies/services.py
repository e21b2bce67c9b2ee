"""The policy in force: a preset, what the tenant changed, what the space changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.engines.llm import own_prompts
from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.policies.compose import (
    PolicyDifference,
    compose_policy,
    compute_differences,
    normalise_overrides,
)
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import DEFAULT_PRESET
from memoryhub.policies.schema import Policy, split_keys
from memoryhub.policies.switches import LOG_SWITCHES, PROMPT, get_family, get_switch_value
from memoryhub.tenants.database.prepared import load_prepared_rows
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy and its version, which events carry ("t3.s1": tenant's third, space's first)."""

    policy: Policy
    version: str


@dataclass(frozen=True, slots=True)
class PolicyLayers:
    """The versions in force: the tenant's, and the space's own; None where nothing was said."""

    tenant: PolicyVersion | None
    own: PolicyVersion | None

    @property
    def policy(self) -> Policy:
        return _compose_layers(self.tenant, self.own)

    @property
    def version(self) -> str:
        tenant, own = (row.version if row else 0 for row in (self.tenant, self.own))
        return f"t{tenant}.s{own}"


def load_effective_policy(space: Space) -> EffectivePolicy:
    """The space's policy, in one query. Call inside the tenant's scope."""
    layers = load_layers(space.tenant_id, space)
    return EffectivePolicy(layers.policy, layers.version)


def load_tenant_policy(tenant_id: UUID) -> EffectivePolicy:
    """What spaces without a word of their own have. Call inside the tenant's scope."""
    layers = load_layers(tenant_id, None)
    return EffectivePolicy(layers.policy, layers.version)


def load_space_policies(tenant_id: UUID, spaces: Collection[UUID]) -> dict[UUID, Policy]:
    """The policy of each of these spaces. One statement, inside the tenant's scope."""
    rows = PolicyVersion.objects.filter(Q(space=None) | Q(space__in=spaces), tenant=tenant_id)
    newest = rows.order_by("space_id", "-version").distinct("space_id")
    by_space = {row.space_id: row for row in newest}
    return {space: _compose_layers(by_space.get(None), by_space.get(space)) for space in spaces}


# Every question and every turn read it: a plain statement.
_NEWEST_VERSIONS_SQL = """id IN (
  SELECT DISTINCT ON (space_id) id FROM policies_policyversion
  WHERE tenant_id = %s AND (space_id IS NULL OR space_id = %s) ORDER BY space_id, version DESC)
"""


def load_layers(tenant_id: UUID, space: Space | None) -> PolicyLayers:
    """The newest versions of the tenant and of the space. Call inside the tenant's scope."""
    newest = load_prepared_rows(
        PolicyVersion, _NEWEST_VERSIONS_SQL, [tenant_id, space.id if space else None]
    )
    tenant = next((row for row in newest if row.space_id is None), None)
    return PolicyLayers(tenant, next((row for row in newest if row.space_id is not None), None))


def _compose_layers(tenant: PolicyVersion | None, own: PolicyVersion | None) -> Policy:
    given = (tenant.preset, tenant.overrides) if tenant else (DEFAULT_PRESET, {})
    return compose_policy(*given, *((own.preset, own.overrides) if own else ()))


def set_policy(
    tenant_id: UUID,
    *,
    actor: str,
    preset: str = "",
    overrides: dict[str, Any] | None = None,
    space: Space | None = None,
    reason: str = "",
    now: datetime | None = None,
    expected: int | None = None,
) -> PolicyVersion:
    """Put a new version in force, for the tenant or for one of its spaces.

    `overrides` are all that is to differ from the preset: they replace those of the version
    before. Without a preset a tenant keeps the one it has, and a space takes its tenant's.
    `expected` is the version that the change was made on: Conflict when there is a newer one.
    Raises InvalidInput that names the switch and its bounds. Opens its own scope.
    """
    with tenant_scope(tenant_id):
        # One version after the other; rows of the tenant are written meanwhile.
        Tenant.objects.select_for_update(no_key=True).get(id=tenant_id)
        made, _ = _build_proposed_version(
            tenant_id,
            PolicyVersion(
                tenant_id=tenant_id,
                space=space,
                preset=preset,
                overrides=overrides or {},
                actor=actor[:120],
                reason=reason[:500],
                created_at=now or timezone.now(),
            ),
            expected,
        )
        made.save(force_insert=True)
    return made


def set_predicate_cardinality(
    tenant_id: UUID, key: str, cardinality: Literal["single", "multi"] | None, *, actor: str
) -> PolicyVersion:
    """Put into the tenant's policy that of a predicate one value holds at a time, or several;
    None: what a model and the table say. For claims read from then on.

    Raises InvalidInput for what is no key, or too many of them. Opens its own scope.
    """
    key = key.strip()
    if not key or "," in key:
        raise InvalidInput(gettext("the key of a predicate, as lives_in"), field="key")
    with tenant_scope(tenant_id):
        before = load_layers(tenant_id, None).tenant
    preset, overrides = (before.preset, before.overrides) if before else (DEFAULT_PRESET, {})
    held, usual = compose_policy(preset, overrides).facts, compose_policy(preset, {}).facts
    for name, kind in (("one_value", "single"), ("many_values", "multi")):
        keys = split_keys(getattr(held, name)) - {key} | ({key} if cardinality == kind else set())
        overrides = overrides | {f"facts.{name}": ", ".join(sorted(keys))}
        if overrides[f"facts.{name}"] == getattr(usual, name):
            del overrides[f"facts.{name}"]
    said = {"single": "one value", "multi": "several values", None: "automatic"}[cardinality]
    return set_policy(
        tenant_id,
        actor=actor,
        overrides=overrides,
        reason=f"{key}: {said}",
        expected=before.version if before else 0,
    )


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a change would make of the policy in force."""

    policy: Policy
    changes: list[PolicyDifference]


def preview_policy(
    tenant_id: UUID,
    *,
    preset: str = "",
    overrides: dict[str, Any] | None = None,
    space: Space | None = None,
    expected: int | None = None,
) -> PolicyPreview:
    """What `set_policy` would do, done nowhere. Raises as it does. Opens its own scope."""
    asked = PolicyVersion(
        tenant_id=tenant_id, space=space, preset=preset, overrides=overrides or {}
    )
    with tenant_scope(tenant_id):
        before = load_layers(tenant_id, space).policy
        _, after = _build_proposed_version(tenant_id, asked, expected)
    return PolicyPreview(after, compute_differences(before, after))


def _build_proposed_version(
    tenant_id: UUID, asked: PolicyVersion, expected: int | None
) -> tuple[PolicyVersion, Policy]:
    """The version as it would be stored, and the policy with it. Call inside the scope."""
    space = asked.space
    if space is not None and space.tenant_id != tenant_id:
        raise NotFound(gettext("there is no such space"))
    budget = next((name for name in asked.overrides if name.startswith("llm.budget_")), "")
    if space is not None and budget:
        message = gettext("%(name)s is the tenant's: a space has no budget")
        raise InvalidInput(message % {"name": budget}, field=budget)
    log = next((name for name in asked.overrides if name in LOG_SWITCHES), "")
    if space is not None and log:
        message = gettext("%(name)s is the tenant's: logs of all its spaces are kept alike")
        raise InvalidInput(message % {"name": log}, field=log)
    layers = load_layers(tenant_id, space)
    before = layers.own if space else layers.tenant
    version = before.version if before else 0
    if expected is not None and expected != version:
        raise Conflict(gettext("the policy has changed since"), code="policy_changed")
    kept = "" if space else before.preset if before else DEFAULT_PRESET
    asked.version, asked.preset = version + 1, asked.preset or kept
    policy = _compose_layers(layers.tenant, asked) if space else _compose_layers(asked, None)
    check_prompts_known(policy, asked.overrides)
    asked.overrides = normalise_overrides(policy, asked.overrides)
    return asked, policy


def check_prompts_known(policy: Policy, names: Iterable[str]) -> None:
    """Raises InvalidInput for a switch among `names` whose prompt is not in the folder."""
    asked = {name: get_switch_value(policy, name) for name in names if get_family(name) == PROMPT}
    if not any(asked.values()):
        return
    there = own_prompts.list_own_prompts(settings.PROMPTS)
    for name, wanted in asked.items():
        found = there.get(name.rpartition(".")[2], [])
        if wanted and wanted not in found:
            listed = ", ".join(found) or "none"
            told = {"name": name, "wanted": repr(wanted[:60]), "listed": listed}
            message = gettext("%(name)s: there is no prompt %(wanted)s; there are: %(listed)s")
            raise InvalidInput(message % told, field=name)
