"""The views of any kind of row: a list, and a single row."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.views import HubView, get_bound_space, get_whole_tenant_id
from api.rows.answers import build_page_type, build_row_type
from api.rows.columns import Resource
from api.rows.lists import (
    build_etag,
    build_query_parameters,
    build_status_condition,
    list_rows,
    read_fields_parameter,
    render_row,
)
from api.schema.openapi import PAGE_PARAMETERS, ROW_PARAMETERS
from memoryhub.errors import NotFound
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

NO_RESOURCE: Any = None


def get_space_at_path(request: Request, subject: str) -> Space:
    """The space a path names by its subject or, where no subject is called so, by its id.

    Raises NotFound for another's, and for one the key is not bound to.
    """
    key, name = get_request_key(request), clean_subject(subject)
    named = Q(subject=name)
    if row_id := parse_uuid(name):
        named |= Q(id=row_id)
    with tenant_scope(key.tenant_id):
        found = list(Space.objects.filter(named))
    found.sort(key=lambda space: space.subject != name)
    if not found or key.space_id not in (None, found[0].id):
        raise NotFound("There is no such subject.")
    return found[0]


def get_reached_space(request: Request, subject: str) -> Space | None:
    """Whom something new reaches alone, None for all: nobody further than the key itself."""
    return get_space_at_path(request, subject) if subject else get_bound_space(request)


def parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


class ResourceView(HubView):
    resource: Resource = NO_RESOURCE
    scopes: ClassVar = {"GET": "read"}

    @property
    def about(self) -> str:
        """What the OpenAPI description says."""
        return self.resource.about


class RowListView(ResourceView):
    parameters: ClassVar = PAGE_PARAMETERS

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_page_type(self.resource)


class QueriedListMixin:
    """Before a list: the same one, asked for by POST in a body, which unlike an address may be as
    long as it has to. `members`: the list's parameters."""

    http_method_names = ("post",)
    answer_statuses = (200,)
    members: ClassVar[list[OpenApiParameter]] = []
    example: ClassVar = {"filter": {"id": "*"}, "limit": 20}

    @property
    def about(self: Any) -> str:
        return f"{self.resource.about} The list, asked for in a body: no filter is too long for it."

    def get_answer_type(self, method: str, status: int) -> Any:
        return super().get_answer_type("GET", status)  # type: ignore[misc]  # of the list

    def post(self: Any, request: Request, **at: Any) -> Response:
        asked: Any = build_query_parameters(self.read_body(request), self.members)
        request._request.GET = asked
        response: Response = self.get(request, **at)
        return response


def build_query_view(listed: type[RowListView]) -> type[RowListView]:
    """The view of the same list, asked for in a body."""
    return type(f"Queried{listed.__name__}", (QueriedListMixin, listed), {})


class SpaceListView(RowListView):
    """A list of one kind of row of a space."""

    def get(self, request: Request, subject: str, **more: Any) -> Response:
        space = get_space_at_path(request, subject)
        with tenant_scope(space.tenant_id):
            rows = self.select_rows(space).filter(self.build_status_condition(request, space))
            return Response(list_rows(request, self.resource, rows))

    def select_rows(self, space: Space) -> QuerySet[Any]:
        return self.resource.select_space_rows(space)

    def build_status_condition(self, request: Request, space: Space) -> Q:
        return build_status_condition(request, self.resource)


class TenantListView(RowListView):
    """A list over all spaces of the tenant. A key of one subject sees that one's; of what belongs
    to the tenant as a whole there is nothing for it."""

    of_whole_tenant = False

    def get(self, request: Request, **ids: UUID) -> Response:
        if self.of_whole_tenant:
            get_whole_tenant_id(request)
        with tenant_scope(get_request_tenant_id(request)):
            rows = self.select_rows(request).filter(build_status_condition(request, self.resource))
            return Response(list_rows(request, self.resource, rows))

    def select_rows(self, request: Request) -> QuerySet[Any]:
        return self.resource.select_visible_rows(get_request_key(request))


class SingleRowView(ResourceView):
    parameters: ClassVar = ROW_PARAMETERS

    def build_row_response(self, request: Request, rows: QuerySet[Any], row_id: UUID) -> Response:
        """With its ETag; 304 without a body where the caller has it already."""
        resource = self.resource
        with tenant_scope(get_request_tenant_id(request)):
            names = read_fields_parameter(request, resource)
            shown = render_row(resource, rows, row_id, names)
            if resource.load_details and "fields" not in request.query_params:
                shown |= resource.load_details(row_id)
        etag = build_etag(shown.get(resource.version, 0) if resource.version else 0, shown)
        known = [each.strip() for each in request.headers.get("If-None-Match", "").split(",")]
        if etag in known or known == ["*"]:
            return Response(status=304, headers={"ETag": etag})
        return Response(shown, headers={"ETag": etag})

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_row_type(self.resource)


class SpaceRowView(SingleRowView):
    """One row of a space."""

    def get(self, request: Request, subject: str, row_id: UUID) -> Response:
        space = get_space_at_path(request, subject)
        with tenant_scope(space.tenant_id):
            return self.build_row_response(request, self.resource.select_space_rows(space), row_id)


class TenantRowView(SingleRowView):
    """A row of the tenant, found by its id alone."""

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(get_request_tenant_id(request)):
            rows = self.resource.select_visible_rows(get_request_key(request))
            return self.build_row_response(request, rows, row_id)
