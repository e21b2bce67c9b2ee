"""Routes of facts."""

from __future__ import annotations

from api.rows.read_views import SpaceRowView
from api.rows.routes import build_action_routes, build_space_route
from api.v1.facts import reads, writes
from api.v1.facts.reads import FACTS

urlpatterns = [
    build_space_route("facts", reads.FactsView, "facts"),
    build_space_route("facts/<uuid:row_id>", SpaceRowView, "fact", resource=FACTS),
    build_space_route("facts/<uuid:row_id>/versions", reads.FactVersionsView, "fact-versions"),
    *build_action_routes(
        "facts",
        "fact",
        correct=writes.CorrectFactView,
        end=writes.EndFactView,
        retract=writes.RetractFactView,
        forget=writes.ForgetFactView,
        restore=writes.RestoreFactView,
        pin=writes.PinFactView,
    ),
]
