"""Where everything is served."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from memoryhub.health import healthz, readyz
from memoryhub.metrics.views import show_metrics

handler500 = "memoryhub.console.frame.failures.show_failure"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", show_metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("api.mem0.urls")),  # before what answers every path under api/v1/
    path("", include("api.mcp.urls")),
    path("openai/v1/", include("api.openai.urls")),
    path("api/v1/", include("api.urls")),
    path("me/", include("memoryhub.console.pages.own.views")),
    path("", include("memoryhub.console.urls")),
]
