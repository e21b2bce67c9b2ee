"""Adding: messages in, one by one or in batches, or only tried."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import validate_body
from api.core.idempotency import run_once
from api.core.views import HubView, get_bound_space
from api.rows.lists import read_flag
from api.schema.openapi import WRITE_PARAMETERS
from api.v1.memories.render import (
    AddBatchResult,
    AddResult,
    DryRunResult,
    render_ingest,
    render_job,
)
from api.v1.memories.serializers import AddBatchSerializer, AddSerializer
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, wait_for_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

_FINAL_STATES = {Job.State.DONE, Job.State.DEAD, Job.State.CANCELLED}


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
        _check_subject_allowed(request, wanted.subject)
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
        _check_batch_size(items)
        for subject in dict.fromkeys(each.subject for each in wanted):
            _check_subject_allowed(request, subject)
        answer, replayed = run_once(
            key.tenant_id,
            request,
            "batch",
            lambda: {
                "items": [render_ingest(ingest_messages(key.tenant_id, each)) for each in wanted]
            },
        )
        response = Response(answer, status=202)
        if replayed:
            response["Idempotent-Replayed"] = "true"
        return response


def _check_batch_size(items: list[dict[str, Any]]) -> None:
    if sum(len(item["messages"]) for item in items) > settings.MAX_MESSAGES:
        raise InvalidInput(f"at most {settings.MAX_MESSAGES} messages in all", field="items")


def _build_ingest_response(
    tenant_id: UUID, answer: dict[str, Any], *, wait: bool, replayed: bool
) -> Response:
    job = _get_job(tenant_id, answer["job_id"]) if answer["job_id"] else None
    if wait and job is not None:
        wait_for_job(tenant_id, job)
    settled = all(turn["duplicate"] for turn in answer["turns"]) or (
        wait and job is not None and job.state in _FINAL_STATES
    )
    shown = answer | {"job": render_job(job) if job else None}
    response = Response(shown, status=200 if settled else 202)
    if replayed:
        response["Idempotent-Replayed"] = "true"
    return response


def _get_job(tenant_id: UUID, job_id: UUID | str) -> Job:
    with tenant_scope(tenant_id):
        job = Job.objects.filter(id=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def _check_subject_allowed(request: Request, subject: str) -> None:
    """Raises NotFound for a subject that the key does not see."""
    bound = get_bound_space(request)
    if bound is not None and bound.subject != clean_subject(subject):
        raise NotFound("There is no such subject.")
