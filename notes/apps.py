from __future__ import annotations

from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "notes"
    label = "notes"
    verbose_name = "Memories"

    def ready(self) -> None:
        from notes.history.row_kinds import register_note_kinds

        register_note_kinds()
