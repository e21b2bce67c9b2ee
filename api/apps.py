from __future__ import annotations

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = "API"

    def ready(self) -> None:
        from api import request_log
        from api.idempotency import forget_answers
        from memoryhub.pipeline.erasing import also_purge
        from memoryhub.pipeline.sweeping import TASKS
        from memoryhub.recall import keeping

        also_purge(forget_answers)
        also_purge(keeping.forget)
        if keeping.sweep not in TASKS:
            TASKS.extend((keeping.sweep, request_log.sweep))
