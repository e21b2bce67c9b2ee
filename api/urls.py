"""Routes of the native API, version 1: those of each kind of thing, in one list."""

from __future__ import annotations

from typing import Any

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView

from api.core.views import NotFoundView
from api.schema.pages import RedocView, SwaggerView
from api.v1.access.urls import urlpatterns as access
from api.v1.activity.urls import urlpatterns as activity
from api.v1.blocks.urls import urlpatterns as blocks
from api.v1.exchange.urls import urlpatterns as exchange
from api.v1.facts.urls import urlpatterns as facts
from api.v1.history.urls import urlpatterns as history
from api.v1.items.urls import urlpatterns as items
from api.v1.jobs.urls import urlpatterns as jobs
from api.v1.memories.urls import urlpatterns as memories
from api.v1.notes.urls import urlpatterns as notes
from api.v1.personas.urls import urlpatterns as personas
from api.v1.policies.urls import urlpatterns as policies
from api.v1.quality.urls import urlpatterns as quality
from api.v1.review.urls import urlpatterns as review
from api.v1.search.urls import urlpatterns as search
from api.v1.spaces.urls import urlpatterns as spaces
from api.v1.topics.urls import urlpatterns as topics
from api.v1.webhooks.urls import urlpatterns as webhooks

app_name = "api"
_OPEN_OPTIONS: dict[str, Any] = {
    "authentication_classes": [],
    "permission_classes": [],
    "http_method_names": ["get", "head"],
}

urlpatterns = [
    path("schema", SpectacularAPIView.as_view(**_OPEN_OPTIONS), name="schema"),
    path("docs", SwaggerView.as_view(url_name="api:schema", **_OPEN_OPTIONS), name="docs"),
    path("redoc", RedocView.as_view(url_name="api:schema", **_OPEN_OPTIONS), name="redoc"),
    *memories,
    *search,
    *facts,
    *notes,
    *topics,
    *personas,
    *blocks,
    *items,
    *history,
    *review,
    *quality,
    *policies,
    *jobs,
    *exchange,
    *webhooks,
    *access,
    *activity,
    # Behind all others: a subject may have slashes in its name.
    *spaces,
    re_path(r"^[\s\S]*$", NotFoundView.as_view(), name="not-found"),
]
