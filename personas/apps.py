from __future__ import annotations

from django.apps import AppConfig


class PersonasConfig(AppConfig):
    name = "personas"
    label = "personas"
    verbose_name = "Personas"

    def ready(self) -> None:
        from notes.registry import register
        from personas.blocks import follow
        from personas.models import CoreBlock, ProfileAttribute, Trait

        register(Trait, texts=("rationale",))
        register(ProfileAttribute, texts=("value",))
        register(CoreBlock, texts=("value", "label"), follow=follow, scrubbed=True)
