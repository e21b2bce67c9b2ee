"""Routes of segments and episodes."""

from __future__ import annotations

from api.rows.routes import build_row_routes
from api.v1.topics.reads import EPISODES, SEGMENTS

urlpatterns = [
    *build_row_routes(SEGMENTS, "segments", "segment"),
    *build_row_routes(EPISODES, "episodes", "episode"),
]
