"""Who a subject is: traits with their evidence, and the profile."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.rows.columns import Resource, build_columns, build_unretired_condition
from api.rows.read_views import SpaceListView, SpaceRowView
from api.rows.sources import build_source_loader
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from personas.dimensions import list_allowed_keys
from personas.models import ProfileAttribute, Trait

TRAITS = Resource(
    "trait",
    "An assessment of one registered dimension, while it held.",
    Trait,
    build_columns(Trait),
    order=("key", "-valid_from", "-id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(valid_to=None),
    version="version",
    load_details=build_source_loader("trait"),
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


def _select_allowed_traits(space: Space) -> QuerySet[Any]:
    """Those switched off by the policy are not shown, whatever was assessed before."""
    switches = load_effective_policy(space).policy.traits
    keys = list_allowed_keys(extras=switches.extras, sensitive=switches.sensitive)
    return TRAITS.select_space_rows(space).filter(key__in=list(keys))


class TraitsView(SpaceListView):
    resource = TRAITS

    def select_rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return _select_allowed_traits(space)


class TraitView(SpaceRowView):
    resource = TRAITS

    def select_rows(self, space: Space) -> QuerySet[Any]:
        return _select_allowed_traits(space)
