"""Who a subject is: traits with their evidence, and the profile."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.columns import DERIVED, ID, NUMBER, TEXT, TIME, Resource, unretired
from api.resources.base import ListView, RowView
from api.resources.sources import with_sources
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from personas.models import ProfileAttribute, Trait
from personas.registry import allowed

TRAITS = Resource(
    "trait",
    "An assessment of one registered dimension, while it held.",
    Trait,
    {
        "id": ID,
        "owner": TEXT,
        "key": TEXT,
        "level": TEXT,
        "confidence": NUMBER,
        "rationale": TEXT,
        "valid_from": TIME,
        "valid_to": TIME,
        **DERIVED,
    },
    order=("key", "-valid_from", "-id"),
    held=lambda now: unretired(now) & Q(valid_to=None),
    version="version",
    more=with_sources("trait"),
)
PROFILE = Resource(
    "profile attribute",
    "A name, a birth year, a role: by hand, or mirrored from the fact that says it.",
    ProfileAttribute,
    {"id": ID, "owner": TEXT, "key": TEXT, "value": TEXT, "fact_id": ID, **DERIVED},
    order=("key", "id"),
    held=unretired,
    version="version",
    more=with_sources("profileattribute"),
)


def _offered(space: Space) -> QuerySet[Any]:
    """Those switched off by the policy are not shown, whatever was assessed before."""
    switches = policy_of(space).policy.traits
    keys = allowed(extras=switches.extras, sensitive=switches.sensitive)
    return TRAITS.of(space).filter(key__in=list(keys))


class TraitsView(ListView):
    resource = TRAITS

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return _offered(space)


class TraitView(RowView):
    resource = TRAITS

    def rows(self, space: Space) -> QuerySet[Any]:
        return _offered(space)
