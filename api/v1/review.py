"""What waits for a person's word, and the answers given to such cases beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from typing_extensions import TypedDict

from api.core.fields import NO_NULS, ListField, NameField, PatternField, StrictIdField, SubjectField
from api.core.permissions import explain_refusal
from api.rows.answers import build_named_type
from api.rows.columns import Resource, pick_columns
from api.rows.write_views import (
    EmptySerializer,
    ReasonSerializer,
    SpaceWriteRequest,
    SpaceWriteView,
    TenantWriteRequest,
    TenantWriteView,
)
from memoryhub.errors import NotFound
from memoryhub.pipeline.review import answer_proposals, review_rules
from memoryhub.pipeline.review.answers import (
    ANSWERS_BY_KIND,
    COMMON_ANSWERS,
    list_answers,
    translate_common_answer,
)
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_space
from notes.models import Proposal, ReviewRule


class ConflictDetails(TypedDict):
    """What it can be answered with, while it is open."""

    answers: list[str]


def _load_answers(row_id: UUID) -> ConflictDetails:
    proposal = Proposal.objects.get(id=row_id)
    return {"answers": list_answers(proposal) if proposal.state == Proposal.State.OPEN else []}


CONFLICTS = Resource(
    "conflict",
    "A change the pipeline may not make by itself: it waits for a decision.",
    Proposal,
    pick_columns(
        Proposal,
        "id kind row_type row_id payload turn_ids reason risk state created_at decided_at "
        "decided_by decided_because event_id rule_id",
    ),
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
    text = NameField(default="", max_length=20_000)


class DecideConflictsSerializer(ReasonSerializer):
    ids = ListField(StrictIdField(), allow_empty=False, max_length=MAX_DECISIONS)
    answer = PatternField(shape=COMMON_ANSWER_PATTERN)


class _ConflictWriteView(SpaceWriteView):
    """A write on one case, answered with it."""

    answer: ClassVar = build_named_type(CONFLICTS)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        proposal = _get_conflicts(deed, [ids["row_id"]])[0]
        self.change_conflict(deed, proposal)
        return deed.render_named_row(CONFLICTS, proposal.id)

    def change_conflict(self, deed: SpaceWriteRequest, proposal: Proposal) -> None:
        raise NotImplementedError


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
                {
                    "id": each.proposal.id,
                    "state": each.proposal.state,
                    "event_id": each.proposal.event_id,
                    "refused": each.refused,
                }
                for each in answer_proposals.run_for_each(found, decide_proposal)
            ]
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
    erases = translate_common_answer(proposal.kind, said) == "erase"
    if erases and ApiKey.Scope.ADMIN not in deed.key.scopes:
        raise PermissionDenied(explain_refusal(ApiKey.Scope.ADMIN))


REVIEW_RULES = Resource(
    "review rule",
    "An answer given beforehand to cases of one kind, in a space or in all.",
    ReviewRule,
    pick_columns(
        ReviewRule,
        "id subject=space__subject kind predicate_key role answer reason created_by created_at "
        "removed_by removed_at",
    ),
    order=("-created_at", "-id"),
    current_condition=lambda now: Q(removed_at=None),
)


class NewReviewRuleSerializer(ReasonSerializer):
    """`subject`: the one space it is for; empty: all. `predicate_key`, `role`: empty for any."""

    kind = PatternField(shape=f"^({'|'.join(review_rules.RULED_KINDS)})$")
    answer = PatternField(shape=COMMON_ANSWER_PATTERN)
    subject = SubjectField(default="", shape=NO_NULS)
    predicate_key = NameField(default="", max_length=80)
    role = NameField(default="", max_length=20)


class NewReviewRuleView(TenantWriteView):
    """Answer cases of one kind from now on."""

    serializer_class = NewReviewRuleSerializer
    answer: ClassVar = build_named_type(REVIEW_RULES)
    example: ClassVar = {
        "kind": "conflict",
        "answer": "reject",
        "predicate_key": "lives_in",
        "role": "assistant",
    }

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        kind, said, subject = (given.pop(name) for name in ("kind", "answer", "subject"))
        space = None
        if subject:
            with tenant_scope(deed.tenant_id):
                space = find_space(subject)
            if space is None:
                raise NotFound("There is no such subject.")
        made = review_rules.create_rule(
            deed.tenant_id, kind, said, deed.actor, deed.now, space=space, **given
        )
        return deed.render_named_row(REVIEW_RULES, made.id)


class RemoveReviewRuleView(TenantWriteView):
    """It answers nothing more; what it answered stays."""

    serializer_class = EmptySerializer
    answer: ClassVar = build_named_type(REVIEW_RULES)

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            if not ReviewRule.objects.filter(id=ids["row_id"]).exists():
                raise NotFound("There is no such rule.")
        review_rules.remove_rule(deed.tenant_id, ids["row_id"], deed.actor, deed.now)
        return deed.render_named_row(REVIEW_RULES, ids["row_id"])
