"""Routes of subjects, erasure and its receipts."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_space_route
from api.v1.spaces import erasure, views

urlpatterns = [
    build_space_route("erase", erasure.EraseView, "erase"),
    build_space_route("pause", views.PauseSpaceView, "pause"),
    path("receipts", erasure.ReceiptsView.as_view(), name="receipts"),
    path("receipts/<uuid:row_id>", erasure.ReceiptView.as_view(), name="receipt"),
    path("spaces", views.SpacesView.as_view(), name="spaces"),
    # Last of them: a subject may have slashes in its name.
    path("spaces/<path:subject>", views.SpaceView.as_view(), name="space"),
]
