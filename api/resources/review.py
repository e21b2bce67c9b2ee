"""What waits for a person's word: contradictions, what is held back, merges, wishes to forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from api.columns import ID, LIST, OBJECT, TEXT, TIME, Column, Resource
from api.fields import IdField, NameField, PatternField
from api.listing import shown_row
from api.permissions import HasScope
from api.resources.base import TenantListView
from api.resources.writing import (
    Deed,
    EmptySerializer,
    ReasonSerializer,
    TenantDeed,
    TenantWriteView,
    WriteView,
    whole_tenant,
)
from memoryhub.errors import NotFound
from memoryhub.pipeline import reviewing, ruling
from memoryhub.pipeline.answers import ANSWERS, COMMON, answers_of, meant
from memoryhub.pipeline.reviewing import Outcome
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal, ReviewRule


def _answers(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    open_ = shown["state"] == Proposal.State.OPEN
    return {"answers": answers_of(Proposal.objects.get(id=row_id)) if open_ else []}


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
    held=lambda now: Q(state=Proposal.State.OPEN),
    more=_answers,
)


_KNOWN = sorted({*COMMON, *(each for answers in ANSWERS.values() for each in answers)})
# A pattern: OpenAPI names enumerations by their field.
_COMMON = f"^({'|'.join(COMMON)})$"
MOST_AT_ONCE = 100


class DecideSerializer(ReasonSerializer):
    """`text`: what is new in other words, where the answer writes it."""

    answer = serializers.ChoiceField(choices=_KNOWN)
    text = NameField(required=False, default="", max_length=20_000)


class DecideManySerializer(ReasonSerializer):
    ids = serializers.ListField(child=IdField(), allow_empty=False, max_length=MOST_AT_ONCE)
    answer = PatternField(shape=_COMMON)


class _ConflictView(WriteView):
    """A write on one case, answered with it."""

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        proposal = _found(deed, [ids["row_id"]])[0]
        self.decide(deed, proposal)
        with tenant_scope(deed.space.tenant_id):
            return {"conflict": shown_row(CONFLICTS, CONFLICTS.rows(), proposal.id)}

    def decide(self, deed: Deed, proposal: Proposal) -> None:
        raise NotImplementedError

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"conflict": CONFLICTS.schema()}}


class DecideView(_ConflictView):
    """Carry out one of the answers to a conflict. To erase takes a key with the scope admin."""

    serializer_class = DecideSerializer
    example: ClassVar = {"answer": "keep"}

    def decide(self, deed: Deed, proposal: Proposal) -> None:
        said = deed.given["answer"]
        _may(deed, proposal, said)
        reviewing.answer(
            proposal, said, deed.actor, deed.now, reason=deed.reason, text=deed.given["text"]
        )


class TakeBackView(_ConflictView):
    """Undo what the answer to a conflict did, and open it again."""

    def decide(self, deed: Deed, proposal: Proposal) -> None:
        reviewing.take_back(proposal, deed.actor, deed.now, reason=deed.reason)


class DecideManyView(WriteView):
    """One answer to many conflicts, each for itself: one that can't be done leaves the others
    alone, and says why."""

    serializer_class = DecideManySerializer
    example: ClassVar = {"ids": ["0192f0c1-2a3b-7c4d-8e5f-6a7b8c9d0e1f"], "answer": "reject"}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        said = deed.given["answer"]

        def decide(proposal: Proposal) -> None:
            _may(deed, proposal, said)
            reviewing.answer(proposal, said, deed.actor, deed.now, reason=deed.reason)

        found = _found(deed, deed.given["ids"])
        return {"results": [_told(each) for each in reviewing.each(found, decide)]}

    def answers(self) -> dict[str, Any]:
        text, row = {"type": "string"}, {"type": ["string", "null"], "format": "uuid"}
        shown = {"id": row, "state": text, "event_id": row, "refused": text}
        result = {"type": "object", "properties": shown}
        return {"type": "object", "properties": {"results": {"type": "array", "items": result}}}


def _told(outcome: Outcome) -> dict[str, Any]:
    proposal = outcome.proposal
    return {
        "id": proposal.id,
        "state": proposal.state,
        "event_id": proposal.event_id,
        "refused": outcome.refused,
    }


def _found(deed: Deed, ids: Sequence[UUID]) -> list[Proposal]:
    """In their order. Raises NotFound where the space has not all of them."""
    with tenant_scope(deed.space.tenant_id):
        rows = Proposal.objects.filter(space=deed.space, id__in=ids)
        found = {row.id: row for row in rows.select_related("space", "event")}
    if len(found) != len(set(ids)):
        raise NotFound("There is no such conflict.")
    return [found[row_id] for row_id in dict.fromkeys(ids)]


def _may(deed: Deed, proposal: Proposal, said: str) -> None:
    """Raises PermissionDenied: to erase takes the scope admin."""
    if meant(proposal.kind, said) == "erase" and ApiKey.Scope.ADMIN not in deed.key.scopes:
        raise PermissionDenied(HasScope.message)


RULES = Resource(
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
    held=lambda now: Q(removed_at=None),
)


class NewRuleSerializer(ReasonSerializer):
    """`subject`: the one space it is for; empty: all. `predicate_key`, `role`: empty for any."""

    kind = PatternField(shape=f"^({'|'.join(ruling.KINDS)})$")
    answer = PatternField(shape=_COMMON)
    subject = NameField(required=False, default="", max_length=200)
    predicate_key = NameField(required=False, default="", max_length=80)
    role = NameField(required=False, default="", max_length=20)


class RulesView(TenantListView):
    """The rules in force; with `?status=all` also those removed."""

    resource = RULES
    scopes: ClassVar = {"GET": "admin"}

    def rows(self, request: Request) -> QuerySet[Any]:
        whole_tenant(request)
        return RULES.rows()


class _RuleView(TenantWriteView):
    def shown(self, deed: TenantDeed, row_id: UUID) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            return {"review_rule": shown_row(RULES, RULES.rows(), row_id)}

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"review_rule": RULES.schema()}}


class NewRuleView(_RuleView):
    """Answer cases of one kind from now on."""

    serializer_class = NewRuleSerializer
    example: ClassVar = {
        "kind": "conflict",
        "answer": "reject",
        "predicate_key": "lives_in",
        "role": "assistant",
    }

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        kind, said, subject = (given.pop(name) for name in ("kind", "answer", "subject"))
        space = _space_of(deed, subject) if subject else None
        made = ruling.make_rule(
            deed.tenant_id, kind, said, deed.actor, deed.now, space=space, **given
        )
        return self.shown(deed, made.id)


def _space_of(deed: TenantDeed, subject: str) -> Space:
    with tenant_scope(deed.tenant_id):
        found: Space | None = Space.objects.filter(subject=subject).first()
    if found is None:
        raise NotFound("There is no such subject.")
    return found


class RemoveRuleView(_RuleView):
    """It answers nothing more; what it answered stays."""

    serializer_class = EmptySerializer

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            if not ReviewRule.objects.filter(id=ids["row_id"]).exists():
                raise NotFound("There is no such rule.")
        ruling.remove_rule(deed.tenant_id, ids["row_id"], deed.actor, deed.now)
        return self.shown(deed, ids["row_id"])
