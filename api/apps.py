from __future__ import annotations

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = "API"
