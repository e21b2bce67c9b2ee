"""Routes of golden questions, replays and quality."""

from __future__ import annotations

from django.urls import path

from api.rows.read_views import SpaceListView
from api.rows.routes import build_action_routes, build_row_routes, build_space_route
from api.v1.quality import golden, replays
from api.v1.quality.readings import QUALITY_READINGS

urlpatterns = [
    build_space_route("quality", SpaceListView, "quality", resource=QUALITY_READINGS),
    path("replays", replays.ReplaysView.as_view(), name="replays"),
    path("replays/new", replays.NewReplayView.as_view(), name="replay-new"),
    path("replays/<uuid:row_id>", replays.ReplayView.as_view(), name="replay"),
    path(
        "replays/<uuid:row_id>/results", replays.ReplayResultsView.as_view(), name="replay-results"
    ),
    path("replays/<uuid:row_id>/cancel", replays.CancelReplayView.as_view(), name="replay-cancel"),
    path("replays/<uuid:row_id>/decide", replays.DecideReplayView.as_view(), name="replay-decide"),
    *build_row_routes(golden.GOLDEN_QUESTIONS, "golden", "golden-question"),
    build_space_route("golden/new", golden.NewGoldenQuestionView, "golden-new"),
    *build_action_routes(
        "golden",
        "golden",
        change=golden.ChangeGoldenQuestionView,
        remove=golden.RemoveGoldenQuestionView,
    ),
]
