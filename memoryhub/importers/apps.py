from __future__ import annotations

from django.apps import AppConfig


class ImportersConfig(AppConfig):
    name = "memoryhub.importers"
    label = "importers"
    verbose_name = "Imports"

    def ready(self) -> None:
        from memoryhub.importers.erasing import forget
        from memoryhub.importers.runs import ring_for_waiting
        from memoryhub.pipeline.erasing import also_purge
        from memoryhub.pipeline.tasks import ALSO_SWEPT

        also_purge(forget)
        if ring_for_waiting not in ALSO_SWEPT:
            ALSO_SWEPT.append(ring_for_waiting)
