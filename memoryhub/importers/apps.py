from __future__ import annotations

from django.apps import AppConfig


class ImportersConfig(AppConfig):
    name = "memoryhub.importers"
    verbose_name = "Imports"
