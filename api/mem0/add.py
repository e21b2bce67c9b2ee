"""Adding memories, and what becomes of them."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import filter_reached, get_request_key
from api.core.idempotency import run_once
from api.mem0 import render
from api.mem0.ids import Mem0Ids
from api.mem0.requests import AddRequest, name_ignored, read_add
from api.mem0.views import Mem0View, build_page, format_actor
from memoryhub.dialogues.messages import check_messages
from memoryhub.errors import NotFound
from memoryhub.pipeline.ingest.services import ingest_messages, wait_for_job
from memoryhub.pipeline.ingest.verbatim import keep_verbatim
from memoryhub.pipeline.models import Job
from memoryhub.subject_names import reads_like_name
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Derivation, EvolutionEvent, Fact, Receipt


class AddView(Mem0View):
    """Messages in; the memories come later, or at once if they are to be kept as they are."""

    scopes: ClassVar = {"POST": "write"}

    def post(self, request: Request) -> Response:
        wanted = read_add(self.read_body(request))
        answer = name_ignored(add_memories(request, wanted), wanted.ignored_fields)
        return Response(answer["results"] if wanted.is_list else answer)


def add_memories(request: Request, wanted: AddRequest) -> dict[str, Any]:
    key = get_request_key(request)
    if not wanted.infer:
        check_messages(wanted.request.messages)  # what is refused makes nobody
        with tenant_scope(key.tenant_id):
            _ensure_allowed_space(key, wanted.ids)
        return _keep_verbatim(key, wanted, format_actor(request))

    def queue() -> dict[str, Any]:
        with transaction.atomic():  # what is refused has made nobody
            with tenant_scope(key.tenant_id):
                _ensure_allowed_space(key, wanted.ids)
            job = ingest_messages(key.tenant_id, wanted.request).job
        return {"job_id": str(job.id) if job else None}

    stored, _ = run_once(key.tenant_id, request, "mem0-add", queue)
    if not stored["job_id"]:  # all of it was delivered and read before
        return {"message": "Nothing new", "status": "SUCCEEDED", "event_id": None, "results": []}
    with tenant_scope(key.tenant_id):
        job: Job | None = _select_jobs(key).filter(id=stored["job_id"]).first()
    if job is None:
        raise NotFound("There is no such event.")
    if wanted.wait:
        return _render_finished_job(key, wait_for_job(key.tenant_id, job))
    told = {"message": render.QUEUED_MESSAGE, "status": "PENDING", "event_id": str(job.id)}
    return told | {"results": [told]}


def _ensure_allowed_space(key: KeyRow, ids: Mem0Ids) -> None:
    """A key of one subject adds to no other (E30). A new subject is called by its bare id."""
    if key.space_id is None:
        named = not ids.user and reads_like_name(ids.display_name)
        ensure_space(key.tenant_id, ids.subject, name=ids.display_name if named else "")
    elif not Space.objects.filter(id=key.space_id, subject=ids.subject).exists():
        raise NotFound("There is no such user.")


def _keep_verbatim(key: KeyRow, wanted: AddRequest, actor: str) -> dict[str, Any]:
    facts = keep_verbatim(key.tenant_id, wanted.request, actor)
    with tenant_scope(key.tenant_id):
        rows = Derivation.objects.filter(child_id__in=[fact.id for fact in facts])
        event_id = rows.values_list("event_id", flat=True).first()
    results = [render.render_decision(fact.lineage, "ADD", fact.text) for fact in facts]
    told = {"message": "Memories kept as they are", "status": "SUCCEEDED"}
    return told | {"event_id": str(event_id), "results": results}


def _render_finished_job(key: KeyRow, job: Job) -> dict[str, Any]:
    with tenant_scope(key.tenant_id):
        job.refresh_from_db()
        results = _load_results(job)
    status = render.STATUS_BY_STATE[Job.State(job.state)]
    return {"message": job.error, "status": status, "event_id": str(job.id), "results": results}


def _load_results(job: Job) -> list[dict[str, Any]]:
    """Call inside the tenant's scope."""
    told = job.result.get("decisions", [])
    ids = {each["fact_id"] for each in told} | {(each["target"] or {}).get("id") for each in told}
    rows = Fact.objects.filter(id__in=[each for each in ids if each])
    lineages = {str(fact): lineage for fact, lineage in rows.values_list("id", "lineage")}
    return render.render_decisions(job, lineages)


def _select_jobs(key: KeyRow) -> Any:
    rows = Job.objects.filter(step=Job.Step.DERIVE).order_by("-created_at", "-first_seq")
    return filter_reached(rows, key)


class EventsView(Mem0View):
    """Adds and what became of them, the latest first."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            return Response(
                build_page(
                    request,
                    _select_jobs(key),
                    lambda jobs: [render.render_job_event(job) for job in jobs],
                )
            )


class EventView(Mem0View):
    """One add, or another change that had an event id."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, event_id: UUID) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            if job := _select_jobs(key).filter(id=event_id).first():
                return Response(render.render_job_event(job, _load_results(job)))
            changes = filter_reached(EvolutionEvent.objects.filter(id=event_id), key)
            done: EvolutionEvent | Receipt | None = changes.first()
            if done is None and key.space_id is None:
                done = Receipt.objects.filter(id=event_id).first()
        if done is None:
            raise NotFound("There is no such event.")
        return Response(render.render_change_event(done))
