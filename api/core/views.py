"""The native REST API, version 1. Views parse, call one service, and answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.core.authentication import get_request_key
from api.core.idempotency import run_once
from api.rows.lists import read_flag
from api.schema.openapi import WRITE_PARAMETERS, list_parameters
from api.v1 import render_ingest, render_job, render_recall
from api.v1.memories.serializers import (
    AddBatchSerializer,
    AddSerializer,
    ContextSerializer,
    RecallSerializer,
    SearchSerializer,
    validate_body,
)
from memoryhub.dialogues.messages import check_text, to_utc
from memoryhub.dialogues.models import Session
from memoryhub.errors import InvalidInput, MemoryHubError, NotFound
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, wait_for_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject
from memoryhub.tenants.statements import load_prepared_rows

_FINAL_STATES = {Job.State.DONE, Job.State.DEAD, Job.State.CANCELLED}


ADD_EXAMPLE = {
    "subject": "ana",
    "messages": [{"role": "user", "content": "I play chess in Porto.", "speaker": "Ana"}],
    "session": "monday",
}


class HubView(APIView):
    """Methods are those that have a scope; OPTIONS is answered with 405 like the others."""

    http_method_names = ("get", "head", "post")
    scopes: ClassVar[dict[str, str]] = {}
    # Where other programs' clients may send parameters of their own.
    takes_any_parameters = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises InvalidInput for a parameter that is none: a misspelt one would do nothing."""
        super().initial(request, *args, **kwargs)
        if not self.takes_any_parameters:
            self._check_parameters(request)

    def _check_parameters(self, request: Request) -> None:
        taken = list_parameters(self, str(request.method))
        known = [each.name for each in taken if each.location == OpenApiParameter.QUERY]
        if unknown := sorted(set(request.query_params) - set(known)):
            told = f"known: {', '.join(known)}" if known else "none is known"
            raise InvalidInput(f"no such parameter; {told}", field=unknown[0][:60])

    def read_body(self, request: Request) -> Any:
        """The JSON object sent. Raises MemoryHubError 411 for a body of unknown length.

        A WSGI request without a length reads as empty, which would blame the caller's fields.
        """
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            raise MemoryHubError("Send a Content-Length.", code="length_required", status=411)
        return request.data

    def finalize_response(self, *args: Any, **kwargs: Any) -> Any:
        """With what the key has left of its minute."""
        response = super().finalize_response(*args, **kwargs)
        rate = getattr(self.request, "rate", None)
        for name, value in rate.build_headers().items() if rate else ():
            response[name] = value
        return response


class AddMemoriesView(HubView):
    """Tell the hub what was said."""

    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = [
        *WRITE_PARAMETERS,
        OpenApiParameter("wait", bool, description="Work on it before answering."),
    ]
    example: ClassVar = ADD_EXAMPLE

    @extend_schema(request=AddSerializer, responses={200: dict[str, Any], 202: dict[str, Any]})
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

    @extend_schema(request=AddBatchSerializer, responses={202: dict[str, Any]})
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
    """A key bound to one subject sees no other: for it, the others do not exist (E30)."""
    key = get_request_key(request)
    if key.space_id is None:
        return
    with tenant_scope(key.tenant_id):
        bound = Space.objects.get(id=key.space_id)
    if bound.subject != clean_subject(subject):
        raise NotFound("There is no such subject.")


def get_space_by_subject(request: Request, subject: str) -> Space:
    """Raises NotFound for another's, and for one the key is not bound to."""
    key = get_request_key(request)
    with tenant_scope(key.tenant_id):
        values = [key.tenant_id, clean_subject(subject)]
        found = load_prepared_rows(Space, "tenant_id = %s AND subject = %s", values)
    if not found or key.space_id not in (None, found[0].id):
        raise NotFound("There is no such subject.")
    return found[0]


@dataclass(frozen=True, slots=True)
class SpaceQuestion:
    """A question as it was sent: of which space, in which words, under which options."""

    space: Space
    query: str
    options: dict[str, Any]


class QuestionView(HubView):
    """Answers a question about a subject."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "query": "where does she play chess"}

    def read_question(self, request: Request, kind: type[RecallSerializer]) -> SpaceQuestion:
        """Raises InvalidInput that names the field, NotFound for a subject that is not there."""
        from memoryhub.recall.question.prepare import SearchCaller, load_space_state

        wanted = validate_body(kind, self.read_body(request))
        query = check_text(wanted.pop("query"), field="query")
        with tenant_scope(get_request_key(request).tenant_id):
            space = get_space_by_subject(request, wanted.pop("subject"))
            wanted["session_id"] = get_session_id(space, wanted.pop("session"))
            wanted["standing"] = load_space_state(space)
        if wanted["as_of"]:
            wanted["as_of"] = to_utc(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = SearchCaller("api", str(get_request_key(request).id))
        return SpaceQuestion(space, query, wanted)

    def build_answer_response(self, ask: Callable[..., Any], asked: SpaceQuestion) -> Response:
        started = time.perf_counter()
        found = render_recall(ask(asked.space, asked.query, **asked.options))
        return Response(found | {"ms": round((time.perf_counter() - started) * 1000, 1)})


def get_session_id(space: Space, name: str) -> UUID | None:
    """Raises NotFound."""
    if not name:
        return None
    with tenant_scope(space.tenant_id):
        session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        raise NotFound("There is no such session.", field="session")
    return session.id


class SearchView(QuestionView):
    """Find what matters now."""

    @extend_schema(request=SearchSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        from memoryhub.recall.services import search_memories

        asked = self.read_question(request, SearchSerializer)
        return self.build_answer_response(search_memories, asked)


class ContextView(QuestionView):
    """What to put in front of a model that is to answer."""

    @extend_schema(request=ContextSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        from memoryhub.recall.context import build_context

        asked = self.read_question(request, ContextSerializer)
        return self.build_answer_response(build_context, asked)


class NotFoundView(HubView):
    """Paths that do not exist answer like everything else: problem+json."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such resource.")
