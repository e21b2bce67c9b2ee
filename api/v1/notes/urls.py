"""Routes of notes, links, entities and relations."""

from __future__ import annotations

from api.rows.routes import build_action_routes, build_row_routes
from api.v1.notes import writes
from api.v1.notes.reads import ENTITIES, LINKS, NOTES, RELATIONS

urlpatterns = [
    *build_row_routes(NOTES, "notes", "note"),
    *build_action_routes(
        "notes",
        "note",
        describe=writes.DescribeNoteView,
        pin=writes.PinNoteView,
        forget=writes.ForgetNoteView,
        delete=writes.DeleteNoteView,
    ),
    *build_row_routes(LINKS, "links", "link"),
    *build_row_routes(ENTITIES, "entities", "entity"),
    *build_row_routes(RELATIONS, "relations", "relation"),
]
