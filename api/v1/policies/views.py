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

from api.core.authentication import get_request_tenant_id
from api.core.fields import StrictBooleanField
from api.core.views import HubView
from api.rows.columns import ID, NUMBER, OBJECT, TEXT, TIME, Resource
from api.rows.read_views import SpaceListView, TenantListView, get_space_at_path
from api.rows.write_views import (
    ReasonSerializer,
    SpaceWriteRequest,
    SpaceWriteView,
    TenantWriteRequest,
    TenantWriteView,
    get_whole_tenant_id,
)
from api.schema.openapi import VERSIONED_PARAMETERS
from api.v1.policies.fields import OverridesField
from memoryhub.errors import Conflict, VersionOutdated
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import (
    PolicyLayers,
    PolicyPreview,
    load_layers,
    preview_policy,
    set_policy,
)
from memoryhub.policies.switches import PURPOSE_SWITCHES, SWITCHES, find_switch
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

POLICY_VERSIONS = Resource(
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


class SetPolicySerializer(ReasonSerializer):
    """`overrides`: all that is to differ from the preset, by dotted names.

    `dry_run`: only says which switches would have another value.
    """

    preset = serializers.ChoiceField(
        choices=["", *PRESETS], required=False, default="", allow_blank=True
    )
    overrides = OverridesField(required=False, default=dict)
    dry_run = StrictBooleanField(required=False, default=False)


_CHANGES_SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "before": {}, "after": {}},
    },
}
_POLICY_SCHEMA = {
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
        "changes": _CHANGES_SCHEMA,
    },
}
_EXAMPLE_POLICY = {"overrides": {"recall.k_min": 6}, "reason": "more to choose from"}


def render_policy(layers: PolicyLayers, own: PolicyVersion | None) -> dict[str, Any]:
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
    serializer_class = SetPolicySerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = _EXAMPLE_POLICY

    def get(self, request: Request) -> Response:
        return _build_policy_response(get_whole_tenant_id(request), None)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        return change_policy(deed, None)

    def build_response_schema(self) -> dict[str, Any]:
        return _POLICY_SCHEMA


class SpacePolicyView(SpaceWriteView):
    """The policy of a subject's space: what it changes of the tenant's."""

    scopes: ClassVar = {"GET": "read", "POST": "admin"}
    serializer_class = SetPolicySerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    answer_outlives_erasure = True
    example: ClassVar = _EXAMPLE_POLICY

    def get(self, request: Request, subject: str) -> Response:
        space = get_space_at_path(request, subject)
        return _build_policy_response(space.tenant_id, space)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        return change_policy(deed, deed.space)

    def build_response_schema(self) -> dict[str, Any]:
        return _POLICY_SCHEMA


def change_policy(deed: TenantWriteRequest, space: Space | None) -> dict[str, Any]:
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
            return _render_outlook(preview_policy(deed.tenant_id, **asked))
        set_policy(deed.tenant_id, actor=deed.actor, reason=deed.reason, now=deed.now, **asked)
    except Conflict as error:
        raise VersionOutdated(error.message) from error
    return dict(_build_policy_response(deed.tenant_id, space).data)


def _render_outlook(found: PolicyPreview) -> dict[str, Any]:
    changes = [asdict(each) for each in found.changes]
    return {"dry_run": True, "changes": changes, "policy": found.policy.model_dump(mode="json")}


def _build_policy_response(tenant_id: UUID, space: Space | None) -> Response:
    with tenant_scope(tenant_id):
        layers = load_layers(tenant_id, space)
    own = layers.own if space else layers.tenant
    return Response(render_policy(layers, own), headers={"ETag": f'"{own.version if own else 0}"'})


class PolicyVersionsView(TenantListView):
    """The versions of the tenant's policy, the newest first."""

    resource = POLICY_VERSIONS

    def select_rows(self, request: Request) -> QuerySet[Any]:
        get_whole_tenant_id(request)
        return POLICY_VERSIONS.select_rows().filter(space=None)


class SpacePolicyVersionsView(SpaceListView):
    """The versions of a space's policy, the newest first."""

    resource = POLICY_VERSIONS


def _build_list_response(items: list[dict[str, Any]]) -> Response:
    return Response({"items": items, "total": len(items), "next": None})


def _build_list_schema(shown: Mapping[str, Any]) -> dict[str, Any]:
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
        get_request_tenant_id(request)
        return _build_list_response([asdict(preset) for preset in PRESETS.values()])

    def build_response_schema(self) -> dict[str, Any]:
        words = {name: {"type": "string"} for name in ("name", "title", "summary", "paper")}
        return _build_list_schema(words | {"overrides": {"type": "object"}})


class SwitchesView(HubView):
    """The switches that a policy is made of, with their bounds and what they do."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        get_request_tenant_id(request)
        found = (find_switch(name) for name in (*SWITCHES, *PURPOSE_SWITCHES))
        return _build_list_response([_render_switch(asdict(each)) for each in found if each])

    def build_response_schema(self) -> dict[str, Any]:
        words = {name: {"type": "string"} for name in ("name", "kind", "help", "bounds")}
        return _build_list_schema(words | {"default": {}})


def _render_switch(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("name", "kind", "default", "help", "bounds")}
