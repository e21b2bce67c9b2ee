"""Who a subject is: traits with their evidence, and the profile."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Func, Q, QuerySet, Value
from django.db.models.functions import Cast
from rest_framework import serializers
from typing_extensions import TypedDict

from api.core.fields import NameField, PatternField
from api.rows.columns import Column, Resource, build_columns, build_unretired_condition
from api.rows.sources import build_source_loader
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from memoryhub.pipeline import corrections
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from personas.dimensions import DIMENSIONS, LEVELS, list_allowed_keys
from personas.models import ProfileAttribute, Trait


def _select_allowed_traits(space: Space) -> QuerySet[Any]:
    """Those switched off by the policy are not shown, whatever was assessed before."""
    switches = load_effective_policy(space).policy.traits
    keys = list_allowed_keys(extras=switches.extras, sensitive=switches.sensitive)
    return TRAITS.select_rows().filter(space=space, key__in=list(keys))


def _build_level_words() -> dict[str, Any]:
    """`words` of each row, looked up by the database, so that they can be filtered by."""
    words = {
        key: {level: dimension.describe_level(level) for level in LEVELS}
        for key, dimension in DIMENSIONS.items()
    }
    said = Value(words, models.JSONField())
    found = Func(said, "key", "level", function="jsonb_extract_path_text")
    return {"words": Cast(found, models.TextField())}


TRAITS = Resource(
    "trait",
    "An assessment of one registered dimension, while it held.",
    Trait,
    build_columns(Trait)
    | {"words": Column("text", null_value="", type=str, help="What the level says, in words.")},
    order=("key", "-valid_from", "-id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(valid_to=None),
    version="version",
    load_details=build_source_loader("trait"),
    build_annotations=_build_level_words,
    select_in_space=_select_allowed_traits,
)
PROFILE_ATTRIBUTES = Resource(
    "profile attribute",
    "A name, a birth year, a role: by hand, or mirrored from the fact that says it.",
    ProfileAttribute,
    build_columns(ProfileAttribute),
    order=("key", "id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=build_source_loader("profileattribute"),
)


class WrittenTrait(TypedDict):
    key: str
    level: str
    words: str


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
        words = DIMENSIONS[key].describe_level(level) if level else ""
        return {"key": key, "level": level, "words": words}


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
