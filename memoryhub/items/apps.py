from __future__ import annotations

from django.apps import AppConfig


class ItemsConfig(AppConfig):
    name = "memoryhub.items"
    label = "items"
    verbose_name = "Items"
