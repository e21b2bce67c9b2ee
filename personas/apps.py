from __future__ import annotations

from django.apps import AppConfig


class PersonasConfig(AppConfig):
    name = "personas"
    label = "personas"
    verbose_name = "Personas"

    def ready(self) -> None:
        from notes.history.row_kinds import register_row_kind
        from personas.blocks import follow_revisions
        from personas.models import CoreBlock, ProfileAttribute, Trait

        register_row_kind(Trait, texts=("rationale",))
        register_row_kind(ProfileAttribute, texts=("value",))
        register_row_kind(
            CoreBlock, texts=("value", "label"), follow=follow_revisions, scrubbed=True
        )
