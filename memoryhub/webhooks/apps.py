from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "memoryhub.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        from memoryhub import news
        from memoryhub.pipeline.erasing import also_purge
        from memoryhub.pipeline.tasks import ALSO_SWEPT
        from memoryhub.webhooks.delivering import sweep
        from memoryhub.webhooks.erasing import forget_replies
        from memoryhub.webhooks.outbox import keep

        news.listen(keep)
        also_purge(forget_replies)
        if sweep not in ALSO_SWEPT:
            ALSO_SWEPT.append(sweep)
