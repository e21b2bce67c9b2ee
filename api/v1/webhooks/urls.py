"""Routes of webhooks and deliveries."""

from __future__ import annotations

from django.urls import path

from api.v1.webhooks import deliveries, views

urlpatterns = [
    path("webhooks", views.WebhooksView.as_view(), name="webhooks"),
    path("webhooks/new", views.NewWebhookView.as_view(), name="webhook-new"),
    path("webhooks/<uuid:row_id>", views.WebhookView.as_view(), name="webhook"),
    *(
        path(f"webhooks/<uuid:row_id>/{verb}", view.as_view(), name=f"webhook-{verb}")
        for verb, view in (
            ("change", views.ChangeWebhookView),
            ("rotate", views.RotateWebhookView),
            ("delete", views.DeleteWebhookView),
            ("ping", deliveries.PingWebhookView),
            ("deliveries", deliveries.DeliveriesView),
        )
    ),
    path("deliveries/<uuid:row_id>", deliveries.DeliveryView.as_view(), name="delivery"),
    path(
        "deliveries/<uuid:row_id>/replay",
        deliveries.ReplayDeliveryView.as_view(),
        name="delivery-replay",
    ),
]
