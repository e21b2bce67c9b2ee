"""Work done and to be done, with what became of each claim."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import tenant_of
from api.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.idempotency import once_apart
from api.listing import shown_row
from api.resources.base import ResourceView, TenantListView, seen
from api.schema import PAGE_PARAMETERS, WRITE_PARAMETERS
from memoryhub.errors import InvalidInput
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import retry_job
from memoryhub.tenants.scope import tenant_scope

JOBS = Resource(
    "job",
    "A step of the work on a subject, with what became of each claim.",
    Job,
    {
        "id": ID,
        "subject": Column("text", "space__subject"),
        "step": TEXT,
        "lane": TEXT,
        "state": TEXT,
        "attempts": NUMBER,
        "error": TEXT,
        "first_seq": NUMBER,
        "last_seq": NUMBER,
        "created_at": TIME,
        "run_after": TIME,
        "started_at": TIME,
        "finished_at": TIME,
        "decisions": Column("object", "result__decisions", empty=[]),
    },
    order=("-created_at", "-first_seq", "-id"),
)


class JobsView(TenantListView):
    """Work done and to be done; `?state=dead` what failed for good."""

    resource = JOBS
    parameters: ClassVar = [
        *PAGE_PARAMETERS,
        OpenApiParameter("state", str, enum=Job.State.values),
    ]

    def rows(self, request: Request) -> QuerySet[Any]:
        rows = super().rows(request)
        state = request.query_params.get("state")
        return rows if state is None else rows.filter(state=_known(state))


def _known(state: str) -> str:
    if state not in Job.State.values:
        raise InvalidInput(f"must be one of {', '.join(Job.State.values)}", field="state")
    return state


class JobRetryView(ResourceView):
    """Try a failed job again."""

    resource = JOBS
    scopes: ClassVar = {"POST": "write"}
    answer_status = 202
    parameters: ClassVar = WRITE_PARAMETERS

    def post(self, request: Request, row_id: UUID) -> Response:
        tenant_id = tenant_of(request)

        def write() -> dict[str, Any]:
            with tenant_scope(tenant_id):
                shown_row(JOBS, seen(request, JOBS), row_id, ["id"])
                retry_job(row_id)
                return shown_row(JOBS, JOBS.rows(), row_id)

        answer, replayed = once_apart(tenant_id, request, "job-retry", write)
        headers = {"Idempotent-Replayed": "true"} if replayed else {}
        return Response(answer, status=202, headers=headers)

    def answers(self) -> dict[str, Any]:
        return JOBS.schema()
