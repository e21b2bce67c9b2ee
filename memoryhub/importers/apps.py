from __future__ import annotations

from django.apps import AppConfig


class ImportersConfig(AppConfig):
    name = "memoryhub.importers"
    label = "importers"
    verbose_name = "Imports"

    def ready(self) -> None:
        from memoryhub.importers.runs import ring_for_waiting_runs
        from memoryhub.importers.storage import erase_kept_files
        from memoryhub.pipeline.erasure.erase_targets import register_purge
        from memoryhub.pipeline.tasks import EXTRA_SWEEPS

        register_purge(erase_kept_files)
        if ring_for_waiting_runs not in EXTRA_SWEEPS:
            EXTRA_SWEEPS.append(ring_for_waiting_runs)
