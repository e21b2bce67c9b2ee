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
from api.listing import shown_row
from api.resources.base import TenantListView, seen
from api.resources.writing import AnyWriteView, EmptySerializer
from api.schema import PAGE_PARAMETERS
from memoryhub.errors import InvalidInput
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import cancel_job, retry_job
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


class _JobWriteView(AnyWriteView):
    """A write on a job of what the key sees, answered with the job."""

    resource = JOBS
    answer_status = 200

    def post(self, request: Request, row_id: UUID) -> Response:
        asked, tenant_id = self.asked(request), tenant_of(request)

        def write() -> dict[str, Any]:
            with tenant_scope(tenant_id):
                shown_row(JOBS, seen(request, JOBS), row_id, ["id"])
                self.work(row_id, asked["key"].actor, asked["given"])
                return shown_row(JOBS, JOBS.rows(), row_id)

        response = self.once(request, write)
        response.status_code = self.answer_status
        return response

    def work(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        """Inside the tenant's scope."""
        raise NotImplementedError

    def answers(self) -> dict[str, Any]:
        return JOBS.schema()


class JobRetryView(_JobWriteView):
    """Try a failed or cancelled job again."""

    serializer_class = EmptySerializer
    answer_status = 202

    def work(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        retry_job(row_id)


class JobCancelView(_JobWriteView):
    """Leave a step undone."""

    example: ClassVar = {"reason": "sent by mistake"}

    def work(self, row_id: UUID, actor: str, given: dict[str, Any]) -> None:
        cancel_job(row_id, actor, given["reason"])
