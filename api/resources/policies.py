"""What a tenant or a space remembers, and how: read, and changed as a new version."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.fields import MetadataField
from api.resources.base import space_at
from api.resources.writing import Deed, ReasonSerializer, WriteView
from api.schema import VERSIONED_PARAMETERS
from memoryhub.errors import Conflict, Outdated
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import Layers, layers_of, set_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope


class PolicySerializer(ReasonSerializer):
    """`overrides`: all that is to differ from the preset, by dotted names."""

    preset = serializers.ChoiceField(
        choices=["", *PRESETS], required=False, default="", allow_blank=True
    )
    overrides = MetadataField(required=False, default=dict)


_SHOWN = {
    "type": "object",
    "properties": {
        "version": {"type": "integer"},
        "in_force": {"type": "string"},
        "preset": {"type": "string"},
        "overrides": {"type": "object"},
        "policy": {"type": "object"},
    },
}


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


class SpacePolicyView(WriteView):
    """The policy of a subject's space: what it changes of the tenant's."""

    scopes: ClassVar = {"GET": "read", "POST": "admin"}
    serializer_class = PolicySerializer
    parameters: ClassVar = VERSIONED_PARAMETERS
    keeps = True
    example: ClassVar = {"overrides": {"recall.k_min": 6}, "reason": "more to choose from"}

    def get(self, request: Request, subject: str) -> Response:
        return _told(space_at(request, subject))

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        change(deed.space.tenant_id, deed.space, deed)
        return dict(_told(deed.space).data)

    def answers(self) -> dict[str, Any]:
        return _SHOWN


def _told(space: Space) -> Response:
    with tenant_scope(space.tenant_id):
        layers = layers_of(space.tenant_id, space)
    return Response(
        shown_policy(layers, layers.own),
        headers={"ETag": f'"{layers.own.version if layers.own else 0}"'},
    )


def change(tenant_id: Any, space: Space | None, deed: Deed) -> None:
    """Raises Outdated when the policy is not in the version that was read."""
    try:
        set_policy(
            tenant_id,
            actor=deed.actor,
            preset=deed.given["preset"],
            overrides=deed.given["overrides"],
            space=space,
            reason=deed.reason,
            now=deed.now,
            expected=deed.version,
        )
    except Conflict as error:
        raise Outdated(error.message) from error
