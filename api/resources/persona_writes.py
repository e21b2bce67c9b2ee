"""A caller's own word on traits and the profile: the pipeline only proposes against it."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from api.fields import NameField, PatternField
from api.resources.writing import Deed, ReasonSerializer, WriteView
from memoryhub.tenants.scope import tenant_scope
from personas import portrait, profiles, traits
from personas.registry import DIMENSIONS, LEVELS

_DONE = {"type": "object", "properties": {"key": {"type": "string"}}}


class TraitSerializer(ReasonSerializer):
    """`level` "" withdraws it."""

    key = serializers.ChoiceField(choices=list(DIMENSIONS))
    level = serializers.ChoiceField(choices=["", *sorted(LEVELS)], allow_blank=True)


class AttributeSerializer(ReasonSerializer):
    """`value` "" takes it away, if no fact says it."""

    key = PatternField(shape=r"^[ _]*[^\W_][\w ]*$", max_length=40)
    value = NameField(max_length=500)


class SetTraitView(WriteView):
    """Set or withdraw an assessment of the subject."""

    serializer_class = TraitSerializer
    example: ClassVar = {"key": "openness", "level": "high"}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        key, level = deed.given["key"], deed.given["level"]
        with tenant_scope(deed.space.tenant_id):
            traits.correct(deed.space, key, level, deed.actor, deed.now, reason=deed.reason)
            portrait.redraw(deed.space, deed.now)
        return {"key": key, "level": level}

    def answers(self) -> dict[str, Any]:
        return _DONE


class SetAttributeView(WriteView):
    """Set or take away an attribute of the profile."""

    serializer_class = AttributeSerializer
    example: ClassVar = {"key": "home_town", "value": "Porto"}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        key, value = deed.given["key"], deed.given["value"]
        with tenant_scope(deed.space.tenant_id):
            profiles.write(deed.space, key, value, deed.actor, deed.now, reason=deed.reason)
            portrait.redraw(deed.space, deed.now)
        return {"key": key, "value": value}

    def answers(self) -> dict[str, Any]:
        return _DONE
