"""What a tenant or a space remembers, and how: read, tried, and changed as a new version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import tenant_of
from api.columns import ID, NUMBER, OBJECT, TEXT, TIME, Resource
from api.fields import FlagField
from api.policy_fields import OverridesField
from api.resources.base import ListView, TenantListView, space_at
from api.resources.writing import (
    Deed,
    ReasonSerializer,
    TenantDeed,
    TenantWriteView,
    WriteView,
    whole_tenant,
)
from api.schema import VERSIONED_PARAMETERS
from api.views import HubView
from memoryhub.errors import Conflict, Outdated
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import Layers, Outlook, layers_of, outlook, set_policy
from memoryhub.policies.switches import BY_PURPOSE, SWITCHES, switch_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

VERSIONS = Resource(
    "policy version",
    "A version of the policy of a tenant or a space: what it changed, who changed it, and why.",
    PolicyVersion,
    {
        "id": ID,
        "version": NUMBER,
        "preset": TEXT,
        "overrides": OBJECT,
        "actor": TEXT,
        "reason": TEXT,
        "created_at": TIME,
    },
    order=("-version", "-id"),
)


class PolicySerializer(ReasonSerializer):
    """`overrides`: all that is to differ from the preset, by dotted names.

    `dry_run`: only says which switches would have another value.
    """

    preset = serializers.ChoiceField(
        choices=["", *PRESETS], required=False, default="", allow_blank=True
    )
    overrides = OverridesField(required=False, default=dict)
    dry_run = FlagField(required=False, default=False)


_CHANGES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "before": {}, "after": {}},
    },
}
_SHOWN = {
    "type": "object",
    "properties": {
        "version": {"type": "integer"},
        "in_force": {"type": "string"},
        "preset": {"type": "string"},
        "overrides": {"type": "object"},
        "actor": {"type": "string"},
        "reason": {"type": "string"},
        "policy": {"type": "object"},
        "dry_run": {"type": "boolean"},
        "changes": _CHANGES,
    },
}
_EXAMPLE = {"overrides": {"recall.k_min": 6}, "reason": "more to choose from"}


def shown_policy(layers: Layers, own: PolicyVersion | None) -> dict[str, Any]:
    """`version`, `preset` and `overrides` are the layer's own; `policy` is what is in force."""
    return {
        "version": own.version if own else 0,
        "in_force": layers.version,
        "preset": own.preset if own else "",
        "overrides": own.overrides if own else {},
        "actor": own.actor if own else "",
        "reason": own.reason if own else "",
        "policy": layers.policy.model_dump(mode="json"),
    }


class TenantPolicyView(TenantWriteView):
    """The tenant's policy, which every space has that changes nothing of it."""

    scopes: ClassVar = {"GET": "read", "POST": "admin"}
    serializer_class = PolicySerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = _EXAMPLE

    def get(self, request: Request) -> Response:
        return _told(whole_tenant(request), None)

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        return changed_policy(deed, None)

    def answers(self) -> dict[str, Any]:
        return _SHOWN


class SpacePolicyView(WriteView):
    """The policy of a subject's space: what it changes of the tenant's."""

    scopes: ClassVar = {"GET": "read", "POST": "admin"}
    serializer_class = PolicySerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    keeps = True
    example: ClassVar = _EXAMPLE

    def get(self, request: Request, subject: str) -> Response:
        space = space_at(request, subject)
        return _told(space.tenant_id, space)

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        return changed_policy(deed, deed.space)

    def answers(self) -> dict[str, Any]:
        return _SHOWN


def changed_policy(deed: TenantDeed, space: Space | None) -> dict[str, Any]:
    """Carry it out, or with `dry_run` say what it would change. Raises Outdated, InvalidInput."""
    given = deed.given
    asked: dict[str, Any] = {
        "preset": given["preset"],
        "overrides": given["overrides"],
        "space": space,
        "expected": deed.version,
    }
    try:
        if given["dry_run"]:
            return _would_be(outlook(deed.tenant_id, **asked))
        set_policy(deed.tenant_id, actor=deed.actor, reason=deed.reason, now=deed.now, **asked)
    except Conflict as error:
        raise Outdated(error.message) from error
    return dict(_told(deed.tenant_id, space).data)


def _would_be(found: Outlook) -> dict[str, Any]:
    changes = [asdict(each) for each in found.changes]
    return {"dry_run": True, "changes": changes, "policy": found.policy.model_dump(mode="json")}


def _told(tenant_id: UUID, space: Space | None) -> Response:
    with tenant_scope(tenant_id):
        layers = layers_of(tenant_id, space)
    own = layers.own if space else layers.tenant
    return Response(shown_policy(layers, own), headers={"ETag": f'"{own.version if own else 0}"'})


class PolicyVersionsView(TenantListView):
    """The versions of the tenant's policy, the newest first."""

    resource = VERSIONS

    def rows(self, request: Request) -> QuerySet[Any]:
        whole_tenant(request)
        return VERSIONS.rows().filter(space=None)


class SpacePolicyVersionsView(ListView):
    """The versions of a space's policy, the newest first."""

    resource = VERSIONS


def _listed(items: list[dict[str, Any]]) -> Response:
    return Response({"items": items, "total": len(items), "next": None})


def _list_schema(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "object", "properties": dict(shown)}},
            "total": {"type": "integer"},
            "next": {"type": "null"},
        },
    }


class PresetsView(HubView):
    """The presets there are, with what each changes of the defaults."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        tenant_of(request)
        return _listed([asdict(preset) for preset in PRESETS.values()])

    def answers(self) -> dict[str, Any]:
        words = {name: {"type": "string"} for name in ("name", "title", "summary", "paper")}
        return _list_schema(words | {"overrides": {"type": "object"}})


class SwitchesView(HubView):
    """The switches that a policy is made of, with their bounds and what they do."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        tenant_of(request)
        found = (switch_of(name) for name in (*SWITCHES, *BY_PURPOSE))
        return _listed([_switch(asdict(each)) for each in found if each])

    def answers(self) -> dict[str, Any]:
        words = {name: {"type": "string"} for name in ("name", "kind", "help", "bounds")}
        return _list_schema(words | {"default": {}})


def _switch(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("name", "kind", "default", "help", "bounds")}
