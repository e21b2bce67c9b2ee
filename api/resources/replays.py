"""Replays: a candidate setting beside what is in force, on golden questions."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of, tenant_of
from api.columns import FLAG, ID, LIST, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.fields import NameField
from api.listing import listed, shown_row, single
from api.policy_fields import OverridesField
from api.resources.base import ResourceView, TenantListView, seen, space_at, tagged
from api.resources.writing import AnyWriteView, EmptySerializer, whole_tenant
from api.schema import LOG_PARAMETERS, ROW_PARAMETERS, page_schema
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.golden import deciding, replaying
from memoryhub.golden.candidates import Candidate, unseen
from memoryhub.golden.expecting import summary, verdict
from memoryhub.golden.models import ReplayAnswer, ReplayRun
from memoryhub.golden.services import TAG_LENGTH
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import layers_of
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

REPLAYS = Resource(
    "replay",
    "A candidate setting beside the one in force, on golden questions.",
    ReplayRun,
    {
        "id": ID,
        "subject": Column("text", "space__subject"),
        "tag": TEXT,
        "preset": TEXT,
        "overrides": OBJECT,
        "engine": TEXT,
        "embedder": TEXT,
        "current": OBJECT,
        "candidate": OBJECT,
        "state": TEXT,
        "decision": TEXT,
        "decided_by": TEXT,
        "decided_at": TIME,
        "actor": TEXT,
        "created_at": TIME,
        "finished_at": TIME,
    },
    order=("-created_at", "-id"),
)
RESULTS = Resource(
    "result",
    "What one side of a replay found for a question.",
    ReplayAnswer,
    {
        "id": ID,
        "question_id": ID,
        "text": Column("text", "question__text"),
        "side": TEXT,
        "ranks": LIST,
        "shown": LIST,
        "insufficient": FLAG,
        "degraded": LIST,
        "milliseconds": NUMBER,
        "tokens": NUMBER,
        "calls": NUMBER,
        "handed": NUMBER,
    },
    order=("question_id", "side", "id"),
)


class ReplaySerializer(serializers.Serializer[Any]):
    """`subject`: try it on that one's questions; empty: on the whole tenant's. What is to be
    tried: another `preset` and `overrides` as a policy takes them, or another `engine`."""

    subject = NameField(required=False, default="", max_length=200)
    tag = NameField(required=False, default="", max_length=TAG_LENGTH)
    preset = serializers.ChoiceField(
        choices=["", *PRESETS], required=False, default="", allow_blank=True
    )
    overrides = OverridesField(required=False, allow_null=True, default=None)
    engine = serializers.ChoiceField(
        choices=["", *Tenant.Engine.values], required=False, default="", allow_blank=True
    )


class DecisionSerializer(serializers.Serializer[Any]):
    """`live`: put the candidate in force; `dropped`: leave things as they are."""

    decision = serializers.ChoiceField(choices=("live", "dropped"))


class ReplaysView(TenantListView):
    resource = REPLAYS


class ReplayView(ResourceView):
    """A replay as far as it has come, both sides in sums, and how many questions got better."""

    resource = REPLAYS
    parameters: ClassVar = ROW_PARAMETERS

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(tenant_of(request)):
            shown = single(request, REPLAYS, seen(request, REPLAYS), row_id)
            if "fields" not in request.query_params:
                shown |= _sums(ReplayRun.objects.get(id=row_id))
        return tagged(request, REPLAYS, shown)

    def answers(self) -> dict[str, Any]:
        schema = REPLAYS.schema()
        count, sums = {"type": "integer"}, {"type": "object"}
        schema["properties"] |= {
            "answered": count,
            "wanted": count,
            "unseen": {"type": "array", "items": {"type": "string"}},
            "verdicts": {"type": "object", "additionalProperties": count},
            "sums": {"type": "object", "properties": {"current": sums, "candidate": sums}},
        }
        return schema


def _sums(run: ReplayRun) -> dict[str, Any]:
    """Call inside the scope."""
    answered, wanted = replaying.progress(run)
    outcomes = list(replaying.outcomes(run).values())
    told = [verdict(sides["current"], sides["candidate"]) for sides in outcomes]
    return {
        "answered": answered,
        "wanted": wanted,
        "unseen": unseen(run),
        "verdicts": {name: told.count(name) for name in ("better", "worse", "same")},
        "sums": {
            side: asdict(summary([sides[side] for sides in outcomes])) for side in replaying.SIDES
        },
    }


class ReplayResultsView(ResourceView):
    """What each side found for each question: the places of what was expected."""

    resource = RESULTS
    parameters: ClassVar = LOG_PARAMETERS

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(tenant_of(request)):
            shown_row(REPLAYS, seen(request, REPLAYS), row_id, ["id"])
            return Response(listed(request, RESULTS, RESULTS.rows().filter(run=row_id)))

    def answers(self) -> dict[str, Any]:
        return page_schema(RESULTS)


class _ReplayWriteView(AnyWriteView):
    keeps = True

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"replay": REPLAYS.schema()}}


class NewReplayView(_ReplayWriteView):
    """Try a setting on golden questions before it goes live. It is worked on in the background."""

    serializer_class = ReplaySerializer
    example: ClassVar = {"subject": "ana", "overrides": {"recall.k_min": 8}}

    def post(self, request: Request) -> Response:
        given, key = self.asked(request)["given"], key_of(request)
        space = space_at(request, given["subject"]) if given["subject"] else None
        if space is None:
            whole_tenant(request)
        return self.once(request, lambda: _started(key, space, given))


def _started(key: KeyRow, space: Space | None, given: dict[str, Any]) -> dict[str, Any]:
    """Raises InvalidInput, Conflict."""
    if given["engine"] == Tenant.Engine.LLM and not settings.LLM_MODEL:
        raise InvalidInput("no model is configured", field="engine")
    with tenant_scope(key.tenant_id):
        tenant = Tenant.objects.get(id=key.tenant_id)
    run = replaying.start(
        tenant,
        _candidate(key.tenant_id, space, given),
        key.actor,
        timezone.now(),
        space=space,
        tag=given["tag"],
    )
    return _shown(run)


def _candidate(tenant_id: UUID, space: Space | None, given: dict[str, Any]) -> Candidate:
    """Without a preset and overrides the policy stays as it is."""
    if not given["preset"] and given["overrides"] is None:
        return Candidate(engine=given["engine"])
    with tenant_scope(tenant_id):
        layers = layers_of(tenant_id, space)
    own = layers.own if space else layers.tenant
    base = own.version if own else 0
    return Candidate(given["preset"], given["overrides"] or {}, base, given["engine"])


def _shown(run: ReplayRun) -> dict[str, Any]:
    with tenant_scope(run.tenant_id):
        return {"replay": shown_row(REPLAYS, REPLAYS.rows(), run.id)}


def _run(request: Request, row_id: UUID) -> ReplayRun:
    """Raises NotFound for what the key does not see."""
    with tenant_scope(tenant_of(request)):
        found: ReplayRun | None = seen(request, REPLAYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such replay.")
    return found


class CancelReplayView(_ReplayWriteView):
    """Ask no further question."""

    serializer_class = EmptySerializer

    def post(self, request: Request, row_id: UUID) -> Response:
        now, run = self.asked(request)["now"], _run(request, row_id)
        return self.once(request, lambda: _cancelled(run, now))


def _cancelled(run: ReplayRun, now: datetime) -> dict[str, Any]:
    with tenant_scope(run.tenant_id):
        replaying.cancel(run, now)
    return _shown(run)


class DecideReplayView(_ReplayWriteView):
    """Put the candidate in force, or drop it."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = DecisionSerializer
    example: ClassVar = {"decision": "live"}

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, run = self.asked(request), _run(request, row_id)
        live = asked["given"]["decision"] == "live"
        actor, now = key_of(request).actor, asked["now"]
        return self.once(request, lambda: _decided(run, actor, now, live=live))


def _decided(run: ReplayRun, actor: str, now: datetime, *, live: bool) -> dict[str, Any]:
    decide = deciding.make_live if live else deciding.drop
    decide(run, actor, now)
    return _shown(run)
