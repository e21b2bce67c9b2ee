"""Routes of the native API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from api import views
from api.answering import AnswerView
from api.columns import Resource
from api.resources import blocks, facts, history, jobs, personas, spaces
from api.resources.abstractions import EPISODES, SEGMENTS
from api.resources.associations import ENTITIES, LINKS, NOTES, RELATIONS
from api.resources.base import ListView, RowView, TenantRowView
from api.resources.dialogue import SESSIONS, TURNS
from api.resources.facts import FACTS
from api.resources.history import EVENTS, HISTORY
from api.resources.personas import PROFILE
from api.resources.review import CONFLICTS

app_name = "api"
_open: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}


def _space(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    made: URLPattern = path(f"spaces/<path:subject>/{route}", view.as_view(**options), name=name)
    return made


def _of(resource: Resource, plural: str, name: str) -> list[URLPattern]:
    """A list and its rows."""
    return [
        _space(plural, ListView, plural, resource=resource),
        _space(f"{plural}/<uuid:row_id>", RowView, name, resource=resource),
    ]


urlpatterns = [
    path("memories", views.MemoriesView.as_view(), name="memories"),
    path("search", views.SearchView.as_view(), name="search"),
    path("context", views.ContextView.as_view(), name="context"),
    path("answer", AnswerView.as_view(), name="answer"),
    path("jobs", jobs.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:row_id>", TenantRowView.as_view(resource=jobs.JOBS), name="job"),
    path("jobs/<uuid:row_id>/retry", jobs.JobRetryView.as_view(), name="job-retry"),
    path("schema", SpectacularAPIView.as_view(**_open), name="schema"),
    # Split: its script comes from a path of its own, as the content security policy wants.
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api:schema", **_open), name="docs"),
    *_of(SESSIONS, "sessions", "session"),
    *_of(TURNS, "turns", "turn"),
    _space("facts", facts.FactsView, "facts"),
    _space("facts/<uuid:row_id>", RowView, "fact", resource=FACTS),
    _space("facts/<uuid:row_id>/versions", facts.FactVersionsView, "fact-versions"),
    *_of(NOTES, "notes", "note"),
    *_of(LINKS, "links", "link"),
    *_of(ENTITIES, "entities", "entity"),
    *_of(RELATIONS, "relations", "relation"),
    *_of(SEGMENTS, "segments", "segment"),
    *_of(EPISODES, "episodes", "episode"),
    _space("traits", personas.TraitsView, "traits"),
    _space("traits/<uuid:row_id>", personas.TraitView, "trait"),
    _space("profile", ListView, "profile", resource=PROFILE),
    _space("blocks", blocks.BlocksView, "blocks"),
    _space("blocks/<uuid:row_id>", blocks.BlockView, "block"),
    _space("blocks/<uuid:row_id>/versions", blocks.BlockVersionsView, "block-versions"),
    *_of(EVENTS, "events", "event"),
    _space("history", ListView, "history", resource=HISTORY),
    _space("as-of", history.AsOfView, "as-of"),
    _space("changes", history.ChangesView, "changes"),
    *_of(CONFLICTS, "conflicts", "conflict"),
    path("spaces", spaces.SpacesView.as_view(), name="spaces"),
    # Last of them: a subject may have slashes in its name.
    path("spaces/<path:subject>", spaces.SpaceView.as_view(), name="space"),
    re_path(r"^.*$", views.NotFoundView.as_view(), name="not-found"),
]
