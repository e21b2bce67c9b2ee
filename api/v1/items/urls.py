"""Routes of items."""

from __future__ import annotations

from django.urls import path

from api.rows.routes import build_row_routes
from api.v1.items import views
from api.v1.items.views import ITEMS

urlpatterns = [
    *build_row_routes(ITEMS, "items", "item"),
    path("items/read", views.ReadItemsView.as_view(), name="items-read"),
    path("items/write", views.WriteItemsView.as_view(), name="items-write"),
]
