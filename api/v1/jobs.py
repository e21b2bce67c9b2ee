"""Work done and to be done, with what became of each claim, and its progress as it goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import partial
from typing import Any, ClassVar, NotRequired, get_type_hints
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
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
from api.rows.lists import filter_by_state, render_rows
from api.rows.read_views import TenantListView
from api.rows.write_views import EmptySerializer, TenantWriteRequest, TenantWriteView
from api.schema.openapi import PAGE_PARAMETERS
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.jobs.watch import JobWatcher
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


# Who still waits then asks again: proxies on the way have their own limits.
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
                load_progress(key.tenant_id, [row_id]).get(row_id),
                partial(_wait_for_progress, key.tenant_id, row_id),
                time.monotonic,
            )
        )


Progress = dict[str, Any]


def load_progress(tenant_id: UUID, job_ids: Collection[UUID]) -> dict[UUID, Progress]:
    """The jobs as they are, and how many of their turns are unread. Two statements."""
    with tenant_scope(tenant_id):
        unread = Turn.objects.filter(
            space=OuterRef("space"),
            seq__gte=OuterRef("first_seq"),
            seq__lte=OuterRef("last_seq"),
            state=Turn.State.PENDING,
        )
        counted = unread.order_by().values("space").annotate(count=Count("id")).values("count")
        jobs = Job.objects.filter(id__in=job_ids).order_by()
        left = dict(jobs.values_list("id", Coalesce(Subquery(counted), 0)))
        shown = render_rows(JOBS, JOBS.select_rows(), job_ids, _PROGRESS_COLUMNS)
    return {job_id: row | {"unread": left.get(job_id, 0)} for job_id, row in shown.items()}


_progress = JobWatcher(load_progress, EVERY)


async def _wait_for_progress(
    tenant_id: UUID, job_id: UUID, seen: Progress, seconds: float
) -> Progress | None:
    change = _progress.wait_for_change(tenant_id, job_id, seen)
    async with asyncio.timeout(seconds):
        return await asyncio.wrap_future(change)


async def stream_progress(
    now: Progress | None,
    wait_for_change: Callable[[Progress, float], Awaitable[Progress | None]],
    clock: Callable[[], float],
) -> AsyncIterator[str]:
    """Events as they are sent, from how the job is `now`; None once it is gone.

    `wait_for_change`: from what was seen, for so many seconds; raises TimeoutError.
    """
    began = clock()
    while now is not None:
        if now["state"] in Job.FINAL_STATES:
            yield format_event(now, name="end")
            return
        yield format_event(now, name="progress")
        seen = now
        while now == seen:
            if clock() - began >= LONGEST:
                yield format_event({"state": now["state"]}, name="timeout")
                return
            try:
                now = await wait_for_change(seen, ALIVE)
            except TimeoutError:
                yield ": still here\n\n"
    yield format_event({"state": "gone"}, name="end")
