"""What was asked with a key, what people and keys changed, and what models were asked."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, ClassVar, NotRequired
from uuid import UUID

from django.db.models import CharField, F, Func, OuterRef, QuerySet, Subquery, UUIDField, Value
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.views import HubView, get_whole_tenant_id
from api.models import LoggedRequest
from api.rows.columns import Column, Resource, pick_columns
from api.rows.lists import list_rows, read_whole_number
from api.rows.read_views import TenantListView
from api.schema.openapi import LOG_PARAMETERS
from memoryhub.inference import usage
from memoryhub.inference.budgets import compute_day_start
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import UsageSums
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import ApiKey, AuditEntry
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Receipt

# `when`, by `who`, of which `area`; `what` is its kind, `of` and `why` are words kept with it.
AUDIT_COLUMNS = ("id", "when", "who", "area", "what", "of", "why", "in_space", "subject")
# What is not by hand is the pipeline's, and an erasure has its receipt.
_MANUAL_KINDS = (EvolutionEvent.Kind.MANUAL, EvolutionEvent.Kind.UNDO)


_COMMON_ANNOTATIONS: dict[str, Any] = {
    "when": F("created_at"),
    "who": F("actor"),
    "why": F("reason"),
    "in_space": F("space_id"),
    "subject": F("space__subject"),
}


def build_audit_sources() -> list[QuerySet[Any]]:
    """What people and keys changed, wherever it is kept: four tables, each of which tells it in its
    own words, under AUDIT_COLUMNS. Their union is the audit. Call inside the tenant's scope.

    Memories that the hub itself put right are derived: they stand in their space's history.
    """

    def word(text: str | None) -> Value:
        return Value(text, CharField())

    shared = _COMMON_ANNOTATIONS
    nowhere = {"in_space": Value(None, UUIDField()), "subject": word(None)}
    area = Func(F("action"), Value("."), Value(1), function="split_part", output_field=CharField())
    entry = {"when": F("at"), "what": F("action"), "of": F("about"), "why": F("detail")}
    return [
        EvolutionEvent.objects.filter(kind__in=_MANUAL_KINDS)
        .exclude(actor=HUB_ACTOR)
        .annotate(area=word("memory"), what=F("kind"), of=F("trigger"), **shared),
        PolicyVersion.objects.annotate(
            area=word("policy"), what=word("policy"), of=F("preset"), **shared
        ),
        Receipt.objects.annotate(
            area=word("erasure"), what=word("erased"), of=F("target"), **shared | nowhere
        ),
        AuditEntry.objects.annotate(**shared | entry).annotate(area=area),
    ]


def _build_key_name() -> dict[str, Any]:
    keys = ApiKey.objects.order_by().filter(id=OuterRef("key_id"))
    return {"key_name": Subquery(keys.values("name"))}


LOGGED_REQUESTS = Resource(
    "request",
    "A request that came with a key: its route as declared, how it ended and how long it took.",
    LoggedRequest,
    pick_columns(
        LoggedRequest, "id at method route status milliseconds error request_id key_id key=key_name"
    ),
    order=("-at", "-id"),
    build_annotations=_build_key_name,
    component="LoggedRequest",
)
AUDIT_CHANGES = Resource(
    "change",
    "What a person or a key changed: of memories, policies, keys, people, webhooks, the tenant.",
    EvolutionEvent,
    pick_columns(EvolutionEvent, "id")
    | {"at": Column("time", "when")}
    | pick_columns(EvolutionEvent, "actor=who area action=what about=of reason=why subject"),
    order=("-at", "-id"),
    component="AuditEntry",
)


class AuditView(TenantListView):
    """What people and keys changed, wherever it is kept, the latest first."""

    resource = AUDIT_CHANGES
    scopes: ClassVar = {"GET": "admin"}
    parameters: ClassVar = LOG_PARAMETERS

    def get(self, request: Request, **ids: UUID) -> Response:
        with tenant_scope(get_whole_tenant_id(request)):
            return Response(list_rows(request, AUDIT_CHANGES, *build_audit_sources()))


MAX_DAYS = 366

MODEL_CALLS = Resource(
    "call",
    "A question put to a model, without its words.",
    ModelCall,
    pick_columns(
        ModelCall,
        "id subject=space__subject job_id purpose template model status attempts prompt_tokens "
        "completion_tokens cost milliseconds rejected created_at",
    ),
    order=("-created_at", "-id"),
    component="ModelCall",
)


class UsageFigures(TypedDict):
    """What models took; of a day, a purpose or a model, its name with it."""

    calls: int
    tokens: int
    money: float
    failed: int
    rejected: int
    day: NotRequired[str]
    purpose: NotRequired[str]
    model: NotRequired[str]


class Usage(TypedDict):
    since: datetime
    total: UsageFigures
    days: list[UsageFigures]
    purposes: list[UsageFigures]
    models: list[UsageFigures]


class UsageView(HubView):
    """What models took in the last days: in all, by day, by purpose, by model."""

    scopes: ClassVar = {"GET": "read"}
    answer: ClassVar = Usage
    parameters: ClassVar = [
        OpenApiParameter(
            "days",
            {"type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": 30},
            description="How many days, today included (UTC).",
        )
    ]

    def get(self, request: Request) -> Response:
        days = read_whole_number(request, "days", 30, MAX_DAYS)
        since = compute_day_start(timezone.now()) - timedelta(days=days - 1)
        with tenant_scope(get_request_tenant_id(request)):
            rows = MODEL_CALLS.select_visible_rows(get_request_key(request))
            rows = rows.filter(created_at__gte=since)
            told = {
                "since": since,
                "total": _render_figures(usage.sum_usage(rows)),
                "days": [_render_figures(each, "day") for each in usage.sum_usage_by_day(rows)],
            }
            for name in ("purpose", "model"):
                sums = usage.sum_usage_by(rows, name)
                told[f"{name}s"] = [_render_figures(each, name) for each in sums]
        return Response(told)


def _render_figures(figures: UsageSums, name: str = "") -> dict[str, Any]:
    sums = asdict(figures)
    key = sums.pop("key")
    return ({name: key} if name else {}) | sums
