"""A caller's own word on traits and the profile: the pipeline only proposes against it."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from typing_extensions import TypedDict

from api.core.fields import NameField, PatternField
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from memoryhub.pipeline import corrections
from personas.dimensions import DIMENSIONS, LEVELS


class WrittenTrait(TypedDict):
    key: str
    level: str


class WrittenAttribute(TypedDict):
    key: str
    value: str


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
    answer: ClassVar = WrittenTrait
    example: ClassVar = {"key": "openness", "level": "high"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        key, level = deed.given["key"], deed.given["level"]
        corrections.correct_trait(deed.space, key, level, deed.actor, deed.now, reason=deed.reason)
        return {"key": key, "level": level}


class SetAttributeView(SpaceWriteView):
    """Set or take away an attribute of the profile."""

    serializer_class = SetAttributeSerializer
    answer: ClassVar = WrittenAttribute
    example: ClassVar = {"key": "home_town", "value": "Porto"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        key, value = deed.given["key"], deed.given["value"]
        corrections.correct_profile(
            deed.space, key, value, deed.actor, deed.now, reason=deed.reason
        )
        return {"key": key, "value": value}
