"""Routes of events, undo and earlier times."""

from __future__ import annotations

from api.rows.read_views import SpaceListView
from api.rows.routes import build_action_routes, build_row_routes, build_space_route
from api.v1.history import reads, writes
from api.v1.history.reads import EVENTS, ROW_CHANGES

urlpatterns = [
    *build_row_routes(EVENTS, "events", "event"),
    *build_action_routes("events", "event", undo=writes.UndoEventView),
    build_space_route("roll-back", writes.RollBackView, "roll-back"),
    build_space_route("history", SpaceListView, "history", resource=ROW_CHANGES),
    build_space_route("as-of", reads.AsOfView, "as-of"),
    build_space_route("changes", reads.ChangesView, "changes"),
]
