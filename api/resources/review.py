"""What waits for a person's word: contradictions, what is held back, merges, wishes to forget."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q

from api.columns import ID, LIST, OBJECT, TEXT, TIME, Resource
from memoryhub.pipeline.reviewing import ANSWERS
from memoryhub.tenants.models import Space
from notes.models import Proposal


def _answers(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    open_ = shown["state"] == Proposal.State.OPEN
    return {"answers": list(ANSWERS[shown["kind"]]) if open_ else []}


CONFLICTS = Resource(
    "conflict",
    "A change the pipeline may not make by itself: it waits for a decision.",
    Proposal,
    {
        "id": ID,
        "kind": TEXT,
        "row_type": TEXT,
        "row_id": ID,
        "payload": OBJECT,
        "turn_ids": LIST,
        "reason": TEXT,
        "state": TEXT,
        "created_at": TIME,
        "decided_at": TIME,
        "decided_by": TEXT,
    },
    order=("-created_at", "-id"),
    held=lambda now: Q(state=Proposal.State.OPEN),
    more=_answers,
)
