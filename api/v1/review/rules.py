"""Rules: answers given beforehand to what would wait for a person."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.core.fields import NameField, PatternField
from api.rows.answers import build_named_type
from api.rows.columns import ID, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView
from api.rows.write_views import (
    EmptySerializer,
    ReasonSerializer,
    TenantWriteRequest,
    TenantWriteView,
    get_whole_tenant_id,
)
from api.v1.review.conflicts import COMMON_ANSWER_PATTERN
from memoryhub.errors import NotFound
from memoryhub.pipeline.review import review_rules
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import ReviewRule

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
    answer = PatternField(shape=COMMON_ANSWER_PATTERN)
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

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_named_type(REVIEW_RULES)


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
