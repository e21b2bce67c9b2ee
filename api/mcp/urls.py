"""The one route of the protocol."""

from __future__ import annotations

from django.urls import re_path

from api.mcp.views import McpView

app_name = "mcp"
urlpatterns = [re_path(r"^mcp/?$", McpView.as_view(), name="mcp")]
