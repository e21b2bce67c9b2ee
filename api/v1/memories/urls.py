"""Routes of adding, sessions and turns."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_row_routes
from api.v1.memories import add
from api.v1.memories.dialogues import SESSIONS, TURNS

urlpatterns = [
    path("memories", add.AddMemoriesView.as_view(), name="memories"),
    path("memories/batch", add.AddBatchView.as_view(), name="memories-batch"),
    *build_row_routes(SESSIONS, "sessions", "session"),
    *build_row_routes(TURNS, "turns", "turn"),
]
