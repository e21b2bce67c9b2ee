"""What waits for a person's word: contradictions, what is held back, merges, wishes to forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from typing_extensions import TypedDict

from api.core.fields import NameField, PatternField, StrictIdField
from api.core.permissions import HasScope
from api.rows.answers import build_named_type
from api.rows.columns import ID, LIST, OBJECT, TEXT, TIME, Resource
from api.rows.lists import render_row
from api.rows.write_views import (
    ReasonSerializer,
    SpaceWriteRequest,
    SpaceWriteView,
)
from memoryhub.errors import NotFound
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.review.answer_proposals import AnswerOutcome
from memoryhub.pipeline.review.answers import (
    ANSWERS_BY_KIND,
    COMMON_ANSWERS,
    list_answers,
    translate_common_answer,
)
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal


class ConflictDetails(TypedDict):
    """What it can be answered with, while it is open."""

    answers: list[str]


def _load_answers(space: Space, row_id: UUID, shown: dict[str, Any]) -> ConflictDetails:
    open_ = shown["state"] == Proposal.State.OPEN
    return {"answers": list_answers(Proposal.objects.get(id=row_id)) if open_ else []}


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
        "risk": TEXT,
        "state": TEXT,
        "created_at": TIME,
        "decided_at": TIME,
        "decided_by": TEXT,
        "decided_because": TEXT,
        "event_id": ID,
        "rule_id": ID,
    },
    order=("-created_at", "-id"),
    current_condition=lambda now: Q(state=Proposal.State.OPEN),
    load_details=_load_answers,
    component="OpenConflict",
)


_ANSWER_NAMES = sorted(
    {*COMMON_ANSWERS, *(each for answers in ANSWERS_BY_KIND.values() for each in answers)}
)
# A pattern: OpenAPI names enumerations by their field.
COMMON_ANSWER_PATTERN = f"^({'|'.join(COMMON_ANSWERS)})$"
MAX_DECISIONS = 100


class DecideConflictSerializer(ReasonSerializer):
    """`text`: what is new in other words, where the answer writes it."""

    answer = serializers.ChoiceField(choices=_ANSWER_NAMES)
    text = NameField(required=False, default="", max_length=20_000)


class DecideConflictsSerializer(ReasonSerializer):
    ids = serializers.ListField(child=StrictIdField(), allow_empty=False, max_length=MAX_DECISIONS)
    answer = PatternField(shape=COMMON_ANSWER_PATTERN)


class _ConflictWriteView(SpaceWriteView):
    """A write on one case, answered with it."""

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        proposal = _get_conflicts(deed, [ids["row_id"]])[0]
        self.change_conflict(deed, proposal)
        with tenant_scope(deed.space.tenant_id):
            return {"conflict": render_row(CONFLICTS, CONFLICTS.select_rows(), proposal.id)}

    def change_conflict(self, deed: SpaceWriteRequest, proposal: Proposal) -> None:
        raise NotImplementedError

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_named_type(CONFLICTS)


class DecideConflictView(_ConflictWriteView):
    """Carry out one of the answers to a conflict. To erase takes a key with the scope admin."""

    serializer_class = DecideConflictSerializer
    example: ClassVar = {"answer": "keep"}

    def change_conflict(self, deed: SpaceWriteRequest, proposal: Proposal) -> None:
        said = deed.given["answer"]
        _check_may_answer(deed, proposal, said)
        answer_proposals.answer_proposal(
            proposal, said, deed.actor, deed.now, reason=deed.reason, text=deed.given["text"]
        )


class ReopenConflictView(_ConflictWriteView):
    """Undo what the answer to a conflict did, and open it again."""

    def change_conflict(self, deed: SpaceWriteRequest, proposal: Proposal) -> None:
        answer_proposals.take_back_answer(proposal, deed.actor, deed.now, reason=deed.reason)


class ConflictDecision(TypedDict):
    """What came of one of many: `refused` says why it was not done, "" that it was."""

    id: UUID
    state: str
    event_id: UUID | None
    refused: str


class ConflictDecisions(TypedDict):
    results: list[ConflictDecision]


class DecideConflictsView(SpaceWriteView):
    """One answer to many conflicts, each for itself: one that can't be done leaves the others
    alone, and says why."""

    serializer_class = DecideConflictsSerializer
    answer: ClassVar = ConflictDecisions
    example: ClassVar = {"ids": ["0192f0c1-2a3b-7c4d-8e5f-6a7b8c9d0e1f"], "answer": "reject"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        said = deed.given["answer"]

        def decide_proposal(proposal: Proposal) -> None:
            _check_may_answer(deed, proposal, said)
            answer_proposals.answer_proposal(
                proposal, said, deed.actor, deed.now, reason=deed.reason
            )

        found = _get_conflicts(deed, deed.given["ids"])
        return {
            "results": [
                _render_outcome(each)
                for each in answer_proposals.run_for_each(found, decide_proposal)
            ]
        }


def _render_outcome(outcome: AnswerOutcome) -> ConflictDecision:
    proposal = outcome.proposal
    return {
        "id": proposal.id,
        "state": proposal.state,
        "event_id": proposal.event_id,
        "refused": outcome.refused,
    }


def _get_conflicts(deed: SpaceWriteRequest, ids: Sequence[UUID]) -> list[Proposal]:
    """In their order. Raises NotFound where the space has not all of them."""
    with tenant_scope(deed.space.tenant_id):
        rows = Proposal.objects.filter(space=deed.space, id__in=ids)
        found = {row.id: row for row in rows.select_related("space", "event")}
    if len(found) != len(set(ids)):
        raise NotFound("There is no such conflict.")
    return [found[row_id] for row_id in dict.fromkeys(ids)]


def _check_may_answer(deed: SpaceWriteRequest, proposal: Proposal, said: str) -> None:
    """Raises PermissionDenied: to erase takes the scope admin."""
    if (
        translate_common_answer(proposal.kind, said) == "erase"
        and ApiKey.Scope.ADMIN not in deed.key.scopes
    ):
        raise PermissionDenied(HasScope.message)
