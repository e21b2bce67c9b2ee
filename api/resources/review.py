"""What waits for a person's word: contradictions, what is held back, merges, wishes to forget."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

from api.columns import ID, LIST, OBJECT, TEXT, TIME, Resource
from api.listing import shown_row
from api.permissions import HasScope
from api.resources.writing import Deed, ReasonSerializer, WriteView
from memoryhub.errors import NotFound
from memoryhub.pipeline.reviewing import ANSWERS, answer
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
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
        "decided_because": TEXT,
    },
    order=("-created_at", "-id"),
    held=lambda now: Q(state=Proposal.State.OPEN),
    more=_answers,
)


class DecideSerializer(ReasonSerializer):
    answer = serializers.ChoiceField(choices=sorted({a for each in ANSWERS.values() for a in each}))


class DecideView(WriteView):
    """Carry out one of the answers to a conflict. To erase takes a key with the scope admin."""

    serializer_class = DecideSerializer
    example: ClassVar = {"answer": "keep"}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = Proposal.objects.filter(space=deed.space, id=ids["row_id"])
            proposal = rows.first()
        if proposal is None:
            raise NotFound("There is no such conflict.")
        said = deed.given["answer"]
        if said == "erase" and ApiKey.Scope.ADMIN not in deed.key.scopes:
            raise PermissionDenied(HasScope.message)
        answer(proposal, said, deed.actor, deed.now, reason=deed.reason)
        with tenant_scope(deed.space.tenant_id):
            return {"conflict": shown_row(CONFLICTS, CONFLICTS.rows(), proposal.id)}

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"conflict": CONFLICTS.schema()}}
