"""What imports add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration
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
)
