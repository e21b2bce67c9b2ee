from __future__ import annotations

from django.apps import AppConfig


class LabConfig(AppConfig):
    name = "memoryhub.lab"
    label = "lab"
    verbose_name = "Lab"

    def ready(self) -> None:
        from memoryhub.lab.background import ring_for_the_next
        from memoryhub.pipeline.tasks import ALSO_SWEPT

        ALSO_SWEPT.append(ring_for_the_next)
