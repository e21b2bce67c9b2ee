"""What imports add to the hub."""

from __future__ import annotations

from django.db.models import Q

from memoryhub.declarations import AppDeclaration, Growth
from memoryhub.importers.runs import ring_for_waiting_runs
from memoryhub.importers.storage import erase_kept_files

DECLARATION = AppDeclaration(
    hub_sweeps=(ring_for_waiting_runs,),
    erasable_texts={
        "importfile": erase_kept_files,
        "importpart": erase_kept_files,
        "importrun": erase_kept_files,
    },
    export_kinds={
        "importfile": "a file that waits to be taken in",
        "importpart": "a file that waits to be taken in",
        "importrun": "a log; what came in is in the history",
    },
    growth={
        "importfile": Growth(kind="imports", at="created_at"),
        "importpart": Growth(kind="imports"),
        "importrun": Growth(
            kind="imports",
            at="created_at",
            days="import_days",
            only=Q(state__in=["done", "failed"]),
        ),
    },
)
