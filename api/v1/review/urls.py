"""Routes of conflicts and the rules for them."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_action_routes, build_row_routes, build_space_route
from api.v1.review import conflicts, rules
from api.v1.review.conflicts import CONFLICTS

urlpatterns = [
    *build_row_routes(CONFLICTS, "conflicts", "conflict"),
    build_space_route(
        "conflicts/decide-many", conflicts.DecideConflictsView, "conflicts-decide-many"
    ),
    *build_action_routes("conflicts", "conflict", decide=conflicts.DecideConflictView),
    build_space_route(
        "conflicts/<uuid:row_id>/take-back", conflicts.ReopenConflictView, "conflict-take-back"
    ),
    path("review-rules", rules.ReviewRulesView.as_view(), name="review-rules"),
    path("review-rules/new", rules.NewReviewRuleView.as_view(), name="review-rule-new"),
    path(
        "review-rules/<uuid:row_id>/remove",
        rules.RemoveReviewRuleView.as_view(),
        name="review-rule-remove",
    ),
]
