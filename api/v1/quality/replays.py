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
from typing_extensions import TypedDict

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.fields import NameField
from api.rows.answers import build_named_type, build_page_type, build_row_type
from api.rows.columns import FLAG, ID, LIST, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.rows.lists import get_row, list_rows, render_row
from api.rows.read_views import (
    ResourceView,
    TenantListView,
    build_row_response,
    get_space_at_path,
    select_visible_rows,
)
from api.rows.write_views import BaseWriteView, EmptySerializer, get_whole_tenant_id
from api.schema.openapi import LOG_PARAMETERS, ROW_PARAMETERS
from api.v1.policies.fields import OverridesField
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.golden import replay_runs
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.golden.expectations import OutcomeSummary, compare_outcomes, summarise_outcomes
from memoryhub.golden.models import ReplayAnswer, ReplayRun
from memoryhub.golden.services import TAG_LENGTH
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import load_layers
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope


class ReplaySums(TypedDict):
    current: OutcomeSummary
    candidate: OutcomeSummary


class ReplaySummary(TypedDict):
    """What a replay has come to so far. `unseen`: switches that change nothing about a search."""

    answered: int
    wanted: int
    unseen: list[str]
    verdicts: dict[str, int]
    sums: ReplaySums


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
    details=ReplaySummary,
)
REPLAY_RESULTS = Resource(
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
    component="ReplayResult",
)


class NewReplaySerializer(serializers.Serializer[Any]):
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


class ReplayDecisionSerializer(serializers.Serializer[Any]):
    """`live`: put the candidate in force; `dropped`: leave things as they are."""

    decision = serializers.ChoiceField(choices=("live", "dropped"))


class ReplaysView(TenantListView):
    resource = REPLAYS


class ReplayView(ResourceView):
    """A replay as far as it has come, both sides in sums, and how many questions got better."""

    resource = REPLAYS
    parameters: ClassVar = ROW_PARAMETERS

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_row_type(REPLAYS)

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(get_request_tenant_id(request)):
            shown = get_row(request, REPLAYS, select_visible_rows(request, REPLAYS), row_id)
            if "fields" not in request.query_params:
                shown |= _summarise_replay(ReplayRun.objects.get(id=row_id))
        return build_row_response(request, REPLAYS, shown)


def _summarise_replay(run: ReplayRun) -> dict[str, Any]:
    """Call inside the scope."""
    answered, wanted = replay_runs.count_answers(run)
    outcomes = list(replay_runs.load_outcomes(run).values())
    told = [compare_outcomes(sides["current"], sides["candidate"]) for sides in outcomes]
    return {
        "answered": answered,
        "wanted": wanted,
        "unseen": list_ineffective_switches(run),
        "verdicts": {name: told.count(name) for name in ("better", "worse", "same")},
        "sums": {
            side: asdict(summarise_outcomes([sides[side] for sides in outcomes]))
            for side in replay_runs.SIDES
        },
    }


class ReplayResultsView(ResourceView):
    """What each side found for each question: the places of what was expected."""

    resource = REPLAY_RESULTS
    parameters: ClassVar = LOG_PARAMETERS

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(get_request_tenant_id(request)):
            render_row(REPLAYS, select_visible_rows(request, REPLAYS), row_id, ["id"])
            return Response(
                list_rows(request, REPLAY_RESULTS, REPLAY_RESULTS.select_rows().filter(run=row_id))
            )

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_page_type(REPLAY_RESULTS)


class _ReplayWriteView(BaseWriteView):
    answer_outlives_erasure = True

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_named_type(REPLAYS)


class NewReplayView(_ReplayWriteView):
    """Try a setting on golden questions before it goes live. It is worked on in the background."""

    serializer_class = NewReplaySerializer
    example: ClassVar = {"subject": "ana", "overrides": {"recall.k_min": 8}}

    def post(self, request: Request) -> Response:
        given, key = self.read_write_fields(request)["given"], get_request_key(request)
        space = get_space_at_path(request, given["subject"]) if given["subject"] else None
        if space is None:
            get_whole_tenant_id(request)
        return self.run_once(request, lambda: _start_replay(key, space, given))


def _start_replay(key: KeyRow, space: Space | None, given: dict[str, Any]) -> dict[str, Any]:
    """Raises InvalidInput, Conflict."""
    if given["engine"] == Tenant.Engine.LLM and not settings.LLM_MODEL:
        raise InvalidInput("no model is configured", field="engine")
    with tenant_scope(key.tenant_id):
        tenant = Tenant.objects.get(id=key.tenant_id)
    run = replay_runs.start_replay(
        tenant,
        _build_candidate(key.tenant_id, space, given),
        key.actor,
        timezone.now(),
        space=space,
        tag=given["tag"],
    )
    return _render_replay(run)


def _build_candidate(
    tenant_id: UUID, space: Space | None, given: dict[str, Any]
) -> CandidateSetting:
    """Without a preset and overrides the policy stays as it is."""
    if not given["preset"] and given["overrides"] is None:
        return CandidateSetting(engine=given["engine"])
    with tenant_scope(tenant_id):
        layers = load_layers(tenant_id, space)
    own = layers.own if space else layers.tenant
    base = own.version if own else 0
    return CandidateSetting(given["preset"], given["overrides"] or {}, base, given["engine"])


def _render_replay(run: ReplayRun) -> dict[str, Any]:
    with tenant_scope(run.tenant_id):
        return {"replay": render_row(REPLAYS, REPLAYS.select_rows(), run.id)}


def _get_run(request: Request, row_id: UUID) -> ReplayRun:
    """Raises NotFound for what the key does not see."""
    with tenant_scope(get_request_tenant_id(request)):
        found: ReplayRun | None = select_visible_rows(request, REPLAYS).filter(id=row_id).first()
    if found is None:
        raise NotFound("There is no such replay.")
    return found


class CancelReplayView(_ReplayWriteView):
    """Ask no further question."""

    serializer_class = EmptySerializer

    def post(self, request: Request, row_id: UUID) -> Response:
        now, run = self.read_write_fields(request)["now"], _get_run(request, row_id)
        return self.run_once(request, lambda: _cancel_replay(run, now))


def _cancel_replay(run: ReplayRun, now: datetime) -> dict[str, Any]:
    with tenant_scope(run.tenant_id):
        replay_runs.cancel_replay(run, now)
    return _render_replay(run)


class DecideReplayView(_ReplayWriteView):
    """Put the candidate in force, or drop it."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = ReplayDecisionSerializer
    example: ClassVar = {"decision": "live"}

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, run = self.read_write_fields(request), _get_run(request, row_id)
        live = asked["given"]["decision"] == "live"
        actor, now = get_request_key(request).actor, asked["now"]
        return self.run_once(request, lambda: _decide_replay(run, actor, now, live=live))


def _decide_replay(run: ReplayRun, actor: str, now: datetime, *, live: bool) -> dict[str, Any]:
    decide = replay_runs.put_candidate_live if live else replay_runs.drop_candidate
    decide(run, actor, now)
    return _render_replay(run)
