"""What the account of model calls adds to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, Growth

DECLARATION = AppDeclaration(
    erasable_texts={"modelcall": "pipeline.erasure empties input, output and error"},
    export_kinds={
        "modelcall": "a log of what was spent here",
        "hubmodels": "the hub's own, with a key that only this hub opens",
    },
    growth={
        "modelcall": Growth(kind="calls", at="created_at", days="call_days"),
    },
)
