from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "memoryhub.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        from memoryhub import news
        from memoryhub.pipeline.erasure.erase_targets import register_purge
        from memoryhub.pipeline.tasks import EXTRA_SWEEPS
        from memoryhub.webhooks.dispatch import sweep_due_webhooks
        from memoryhub.webhooks.outbox import record_news
        from memoryhub.webhooks.services import erase_replies

        news.add_listener(record_news)
        register_purge(erase_replies)
        if sweep_due_webhooks not in EXTRA_SWEEPS:
            EXTRA_SWEEPS.append(sweep_due_webhooks)
