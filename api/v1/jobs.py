"""Work done and to be done, with what became of each claim, and its progress as it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NotRequired, get_type_hints
from uuid import UUID

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key
from api.core.fields import list_names
from api.core.server_events import AnyAcceptNegotiation, build_event_response, format_event
from api.core.views import HubView
from api.rows.answers import build_row_type, define_answer
from api.rows.columns import Column, Resource, pick_columns
from api.rows.lists import filter_by_state, render_row
from api.rows.read_views import TenantListView
from api.rows.write_views import EmptySerializer, TenantWriteRequest, TenantWriteView
from api.schema.openapi import PAGE_PARAMETERS
from memoryhub.dialogues.models import Turn
from memoryhub.errors import NotFound
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope


class DecisionTarget(TypedDict):
    id: UUID
    text: str


class Decision(TypedDict):
    """What became of a claim. `fact_id` is empty where there is no fact of it."""

    text: str
    op: str
    reason: str
    fact_id: str
    target: DecisionTarget | None
    turns: list[UUID]


JOBS = Resource(
    "job",
    "A step of the work on a subject, with what became of each claim.",
    Job,
    pick_columns(
        Job,
        "id subject=space__subject step lane state attempts error first_seq last_seq created_at "
        "run_after started_at finished_at",
    )
    | {"decisions": Column("object", "result__decisions", null_value=[], type=list[Decision])},
    order=("-created_at", "-first_seq", "-id"),
)


class JobsView(TenantListView):
    """Work done and to be done; `?state=dead` what failed for good."""

    resource = JOBS
    parameters: ClassVar = [*PAGE_PARAMETERS, OpenApiParameter("state", str, enum=Job.State.values)]

    def select_rows(self, request: Request) -> QuerySet[Any]:
        return filter_by_state(request, super().select_rows(request), Job.State.values)


class _JobWriteView(TenantWriteView):
    """A write on a job of what the key sees, answered with the job."""

    scopes: ClassVar = {"POST": "write"}
    of_whole_tenant = False
    answer_outlives_erasure = False
    answer: ClassVar = build_row_type(JOBS)

    def post(self, request: Request, **ids: Any) -> Response:
        response = super().post(request, **ids)
        response.status_code = self.answer_statuses[0]
        return response

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            job = JOBS.get_visible_row(deed.key, ids["row_id"])
            self.change_job(job.id, deed)
            return deed.render_row(JOBS, job.id)

    def change_job(self, job_id: UUID, deed: TenantWriteRequest) -> None:
        """Inside the tenant's scope."""
        raise NotImplementedError


class RetryJobView(_JobWriteView):
    """Try a failed or cancelled job again."""

    serializer_class = EmptySerializer
    answer_statuses = (202,)

    def change_job(self, job_id: UUID, deed: TenantWriteRequest) -> None:
        retry_job(job_id)


class CancelJobView(_JobWriteView):
    """Leave a step undone."""

    example: ClassVar = {"reason": "sent by mistake"}

    def change_job(self, job_id: UUID, deed: TenantWriteRequest) -> None:
        cancel_job(job_id, deed.actor, deed.reason)


# A stream holds one of the server's threads: who still waits then asks again.
LONGEST, EVERY, ALIVE = 60.0, 0.5, 15.0


_PROGRESS_COLUMNS = list_names("id step state attempts error first_seq last_seq decisions")
_COLUMN_TYPES = get_type_hints(build_row_type(JOBS))
JobProgress = define_answer(
    "JobProgress",
    "A job as it is now; `unread` of its turns are still to be read. Once erased it is `gone`.",
    **{name: NotRequired[_COLUMN_TYPES[name]] for name in _PROGRESS_COLUMNS if name != "state"},
    state=str,
    unread=NotRequired[int],
)
EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "One of the events that follow each other. `data` is JSON.",
    "properties": {
        "event": {"type": "string", "enum": ["progress", "end", "timeout"]},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": JobProgress,
            "examples": ['{"state": "running", "unread": 2}'],
        },
    },
    "required": ["event", "data"],
}


class JobProgressView(HubView):
    """How a job gets on: `progress` events with its state and what is still unread, then `end`."""

    scopes: ClassVar = {"GET": "read"}
    content_negotiation_class = AnyAcceptNegotiation
    answer: ClassVar = EVENT_SCHEMA  # of one event: there are several in an answer
    answer_media_type = "text/event-stream"

    def get(self, request: Request, row_id: UUID) -> StreamingHttpResponse:
        key = get_request_key(request)
        JOBS.get_visible_row(key, row_id)
        return build_event_response(
            stream_progress(
                lambda: load_progress(key.tenant_id, row_id), time.monotonic, time.sleep
            )
        )


def load_progress(tenant_id: UUID, job_id: UUID) -> dict[str, Any]:
    """The job as it is, and how many of its turns are unread. Raises NotFound once it is gone."""
    with tenant_scope(tenant_id):
        shown = render_row(JOBS, JOBS.select_rows(), job_id, _PROGRESS_COLUMNS)
        turns = Turn.objects.filter(
            space__in=Job.objects.filter(id=job_id).values("space"),
            seq__range=(shown["first_seq"], shown["last_seq"]),
            state=Turn.State.PENDING,
        )
        return shown | {"unread": turns.count()}


def stream_progress(
    look: Callable[[], dict[str, Any]], clock: Callable[[], float], pause: Callable[[float], None]
) -> Iterator[str]:
    """Events as they are sent. `clock` and `pause` are the time's."""
    began = spoke = clock()
    before: dict[str, Any] = {}
    while True:
        try:
            now = look()
        except NotFound:
            yield format_event({"state": "gone"}, name="end")
            return
        if now["state"] in Job.FINAL_STATES:
            yield format_event(now, name="end")
            return
        if now != before:
            yield format_event(now, name="progress")
            before, spoke = now, clock()
        elif clock() - spoke >= ALIVE:
            yield ": still here\n\n"
            spoke = clock()
        if clock() - began >= LONGEST:
            yield format_event({"state": now["state"]}, name="timeout")
            return
        pause(EVERY)
