"""Routes of questions, and of feedback on what was found."""

from __future__ import annotations

from django.urls import path

from api.rows.read_views import SpaceListView
from api.rows.routes import build_space_route
from api.v1.search import feedback, views

urlpatterns = [
    path("search", views.SearchView.as_view(), name="search"),
    path("context", views.ContextView.as_view(), name="context"),
    path("answer", views.AnswerView.as_view(), name="answer"),
    build_space_route("feedback", SpaceListView, "feedback", resource=feedback.FEEDBACK),
    build_space_route("feedback/set", feedback.SetFeedbackView, "feedback-set"),
]
