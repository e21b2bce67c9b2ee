"""What the account of model calls adds to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration

DECLARATION = AppDeclaration(
    erasable_texts={"modelcall": "pipeline.erasure empties input, output and error"},
    export_kinds={
        "modelcall": "a log of what was spent here",
        "hubmodels": "the hub's own, with a key that only this hub opens",
    },
)
