from __future__ import annotations

from django.apps import AppConfig


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        # Registers the system checks, and the Celery app that shared tasks belong to.
        from memoryhub import celery, checks  # noqa: F401
        from memoryhub.declarations import load_declarations

        load_declarations()
