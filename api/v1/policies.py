"""What a tenant or a space remembers, and how: read, tried, and changed as a new version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, NotRequired, get_type_hints
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.fields import MetadataField, StrictBooleanField
from api.core.views import HubView, get_whole_tenant_id
from api.rows.answers import build_bare_page_type
from api.rows.columns import Resource, pick_columns
from api.rows.read_views import TenantListView, get_space_at_path
from api.rows.write_views import (
    BaseWriteView,
    ReasonSerializer,
    SpaceWriteRequest,
    SpaceWriteView,
    TenantWriteRequest,
    TenantWriteView,
)
from api.schema.openapi import VERSIONED_PARAMETERS
from memoryhub.errors import Conflict, VersionOutdated
from memoryhub.policies.compose import PolicyDifference
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS, Preset
from memoryhub.policies.services import load_layers, preview_policy, set_policy
from memoryhub.policies.switches import MODEL, PURPOSE_SWITCHES, SWITCHES, Switch, find_switch
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

_JSON_TYPE_BY_KIND: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("boolean", (bool,)),
    "int": ("integer", (int,)),
    "float": ("number", (int, float)),
    "choice": ("string", (str,)),
    "list": ("array", (list,)),
    "text": ("string", (str,)),
}


def _build_switch_schema(switch: Switch) -> dict[str, Any]:
    """As far as a switch can be judged by itself: some bound each other."""
    name, _ = _JSON_TYPE_BY_KIND[switch.kind]
    made: dict[str, Any] = {"type": [name, "null"] if switch.nullable else name}
    if switch.kind == "choice":
        made["enum"] = [*switch.choices, *([None] if switch.nullable else [])]
    if switch.kind == "list":
        made["items"] = {"type": "string"} | ({"enum": [*switch.choices]} if switch.choices else {})
    if switch.least is not None:
        made["exclusiveMinimum" if "over " in switch.bounds else "minimum"] = switch.least
    if switch.most is not None:
        made["maximum"] = switch.most
    return made | {"description": switch.help}


def _build_overrides_schema() -> dict[str, Any]:
    found = {name: _build_switch_schema(switch) for name, switch in SWITCHES.items()}
    families = {name: {"type": "string"} for name in PURPOSE_SWITCHES if name.startswith(MODEL)}
    return {"type": "object", "properties": found | families, "additionalProperties": False}


@extend_schema_field(_build_overrides_schema())
class OverridesField(MetadataField):
    """By dotted names. Bounds and names are the policy's to judge; "7" is no number here."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        found = super().to_internal_value(data)
        if wrong := [name for name, value in found.items() if _has_wrong_type(name, value)]:
            raise serializers.ValidationError({name: ["of another type"] for name in wrong})
        return found


def _has_wrong_type(name: str, value: Any) -> bool:
    switch = find_switch(name)
    if switch is None or (value is None and switch.nullable):
        return False
    if isinstance(value, bool) and switch.kind != "bool":
        return True
    if switch.kind == "int" and isinstance(value, float):
        return not value.is_integer()
    return not isinstance(value, _JSON_TYPE_BY_KIND[switch.kind][1])


POLICY_VERSIONS = Resource(
    "policy version",
    "A version of the policy of a tenant or a space: what it changed, who changed it, and why.",
    PolicyVersion,
    pick_columns(PolicyVersion, "id version preset overrides actor reason created_at"),
    order=("-version", "-id"),
)


class SetPolicySerializer(ReasonSerializer):
    """`overrides`: all that is to differ from the preset, by dotted names.

    `dry_run`: only says which switches would have another value.
    """

    preset = serializers.ChoiceField(choices=["", *PRESETS], default="", allow_blank=True)
    overrides = OverridesField(default=dict)
    dry_run = StrictBooleanField(default=False)


class EffectivePolicy(TypedDict):
    """`version`, `preset` and `overrides` are the layer's own; `policy` is what is in force. After
    a dry run only `policy` and `changes`: what would be another."""

    version: NotRequired[int]
    in_force: NotRequired[str]
    preset: NotRequired[str]
    overrides: NotRequired[dict[str, Any]]
    actor: NotRequired[str]
    reason: NotRequired[str]
    policy: dict[str, Any]
    dry_run: NotRequired[bool]
    changes: NotRequired[list[PolicyDifference]]


class _PolicyFields(BaseWriteView):
    scopes: ClassVar = {"GET": "read", "POST": "admin"}
    serializer_class = SetPolicySerializer
    answer: ClassVar = EffectivePolicy
    parameters: ClassVar = VERSIONED_PARAMETERS
    example: ClassVar = {"overrides": {"recall.k_min": 6}, "reason": "more to choose from"}


class TenantPolicyView(_PolicyFields, TenantWriteView):
    """The tenant's policy, which every space has that changes nothing of it."""

    def get(self, request: Request) -> Response:
        return _build_policy_response(get_whole_tenant_id(request), None)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        return change_policy(deed, None)


class SpacePolicyView(_PolicyFields, SpaceWriteView):
    """The policy of a subject's space: what it changes of the tenant's."""

    answer_outlives_erasure = True

    def get(self, request: Request, subject: str) -> Response:
        space = get_space_at_path(request, subject)
        return _build_policy_response(space.tenant_id, space)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        return change_policy(deed, deed.space)


def change_policy(deed: TenantWriteRequest, space: Space | None) -> dict[str, Any]:
    """Carry it out, or with `dry_run` say what it would change. Raises Outdated, InvalidInput."""
    given = deed.given
    layer = {name: given[name] for name in ("preset", "overrides")}
    asked: dict[str, Any] = layer | {"space": space, "expected": deed.version}
    try:
        if given["dry_run"]:
            found = preview_policy(deed.tenant_id, **asked)
            policy, changes = found.policy.model_dump(mode="json"), map(asdict, found.changes)
            return {"dry_run": True, "changes": list(changes), "policy": policy}
        set_policy(deed.tenant_id, actor=deed.actor, reason=deed.reason, now=deed.now, **asked)
    except Conflict as error:
        raise VersionOutdated(error.message) from error
    return dict(_build_policy_response(deed.tenant_id, space).data)


def _build_policy_response(tenant_id: UUID, space: Space | None) -> Response:
    with tenant_scope(tenant_id):
        layers = load_layers(tenant_id, space)
    own = layers.own if space else layers.tenant
    shown = {
        "version": own.version if own else 0,
        "in_force": layers.version,
        "preset": own.preset if own else "",
        "overrides": own.overrides if own else {},
        "actor": own.actor if own else "",
        "reason": own.reason if own else "",
        "policy": layers.policy.model_dump(mode="json"),
    }
    return Response(shown, headers={"ETag": f'"{shown["version"]}"'})


class PolicyVersionsView(TenantListView):
    """The versions of the tenant's policy, the newest first."""

    resource = POLICY_VERSIONS

    of_whole_tenant = True

    def select_rows(self, request: Request) -> QuerySet[Any]:
        return PolicyVersion.objects.filter(space=None)


def _build_list_response(items: list[dict[str, Any]]) -> Response:
    return Response({"items": items, "total": len(items), "next": None})


class PolicySwitch(TypedDict):
    """One setting of a policy, by its dotted name."""

    name: str
    kind: str
    default: Any
    help: str
    bounds: str


class PresetsView(HubView):
    """The presets there are, with what each changes of the defaults."""

    scopes: ClassVar = {"GET": "read"}
    answer: ClassVar = build_bare_page_type(Preset, None)

    def get(self, request: Request) -> Response:
        return _build_list_response([asdict(preset) for preset in PRESETS.values()])


class SwitchesView(HubView):
    """The switches that a policy is made of, with their bounds and what they do."""

    scopes: ClassVar = {"GET": "read"}
    answer: ClassVar = build_bare_page_type(PolicySwitch, None)

    def get(self, request: Request) -> Response:
        found = (find_switch(name) for name in (*SWITCHES, *PURPOSE_SWITCHES))
        columns = get_type_hints(PolicySwitch)
        return _build_list_response(
            [{name: getattr(each, name) for name in columns} for each in found if each]
        )
