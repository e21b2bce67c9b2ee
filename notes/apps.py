from __future__ import annotations

from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "notes"
    label = "notes"
    verbose_name = "Memories"

    def ready(self) -> None:
        from notes.registry import register_all

        register_all()
