"""The one route of the protocol."""

from __future__ import annotations

from django.urls import path, re_path

from api.mcp.oauth import METADATA_ROUTE, show_metadata
from api.mcp.views import McpView

app_name = "mcp"
urlpatterns = [
    re_path(r"^mcp/?$", McpView.as_view(), name="mcp"),
    # Asked for with the path of the resource behind it, and by older hosts without.
    path(f"{METADATA_ROUTE}/mcp", show_metadata, name="oauth-metadata"),
    path(METADATA_ROUTE, show_metadata),
]
