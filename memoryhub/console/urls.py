"""The console's addresses: each feature's stand below its views. Every view is a link."""

from __future__ import annotations

from importlib import import_module

from django.urls import path
from django.views.i18n import set_language

FEATURES = (
    "account",
    "changes",
    "chat",
    "data",
    "embeddings",
    "entities",
    "episodes",
    "erasure",
    "exchange",
    "facts",
    "feedback",
    "golden",
    "graph",
    "heat",
    "history",
    "imports",
    "jobs",
    "keys",
    "lab",
    "map",
    "models",
    "notes",
    "overview",
    "people",
    "person_links",
    "persona",
    "policies",
    "quality",
    "recalls",
    "replays",
    "requests",
    "review",
    "rules",
    "search",
    "segments",
    "settings",
    "spaces",
    "timeline",
    "usage",
    "webhooks",
)

urlpatterns = [
    path("language", set_language, name="language"),
    *(
        pattern
        for feature in FEATURES
        for pattern in import_module(f"memoryhub.console.pages.{feature}.views").urlpatterns
    ),
]
