from __future__ import annotations

from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "notes"
    label = "notes"
    verbose_name = "Memories"
