"""What the lab adds to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, Growth
from memoryhub.lab.runs.background import ring_for_next_run

DECLARATION = AppDeclaration(
    hub_sweeps=(ring_for_next_run,),
    erasable_texts={
        "labrun": "settings and figures",
        "labderivation": "figures of a published data set",
        "laboutcome": "questions and answers of a published data set",
    },
    export_kinds={
        "labrun": "a measurement, made here",
        "labderivation": "a measurement, made here",
        "laboutcome": "a measurement, made here",
    },
    growth={
        "labrun": Growth(kind="lab", at="created_at"),
        "labderivation": Growth(kind="lab"),
        "laboutcome": Growth(kind="lab", at="created_at"),
    },
)
