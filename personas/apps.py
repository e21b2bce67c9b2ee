from __future__ import annotations

from django.apps import AppConfig


class PersonasConfig(AppConfig):
    name = "personas"
    label = "personas"
    verbose_name = "Personas"

    def ready(self) -> None:
        from notes.registry import register
        from personas.models import ProfileAttribute, Trait

        register(Trait, texts=("rationale",))
        register(ProfileAttribute, texts=("value",))
