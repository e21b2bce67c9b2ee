"""Routes of the native API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from api import views
from api.answering import AnswerView

app_name = "api"
_open: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}

urlpatterns = [
    path("memories", views.MemoriesView.as_view(), name="memories"),
    path("search", views.SearchView.as_view(), name="search"),
    path("context", views.ContextView.as_view(), name="context"),
    path("answer", AnswerView.as_view(), name="answer"),
    path("spaces", views.SpacesView.as_view(), name="spaces"),
    path("spaces/<path:subject>/facts", views.FactsView.as_view(), name="facts"),
    path("jobs", views.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:job_id>", views.JobView.as_view(), name="job"),
    path("jobs/<uuid:job_id>/retry", views.JobRetryView.as_view(), name="job-retry"),
    path("schema", SpectacularAPIView.as_view(**_open), name="schema"),
    # Split: its script comes from a path of its own, as the content security policy wants.
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api:schema", **_open), name="docs"),
    re_path(r"^.*$", views.NotFoundView.as_view(), name="not-found"),
]
