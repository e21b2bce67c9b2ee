"""A job's progress as server-sent events: one line a change, until it ends or nobody waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NotRequired, get_type_hints
from uuid import UUID

from django.http import StreamingHttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from api.core.authentication import get_request_tenant_id
from api.core.server_events import format_event
from api.core.views import HubView
from api.rows.answers import build_row_type, define_answer
from api.rows.lists import render_row
from api.rows.read_views import select_visible_rows
from api.v1.jobs.views import JOBS
from memoryhub.dialogues.models import Turn
from memoryhub.errors import NotFound
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope

# A stream holds one of the server's threads: who still waits then asks again.
LONGEST, EVERY, ALIVE = 60.0, 0.5, 15.0


_PROGRESS_COLUMNS = (
    "id",
    "step",
    "state",
    "attempts",
    "error",
    "first_seq",
    "last_seq",
    "decisions",
)
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


class AnyAcceptNegotiation(BaseContentNegotiation):
    """Browsers ask for `text/event-stream`; errors stay problem+json."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: Any = None
    ) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), JSONRenderer.media_type


class JobProgressView(HubView):
    """How a job gets on: `progress` events with its state and what is still unread, then `end`."""

    scopes: ClassVar = {"GET": "read"}
    content_negotiation_class = AnyAcceptNegotiation
    answer: ClassVar = EVENT_SCHEMA  # of one event: there are several in an answer
    answer_media_type = "text/event-stream"

    def get(self, request: Request, row_id: UUID) -> StreamingHttpResponse:
        tenant_id = get_request_tenant_id(request)
        with tenant_scope(tenant_id):
            render_row(JOBS, select_visible_rows(request, JOBS), row_id, ["id"])
        lines = stream_progress(
            lambda: load_progress(tenant_id, row_id), time.monotonic, time.sleep
        )
        response = StreamingHttpResponse(lines, content_type="text/event-stream")
        response["Cache-Control"] = "no-store"
        response["X-Accel-Buffering"] = "no"
        return response


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
    look: Callable[[], dict[str, Any]],
    clock: Callable[[], float],
    pause: Callable[[float], None],
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
