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

from api.authentication import key_of
from api.idempotency import once
from api.listing import flag_of
from api.resources import answer_resource, ingested_resource, job_resource
from api.schema import WRITE_PARAMETERS, parameters_of
from api.serializers import (
    AddSerializer,
    BatchSerializer,
    ContextSerializer,
    QuestionSerializer,
    SearchSerializer,
    checked,
)
from memoryhub.dialogues.messages import checked_text, in_zone
from memoryhub.dialogues.models import Session
from memoryhub.errors import InvalidInput, MemoryHubError, NotFound
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import IngestRequest, ingest, wait_for
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject
from memoryhub.tenants.statements import rows

_ENDED = {Job.State.DONE, Job.State.DEAD, Job.State.CANCELLED}


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
    any_parameters = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises InvalidInput for a parameter that is none: a misspelt one would do nothing."""
        super().initial(request, *args, **kwargs)
        if not self.any_parameters:
            self._check_parameters(request)

    def _check_parameters(self, request: Request) -> None:
        taken = parameters_of(self, str(request.method))
        known = [each.name for each in taken if each.location == OpenApiParameter.QUERY]
        if unknown := sorted(set(request.query_params) - set(known)):
            told = f"known: {', '.join(known)}" if known else "none is known"
            raise InvalidInput(f"no such parameter; {told}", field=unknown[0][:60])

    def body(self, request: Request) -> Any:
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
        for name, value in rate.headers().items() if rate else ():
            response[name] = value
        return response


class MemoriesView(HubView):
    """Tell the hub what was said."""

    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = [
        *WRITE_PARAMETERS,
        OpenApiParameter("wait", bool, description="Work on it before answering."),
    ]
    example: ClassVar = ADD_EXAMPLE

    @extend_schema(request=AddSerializer, responses={200: dict[str, Any], 202: dict[str, Any]})
    def post(self, request: Request) -> Response:
        sent = checked(AddSerializer, self.body(request))
        wait = flag_of(request, "wait") or sent["wait"]
        key, wanted = key_of(request), AddSerializer.asked(sent)
        _allowed(request, wanted.subject)
        if sent["dry_run"]:
            return Response(_rehearsed(key.tenant_id, wanted))
        answer, replayed = once(
            key.tenant_id,
            request,
            "memories",
            lambda: ingested_resource(ingest(key.tenant_id, wanted)),
        )
        return _answer(key.tenant_id, answer, wait=wait, replayed=replayed)


def _rehearsed(tenant_id: UUID, wanted: IngestRequest) -> dict[str, Any]:
    """What would become of it. Nothing is stored, so that ids of turns mean nothing."""
    from memoryhub.pipeline.rehearsing import rehearse  # loads the engines

    done = rehearse(tenant_id, wanted)
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


class BatchView(HubView):
    """Several adds at once, stored all or none and worked on subject by subject."""

    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = WRITE_PARAMETERS
    example: ClassVar = {"items": [ADD_EXAMPLE]}

    @extend_schema(request=BatchSerializer, responses={202: dict[str, Any]})
    def post(self, request: Request) -> Response:
        items = checked(BatchSerializer, self.body(request))["items"]
        key = key_of(request)
        wanted = [AddSerializer.asked(item) for item in items]
        _check_batch(items)
        for subject in dict.fromkeys(each.subject for each in wanted):
            _allowed(request, subject)
        answer, replayed = once(
            key.tenant_id,
            request,
            "batch",
            lambda: {"items": [ingested_resource(ingest(key.tenant_id, each)) for each in wanted]},
        )
        response = Response(answer, status=202)
        if replayed:
            response["Idempotent-Replayed"] = "true"
        return response


def _check_batch(items: list[dict[str, Any]]) -> None:
    if sum(len(item["messages"]) for item in items) > settings.MAX_MESSAGES:
        raise InvalidInput(f"at most {settings.MAX_MESSAGES} messages in all", field="items")


def _answer(tenant_id: UUID, answer: dict[str, Any], *, wait: bool, replayed: bool) -> Response:
    job = _job(tenant_id, answer["job_id"]) if answer["job_id"] else None
    if wait and job is not None:
        wait_for(tenant_id, job)
    settled = all(turn["duplicate"] for turn in answer["turns"]) or (
        wait and job is not None and job.state in _ENDED
    )
    shown = answer | {"job": job_resource(job) if job else None}
    response = Response(shown, status=200 if settled else 202)
    if replayed:
        response["Idempotent-Replayed"] = "true"
    return response


def _job(tenant_id: UUID, job_id: UUID | str) -> Job:
    with tenant_scope(tenant_id):
        job = Job.objects.filter(id=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def _allowed(request: Request, subject: str) -> None:
    """A key bound to one subject sees no other: for it, the others do not exist (E30)."""
    key = key_of(request)
    if key.space_id is None:
        return
    with tenant_scope(key.tenant_id):
        bound = Space.objects.get(id=key.space_id)
    if bound.subject != clean_subject(subject):
        raise NotFound("There is no such subject.")


def space_of(request: Request, subject: str) -> Space:
    """Raises NotFound for another's, and for one the key is not bound to."""
    key = key_of(request)
    with tenant_scope(key.tenant_id):
        values = [key.tenant_id, clean_subject(subject)]
        found = rows(Space, "tenant_id = %s AND subject = %s", values)
    if not found or key.space_id not in (None, found[0].id):
        raise NotFound("There is no such subject.")
    return found[0]


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was sent: of which space, in which words, under which options."""

    space: Space
    query: str
    options: dict[str, Any]


class QuestionView(HubView):
    """Answers a question about a subject."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "query": "where does she play chess"}

    def question(self, request: Request, kind: type[QuestionSerializer]) -> Question:
        """Raises InvalidInput that names the field, NotFound for a subject that is not there."""
        from memoryhub.recall.asking import Asker, standing_of

        wanted = checked(kind, self.body(request))
        query = checked_text(wanted.pop("query"), field="query")
        with tenant_scope(key_of(request).tenant_id):
            space = space_of(request, wanted.pop("subject"))
            wanted["session_id"] = session_of(space, wanted.pop("session"))
            wanted["standing"] = standing_of(space)
        if wanted["as_of"]:
            wanted["as_of"] = in_zone(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = Asker("api", str(key_of(request).id))
        return Question(space, query, wanted)

    def answer(self, ask: Callable[..., Any], asked: Question) -> Response:
        started = time.perf_counter()
        found = answer_resource(ask(asked.space, asked.query, **asked.options))
        return Response(found | {"ms": round((time.perf_counter() - started) * 1000, 1)})


def session_of(space: Space, name: str) -> UUID | None:
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
        from memoryhub.recall.services import search

        asked = self.question(request, SearchSerializer)
        return self.answer(search, asked)


class ContextView(QuestionView):
    """What to put in front of a model that is to answer."""

    @extend_schema(request=ContextSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        from memoryhub.recall.context import context

        asked = self.question(request, ContextSerializer)
        return self.answer(context, asked)


class NotFoundView(HubView):
    """Paths that do not exist answer like everything else: problem+json."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such resource.")
