"""What waits for a person's word: contradictions, what is held back, merges, wishes to forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from api.core.fields import NameField, PatternField, StrictIdField
from api.core.permissions import HasScope
from api.rows.columns import ID, LIST, OBJECT, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView
from api.rows.write_views import (
    EmptySerializer,
    ReasonSerializer,
    SpaceWriteRequest,
    SpaceWriteView,
    TenantWriteRequest,
    TenantWriteView,
    get_whole_tenant_id,
)
from memoryhub.errors import NotFound
from memoryhub.pipeline.review import answer_proposals, review_rules
from memoryhub.pipeline.review.answer_proposals import AnswerOutcome
from memoryhub.pipeline.review.answers import (
    ANSWERS_BY_KIND,
    COMMON_ANSWERS,
    list_answers,
    translate_common_answer,
)
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal, ReviewRule


def _load_answers(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
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
)


_ANSWER_NAMES = sorted(
    {*COMMON_ANSWERS, *(each for answers in ANSWERS_BY_KIND.values() for each in answers)}
)
# A pattern: OpenAPI names enumerations by their field.
_COMMON_ANSWER_PATTERN = f"^({'|'.join(COMMON_ANSWERS)})$"
MAX_DECISIONS = 100


class DecideConflictSerializer(ReasonSerializer):
    """`text`: what is new in other words, where the answer writes it."""

    answer = serializers.ChoiceField(choices=_ANSWER_NAMES)
    text = NameField(required=False, default="", max_length=20_000)


class DecideConflictsSerializer(ReasonSerializer):
    ids = serializers.ListField(child=StrictIdField(), allow_empty=False, max_length=MAX_DECISIONS)
    answer = PatternField(shape=_COMMON_ANSWER_PATTERN)


class _ConflictWriteView(SpaceWriteView):
    """A write on one case, answered with it."""

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        proposal = _get_conflicts(deed, [ids["row_id"]])[0]
        self.change_conflict(deed, proposal)
        with tenant_scope(deed.space.tenant_id):
            return {"conflict": render_row(CONFLICTS, CONFLICTS.select_rows(), proposal.id)}

    def change_conflict(self, deed: SpaceWriteRequest, proposal: Proposal) -> None:
        raise NotImplementedError

    def build_response_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"conflict": CONFLICTS.build_schema()}}


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


class DecideConflictsView(SpaceWriteView):
    """One answer to many conflicts, each for itself: one that can't be done leaves the others
    alone, and says why."""

    serializer_class = DecideConflictsSerializer
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

    def build_response_schema(self) -> dict[str, Any]:
        text, row = {"type": "string"}, {"type": ["string", "null"], "format": "uuid"}
        shown = {"id": row, "state": text, "event_id": row, "refused": text}
        result = {"type": "object", "properties": shown}
        return {"type": "object", "properties": {"results": {"type": "array", "items": result}}}


def _render_outcome(outcome: AnswerOutcome) -> dict[str, Any]:
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


REVIEW_RULES = Resource(
    "review rule",
    "An answer given beforehand to cases of one kind, in a space or in all.",
    ReviewRule,
    {
        "id": ID,
        "subject": Column("text", "space__subject"),
        "kind": TEXT,
        "predicate_key": TEXT,
        "role": TEXT,
        "answer": TEXT,
        "reason": TEXT,
        "created_by": TEXT,
        "created_at": TIME,
        "removed_by": TEXT,
        "removed_at": TIME,
    },
    order=("-created_at", "-id"),
    current_condition=lambda now: Q(removed_at=None),
)


class NewReviewRuleSerializer(ReasonSerializer):
    """`subject`: the one space it is for; empty: all. `predicate_key`, `role`: empty for any."""

    kind = PatternField(shape=f"^({'|'.join(review_rules.RULED_KINDS)})$")
    answer = PatternField(shape=_COMMON_ANSWER_PATTERN)
    subject = NameField(required=False, default="", max_length=200)
    predicate_key = NameField(required=False, default="", max_length=80)
    role = NameField(required=False, default="", max_length=20)


class ReviewRulesView(TenantListView):
    """The rules in force; with `?status=all` also those removed."""

    resource = REVIEW_RULES
    scopes: ClassVar = {"GET": "admin"}

    def select_rows(self, request: Request) -> QuerySet[Any]:
        get_whole_tenant_id(request)
        return REVIEW_RULES.select_rows()


class _RuleWriteView(TenantWriteView):
    def render_rule(self, deed: TenantWriteRequest, row_id: UUID) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            return {"review_rule": render_row(REVIEW_RULES, REVIEW_RULES.select_rows(), row_id)}

    def build_response_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"review_rule": REVIEW_RULES.build_schema()}}


class NewReviewRuleView(_RuleWriteView):
    """Answer cases of one kind from now on."""

    serializer_class = NewReviewRuleSerializer
    example: ClassVar = {
        "kind": "conflict",
        "answer": "reject",
        "predicate_key": "lives_in",
        "role": "assistant",
    }

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        kind, said, subject = (given.pop(name) for name in ("kind", "answer", "subject"))
        space = _get_space(deed, subject) if subject else None
        made = review_rules.create_rule(
            deed.tenant_id, kind, said, deed.actor, deed.now, space=space, **given
        )
        return self.render_rule(deed, made.id)


def _get_space(deed: TenantWriteRequest, subject: str) -> Space:
    with tenant_scope(deed.tenant_id):
        found: Space | None = Space.objects.filter(subject=subject).first()
    if found is None:
        raise NotFound("There is no such subject.")
    return found


class RemoveReviewRuleView(_RuleWriteView):
    """It answers nothing more; what it answered stays."""

    serializer_class = EmptySerializer

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            if not ReviewRule.objects.filter(id=ids["row_id"]).exists():
                raise NotFound("There is no such rule.")
        review_rules.remove_rule(deed.tenant_id, ids["row_id"], deed.actor, deed.now)
        return self.render_rule(deed, ids["row_id"])
