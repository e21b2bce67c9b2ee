from __future__ import annotations

from django.apps import AppConfig


class PersonasConfig(AppConfig):
    name = "personas"
    label = "personas"
    verbose_name = "Personas"
