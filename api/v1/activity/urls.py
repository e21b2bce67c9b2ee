"""Routes of what was asked, changed and spent."""

from __future__ import annotations

from django.urls import path

from api.v1.activity import usage, views

urlpatterns = [
    path("requests", views.RequestsView.as_view(), name="requests"),
    path("audit", views.AuditView.as_view(), name="audit"),
    path("usage", usage.UsageView.as_view(), name="usage"),
    path("usage/calls", usage.ModelCallsView.as_view(), name="usage-calls"),
]
