"""What golden questions add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, ExportKind, Growth
from memoryhub.golden.embedder_comparison import GoldenStep
from memoryhub.golden.models import GoldenQuestion
from memoryhub.golden.services import trace_erased_questions
from notes.history.row_kinds import RowKind

DECLARATION = AppDeclaration(
    steps=(GoldenStep,),
    memory_kinds=(RowKind(GoldenQuestion),),
    erasure_traces=(trace_erased_questions,),
    erasable_texts={
        "replayrun": "settings and ids, and the tag that it was asked for by",
        "replayanswer": "ids and figures; it goes with its question",
    },
    export_kinds={
        "goldenquestion": ExportKind(order=("created_at", "id")),
        "replayrun": "a measurement, made here",
        "replayanswer": "a measurement, made here",
    },
    growth={
        "replayrun": Growth(kind="golden", at="created_at"),
        "replayanswer": Growth(kind="golden"),
    },
)
