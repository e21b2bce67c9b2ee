from __future__ import annotations

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = "API"

    def ready(self) -> None:
        from api.core import request_log
        from api.core.idempotency import erase_answers
        from memoryhub.pipeline.erasure.erase_targets import register_purge
        from memoryhub.pipeline.steps.maintenance.sweep import SWEEP_TASKS
        from memoryhub.recall.log import retention

        register_purge(erase_answers)
        register_purge(retention.delete_entries_since)
        if retention.sweep_recall_log not in SWEEP_TASKS:
            SWEEP_TASKS.extend((retention.sweep_recall_log, request_log.sweep_request_log))
