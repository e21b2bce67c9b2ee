"""Work done and to be done, with what became of each claim."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_tenant_id
from api.rows.columns import ID, NUMBER, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.read_views import TenantListView, select_visible_rows
from api.rows.write_views import BaseWriteView, EmptySerializer
from api.schema.openapi import PAGE_PARAMETERS
from memoryhub.errors import InvalidInput
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.models import Job
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
        "decisions": Column("object", "result__decisions", null_value=[]),
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

    def select_rows(self, request: Request) -> QuerySet[Any]:
        rows = super().select_rows(request)
        state = request.query_params.get("state")
        return rows if state is None else rows.filter(state=_check_state(state))


def _check_state(state: str) -> str:
    if state not in Job.State.values:
        raise InvalidInput(f"must be one of {', '.join(Job.State.values)}", field="state")
    return state


class _JobWriteView(BaseWriteView):
    """A write on a job of what the key sees, answered with the job."""

    resource = JOBS
    answer_status = 200

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, tenant_id = self.read_write_fields(request), get_request_tenant_id(request)

        def write() -> dict[str, Any]:
            with tenant_scope(tenant_id):
                render_row(JOBS, select_visible_rows(request, JOBS), row_id, ["id"])
                self.run_write(row_id, asked["key"].actor, asked["given"])
                return render_row(JOBS, JOBS.select_rows(), row_id)

        response = self.run_once(request, write)
        response.status_code = self.answer_status
        return response

    def run_write(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        """Inside the tenant's scope."""
        raise NotImplementedError

    def build_response_schema(self) -> dict[str, Any]:
        return JOBS.build_schema()


class RetryJobView(_JobWriteView):
    """Try a failed or cancelled job again."""

    serializer_class = EmptySerializer
    answer_status = 202

    def run_write(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        retry_job(row_id)


class CancelJobView(_JobWriteView):
    """Leave a step undone."""

    example: ClassVar = {"reason": "sent by mistake"}

    def run_write(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        cancel_job(row_id, actor, given["reason"])
