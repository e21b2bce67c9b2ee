"""Routes of traits and the profile."""

from __future__ import annotations

from api.rows.read_views import SpaceListView
from api.rows.routes import build_space_route
from api.v1.personas import reads, writes
from api.v1.personas.reads import PROFILE_ATTRIBUTES

urlpatterns = [
    build_space_route("traits", reads.TraitsView, "traits"),
    build_space_route("traits/<uuid:row_id>", reads.TraitView, "trait"),
    build_space_route("traits/set", writes.SetTraitView, "trait-set"),
    build_space_route("profile", SpaceListView, "profile", resource=PROFILE_ATTRIBUTES),
    build_space_route("profile/set", writes.SetAttributeView, "profile-set"),
]
