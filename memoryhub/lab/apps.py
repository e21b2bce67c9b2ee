from __future__ import annotations

from django.apps import AppConfig


class LabConfig(AppConfig):
    name = "memoryhub.lab"
    label = "lab"
    verbose_name = "Lab"

    def ready(self) -> None:
        from memoryhub.lab.runs.background import ring_for_next_run
        from memoryhub.pipeline.tasks import EXTRA_SWEEPS

        EXTRA_SWEEPS.append(ring_for_next_run)
