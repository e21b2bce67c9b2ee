from __future__ import annotations

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = "API"

    def ready(self) -> None:
        from api.idempotency import forget_answers
        from memoryhub.pipeline.erasing import also_purge

        also_purge(forget_answers)
