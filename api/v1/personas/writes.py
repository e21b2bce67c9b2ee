"""A caller's own word on traits and the profile: the pipeline only proposes against it."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from api.core.fields import NameField, PatternField
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from memoryhub.tenants.scope import tenant_scope
from personas import portrait, profile, traits
from personas.dimensions import DIMENSIONS, LEVELS

_WRITTEN_KEY_SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}}


class SetTraitSerializer(ReasonSerializer):
    """`level` "" withdraws it."""

    key = serializers.ChoiceField(choices=list(DIMENSIONS))
    level = serializers.ChoiceField(choices=["", *sorted(LEVELS)], allow_blank=True)


class SetAttributeSerializer(ReasonSerializer):
    """`value` "" takes it away, if no fact says it."""

    key = PatternField(shape=r"^[ _]*[^\W_][\w ]*$", max_length=40)
    value = NameField(max_length=500)


class SetTraitView(SpaceWriteView):
    """Set or withdraw an assessment of the subject."""

    serializer_class = SetTraitSerializer
    example: ClassVar = {"key": "openness", "level": "high"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        key, level = deed.given["key"], deed.given["level"]
        with tenant_scope(deed.space.tenant_id):
            traits.correct_trait(deed.space, key, level, deed.actor, deed.now, reason=deed.reason)
            portrait.renew_portrait_after_edit(deed.space, deed.now)
        return {"key": key, "level": level}

    def build_response_schema(self) -> dict[str, Any]:
        return _WRITTEN_KEY_SCHEMA


class SetAttributeView(SpaceWriteView):
    """Set or take away an attribute of the profile."""

    serializer_class = SetAttributeSerializer
    example: ClassVar = {"key": "home_town", "value": "Porto"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        key, value = deed.given["key"], deed.given["value"]
        with tenant_scope(deed.space.tenant_id):
            profile.write_attribute(
                deed.space, key, value, deed.actor, deed.now, reason=deed.reason
            )
            portrait.renew_portrait_after_edit(deed.space, deed.now)
        return {"key": key, "value": value}

    def build_response_schema(self) -> dict[str, Any]:
        return _WRITTEN_KEY_SCHEMA
