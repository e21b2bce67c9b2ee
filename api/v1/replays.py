"""Replays: a candidate setting beside what is in force, on golden questions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key
from api.core.fields import NO_NULS, NULL, NameField, StrictSerializer, SubjectField
from api.core.views import get_whole_tenant_id
from api.rows.answers import build_named_type
from api.rows.columns import Column, Resource, pick_columns
from api.rows.read_views import TenantListView, get_space_at_path
from api.rows.write_views import EmptySerializer, TenantWriteRequest, TenantWriteView
from api.schema.openapi import LOG_PARAMETERS
from api.v1.policies import OverridesField
from memoryhub.errors import InvalidInput
from memoryhub.golden import replay_runs
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.golden.expectations import OutcomeSummary, compare_outcomes, summarise_outcomes
from memoryhub.golden.models import ReplayAnswer, ReplayRun
from memoryhub.golden.services import TAG_LENGTH
from memoryhub.inference.connections import is_connected
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import load_layers
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


def _summarise_replay(run_id: UUID) -> dict[str, Any]:
    """Both sides in sums, and how many questions got better."""
    run = ReplayRun.objects.get(id=run_id)
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


REPLAYS = Resource(
    "replay",
    "A candidate setting beside the one in force, on golden questions.",
    ReplayRun,
    pick_columns(
        ReplayRun,
        "id subject=space__subject tag preset overrides engine embedder current candidate state "
        "decision decided_by decided_at actor created_at finished_at",
    ),
    order=("-created_at", "-id"),
    load_details=_summarise_replay,
    details=ReplaySummary,
)
REPLAY_RESULTS = Resource(
    "result",
    "What one side of a replay found for a question.",
    ReplayAnswer,
    pick_columns(
        ReplayAnswer,
        "id question_id text=question__text side ranks shown insufficient degraded milliseconds "
        "tokens calls handed",
    )
    | {"ranks": Column("list"), "shown": Column("list")},
    order=("question_id", "side", "id"),
    component="ReplayResult",
)


class NewReplaySerializer(StrictSerializer):
    """`subject`: try it on that one's questions; empty: on the whole tenant's. What is to be
    tried: another `preset` and `overrides` as a policy takes them, or another `engine`."""

    subject = SubjectField(default="", shape=NO_NULS)
    tag = NameField(default="", max_length=TAG_LENGTH)
    preset = serializers.ChoiceField(choices=["", *PRESETS], default="", allow_blank=True)
    overrides = OverridesField(**NULL)
    engine = serializers.ChoiceField(
        choices=["", *Tenant.Engine.values], default="", allow_blank=True
    )


class ReplayDecisionSerializer(StrictSerializer):
    """`live`: put the candidate in force; `dropped`: leave things as they are."""

    decision = serializers.ChoiceField(choices=("live", "dropped"))


class ReplayResultsView(TenantListView):
    """What each side found for each question: the places of what was expected."""

    resource = REPLAY_RESULTS
    parameters: ClassVar = LOG_PARAMETERS

    def select_rows(self, request: Request) -> QuerySet[Any]:
        run = REPLAYS.get_visible_row(get_request_key(request), self.kwargs["row_id"])
        return ReplayAnswer.objects.filter(run=run)


class _ReplayWriteView(TenantWriteView):
    scopes: ClassVar = {"POST": "write"}
    answer: ClassVar = build_named_type(REPLAYS)


class NewReplayView(_ReplayWriteView):
    """Try a setting on golden questions before it goes live. It is worked on in the background."""

    serializer_class = NewReplaySerializer
    example: ClassVar = {"subject": "ana", "overrides": {"recall.k_min": 8}}

    def post(self, request: Request, **ids: UUID) -> Response:
        deed = self.read_deed(request)
        subject = deed.given["subject"]
        space = get_space_at_path(request, subject) if subject else None
        if space is None:
            get_whole_tenant_id(request)
        return self.run_once(request, lambda: _start_replay(deed, space))


def _start_replay(deed: TenantWriteRequest, space: Space | None) -> dict[str, Any]:
    """Raises InvalidInput, Conflict."""
    engine = deed.given["engine"]
    with tenant_scope(deed.tenant_id):
        tenant = Tenant.objects.get(id=deed.tenant_id)
    if engine == Tenant.Engine.LLM and not is_connected(tenant):
        raise InvalidInput("no model is configured", field="engine")
    candidate, tag = _build_candidate(deed, space), deed.given["tag"]
    run = replay_runs.start_replay(
        tenant, candidate, deed.actor, timezone.now(), space=space, tag=tag
    )
    return deed.render_named_row(REPLAYS, run.id)


def _build_candidate(deed: TenantWriteRequest, space: Space | None) -> CandidateSetting:
    """Without a preset and overrides the policy stays as it is."""
    preset, overrides, engine = (deed.given[name] for name in ("preset", "overrides", "engine"))
    if not preset and overrides is None:
        return CandidateSetting(engine=engine)
    with tenant_scope(deed.tenant_id):
        layers = load_layers(deed.tenant_id, space)
    own = layers.own if space else layers.tenant
    return CandidateSetting(preset, overrides or {}, own.version if own else 0, engine)


class CancelReplayView(_ReplayWriteView):
    """Ask no further question."""

    serializer_class: type[serializers.Serializer[Any]] = EmptySerializer

    def post(self, request: Request, **ids: UUID) -> Response:
        deed = self.read_deed(request)
        run = REPLAYS.get_visible_row(deed.key, ids["row_id"])

        def change() -> dict[str, Any]:
            self.change_replay(run, deed)
            return deed.render_named_row(REPLAYS, run.id)

        return self.run_once(request, change)

    def change_replay(self, run: ReplayRun, deed: TenantWriteRequest) -> None:
        with tenant_scope(deed.tenant_id):
            replay_runs.cancel_replay(run, deed.now)


class DecideReplayView(CancelReplayView):
    """Put the candidate in force, or drop it."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = ReplayDecisionSerializer
    example: ClassVar = {"decision": "live"}

    def change_replay(self, run: ReplayRun, deed: TenantWriteRequest) -> None:
        live = deed.given["decision"] == "live"
        decide = replay_runs.put_candidate_live if live else replay_runs.drop_candidate
        decide(run, deed.actor, deed.now)
