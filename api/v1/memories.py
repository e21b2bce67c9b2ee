"""Adding: messages in, or only tried; and the sessions and turns that they become."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, NotRequired
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key
from api.core.fields import (
    NOT_BLANK,
    NULL,
    ListField,
    MetadataField,
    NameField,
    NewSubjectField,
    StrictBooleanField,
    StrictSerializer,
    TextField,
    TimestampField,
    list_names,
    validate_body,
)
from api.core.idempotency import mark_replayed, run_once
from api.core.views import HubView, check_subjects_visible
from api.rows.answers import build_row_type, extend_answer
from api.rows.columns import Resource, pick_columns
from api.rows.lists import read_flag
from api.schema.openapi import WRITE_PARAMETERS
from api.v1.jobs import JOBS, DecisionTarget
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Session, Turn
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline.ingest.services import (
    IngestRequest,
    IngestResult,
    ingest_messages,
    wait_for_job,
)
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation


class MessageSerializer(StrictSerializer):
    # Messages are handed on as a model's client has them.
    unread = list_names(
        "name refusal annotations audio function_call tool_calls tool_call_id reasoning_content"
    )
    role = serializers.ChoiceField(choices=Turn.Role.values, default=Turn.Role.USER)
    content = TextField(shape=NOT_BLANK)
    speaker = TextField(default="", max_length=120)
    timestamp = TimestampField(**NULL)
    external_id = TextField(default="", max_length=200)
    metadata = MetadataField(default=dict)


class AddSerializer(StrictSerializer):
    """Messages about a subject, oldest first. `subject_name`: what the subject is called from now
    on; left out, it is learned from what they say."""

    subject = NewSubjectField()
    messages = ListField(MessageSerializer(), allow_empty=False, max_length=settings.MAX_MESSAGES)
    session = NameField(default="", max_length=200)
    agent = NameField(default="", max_length=120)
    metadata = MetadataField(default=dict)
    subject_name = NameField(max_length=120, **NULL)
    wait = StrictBooleanField(default=False)
    dry_run = StrictBooleanField(default=False)

    @staticmethod
    def build_ingest_request(data: dict[str, Any]) -> IngestRequest:
        shared = data["metadata"]
        return IngestRequest(
            subject=data["subject"],
            messages=[
                Message(**{**message, "metadata": {**shared, **message["metadata"]}})
                for message in data["messages"]
            ],
            session=data["session"],
            agent=data["agent"],
            subject_name=data["subject_name"],
        )


@extend_schema_field({"type": "boolean", "const": False})
class NotInBatchField(StrictBooleanField):
    """What only makes sense for one add."""

    default_error_messages = {"together": "not in a batch"}

    def to_internal_value(self, data: Any) -> bool:
        if super().to_internal_value(data):
            self.fail("together")
        return False


class AddBatchItemSerializer(AddSerializer):
    wait = NotInBatchField(default=False)
    dry_run = NotInBatchField(default=False)


class AddBatchSerializer(StrictSerializer):
    """Several adds, of one subject or of many: stored all or none."""

    items = ListField(AddBatchItemSerializer(), allow_empty=False, max_length=100)


class AddedSpace(TypedDict):
    id: UUID
    subject: str


class AddedSession(TypedDict):
    id: UUID
    name: str


class AddedTurn(TypedDict):
    """`duplicate`: delivered before, and not stored again."""

    id: UUID
    seq: int
    external_id: str
    occurred_at: datetime
    time_flag: str
    duplicate: bool


class AddedMessages(TypedDict):
    """What was stored, and the job that reads it. A repetition of what was erased since tells
    neither space nor session."""

    space: NotRequired[AddedSpace]
    session: NotRequired[AddedSession]
    turns: list[AddedTurn]
    job_id: UUID | None


class DryRunDecision(TypedDict):
    """What would become of a claim. `turns`: places among the messages."""

    text: str
    op: str
    reason: str
    target: DecisionTarget | None
    turns: list[int]


class DryRunResult(TypedDict):
    """What would become of messages. Nothing is stored."""

    dry_run: bool
    new_subject: bool
    new_turns: int
    decisions: list[DryRunDecision]


class AddBatchResult(TypedDict):
    items: list[AddedMessages]


AddResult = extend_answer(
    AddedMessages,
    "AddResult",
    "What was stored; `job` has the decisions once it has ended.",
    job=build_row_type(JOBS) | None,
)
_JOB_COLUMNS = ("step", "state", "attempts", "error", "created_at", "run_after", "finished_at")


def render_job(job: Job) -> dict[str, Any]:
    told = {name: getattr(job, name) for name in _JOB_COLUMNS}
    return {"id": str(job.id)} | told | {"decisions": job.result.get("decisions", [])}


def render_ingest(done: IngestResult) -> dict[str, Any]:
    new = {turn.id for turn in done.new}
    return {
        "space": {"id": str(done.space.id), "subject": done.space.subject},
        "session": {"id": str(done.session.id), "name": done.session.external_id},
        "turns": [render_turn(turn) | {"duplicate": turn.id not in new} for turn in done.turns],
        "job_id": str(done.job.id) if done.job else None,
    }


def render_turn(turn: Turn) -> dict[str, Any]:
    return {
        "id": str(turn.id),
        "seq": turn.seq,
        "external_id": turn.external_id,
        "occurred_at": turn.occurred_at.isoformat(),
        "time_flag": turn.time_flag,
    }


ADD_EXAMPLE = {
    "subject": "ana",
    "messages": [{"role": "user", "content": "I play chess in Porto.", "speaker": "Ana"}],
    "session": "monday",
}


class AddMemoriesView(HubView):
    """Tell the hub what was said."""

    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = [
        *WRITE_PARAMETERS,
        OpenApiParameter("wait", bool, description="Work on it before answering."),
    ]
    example: ClassVar = ADD_EXAMPLE
    serializer_class = AddSerializer
    answer_statuses = (200, 202)

    def get_answer_type(self, method: str, status: int) -> Any:
        """A dry run leaves nothing to be waited for."""
        return AddResult | DryRunResult if status == 200 else AddResult

    def post(self, request: Request) -> Response:
        sent = validate_body(AddSerializer, self.read_body(request))
        wait = read_flag(request, "wait") or sent["wait"]
        key, wanted = get_request_key(request), AddSerializer.build_ingest_request(sent)
        check_subjects_visible(request, wanted.subject)
        if sent["dry_run"]:
            return Response(_run_dry_run(key.tenant_id, wanted))
        answer, replayed = run_once(
            key.tenant_id,
            request,
            "memories",
            lambda: render_ingest(ingest_messages(key.tenant_id, wanted)),
        )
        return _build_ingest_response(key.tenant_id, answer, wait=wait, replayed=replayed)


def _run_dry_run(tenant_id: UUID, wanted: IngestRequest) -> dict[str, Any]:
    """What would become of it. Nothing is stored, so that ids of turns mean nothing."""
    from memoryhub.pipeline.ingest.dry_run import preview_ingest  # loads the engines

    done = preview_ingest(tenant_id, wanted)
    places = {str(turn.id): place for place, turn in enumerate(done.turns)}
    decisions = [
        decision | {"turns": [places[turn] for turn in decision["turns"] if turn in places]}
        for decision in done.decisions
    ]
    return {
        "dry_run": True,
        "new_subject": done.is_new,
        "new_turns": len(done.new),
        "decisions": [{k: v for k, v in each.items() if k != "fact_id"} for each in decisions],
    }


class AddBatchView(HubView):
    """Several adds at once, stored all or none and worked on subject by subject."""

    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = WRITE_PARAMETERS
    example: ClassVar = {"items": [ADD_EXAMPLE]}
    serializer_class = AddBatchSerializer
    answer: ClassVar = AddBatchResult
    answer_statuses = (202,)

    def post(self, request: Request) -> Response:
        items = validate_body(AddBatchSerializer, self.read_body(request))["items"]
        key = get_request_key(request)
        wanted = [AddSerializer.build_ingest_request(item) for item in items]
        if sum(len(item["messages"]) for item in items) > settings.MAX_MESSAGES:
            raise InvalidInput(f"at most {settings.MAX_MESSAGES} messages in all", field="items")
        check_subjects_visible(request, *(each.subject for each in wanted))

        def write() -> dict[str, Any]:
            done = [ingest_messages(key.tenant_id, each) for each in wanted]
            return {"items": [render_ingest(each) for each in done]}

        answer, replayed = run_once(key.tenant_id, request, "batch", write)
        return Response(answer, status=202, headers=mark_replayed(replayed))


def _build_ingest_response(
    tenant_id: UUID, answer: dict[str, Any], *, wait: bool, replayed: bool
) -> Response:
    job: Job | None = None
    if answer["job_id"]:
        with tenant_scope(tenant_id):
            job = Job.objects.filter(id=answer["job_id"]).first()
        if job is None:
            raise NotFound("There is no such job.")
    if wait and job is not None:
        wait_for_job(tenant_id, job)
    settled = all(turn["duplicate"] for turn in answer["turns"]) or (
        wait and job is not None and job.state in Job.FINAL_STATES
    )
    shown = answer | {"job": render_job(job) if job else None}
    status = 200 if settled else 202
    return Response(shown, status=status, headers=mark_replayed(replayed))


SESSIONS = Resource(
    "session",
    "A conversation. `ordinal` counts the subject's from 1.",
    Session,
    pick_columns(Session, "id name=external_id ordinal channel started_at ended_at turn_count"),
    order=("-ordinal", "-id"),
)


class DerivedRow(TypedDict):
    """What was derived from a turn."""

    kind: str
    id: UUID
    role: str


class TurnDetails(TypedDict):
    made: list[DerivedRow]


def _load_derived_rows(row_id: UUID) -> TurnDetails:
    """What was derived from the turn. One query."""
    links = Derivation.objects.filter(turn=row_id).order_by("child_type", "child_id")
    rows = links.values_list("child_type", "child_id", "role").distinct()[:200]
    return {"made": [{"kind": kind, "id": row, "role": role} for kind, row, role in rows]}


TURNS = Resource(
    "turn",
    "A message as it was said. Its text never changes, except by erasure.",
    Turn,
    pick_columns(
        Turn,
        "id seq session_id ordinal role speaker agent text lang metadata occurred_at time_flag "
        "received_at external_id speech_act state",
    ),
    order=("seq", "id"),
    load_details=_load_derived_rows,
)
