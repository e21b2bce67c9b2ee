"""Routes of policies, presets and switches."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_space_route
from api.v1.policies import views

urlpatterns = [
    path("policy", views.TenantPolicyView.as_view(), name="tenant-policy"),
    path(
        "policy/versions",
        views.PolicyVersionsView.as_view(),
        name="tenant-policy-versions",
    ),
    path("policy/presets", views.PresetsView.as_view(), name="presets"),
    path("policy/switches", views.SwitchesView.as_view(), name="switches"),
    build_space_route("policy", views.SpacePolicyView, "policy"),
    build_space_route("policy/versions", views.SpacePolicyVersionsView, "policy-versions"),
]
