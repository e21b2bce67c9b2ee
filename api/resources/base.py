"""The views of any kind of row: a list, and a single row."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of, tenant_of
from api.columns import Resource
from api.listing import held, listed, single, tag
from api.schema import PAGE_PARAMETERS, ROW_PARAMETERS, page_schema
from api.views import HubView
from memoryhub.errors import NotFound
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

NO_RESOURCE: Any = None


def space_at(request: Request, subject: str) -> Space:
    """The space a path names by its subject or, where no subject is called so, by its id.

    Raises NotFound for another's, and for one the key is not bound to.
    """
    key, name = key_of(request), clean_subject(subject)
    named = Q(subject=name)
    if row_id := _id(name):
        named |= Q(id=row_id)
    with tenant_scope(key.tenant_id):
        found = list(Space.objects.filter(named))
    found.sort(key=lambda space: space.subject != name)
    if not found or key.space_id not in (None, found[0].id):
        raise NotFound("There is no such subject.")
    return found[0]


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


class ResourceView(HubView):
    resource: Resource = NO_RESOURCE
    scopes: ClassVar = {"GET": "read"}

    @property
    def about(self) -> str:
        """What the OpenAPI description says."""
        return self.resource.about


class ListView(ResourceView):
    """A list of one kind of row of a space."""

    parameters: ClassVar = PAGE_PARAMETERS

    def get(self, request: Request, subject: str, **more: Any) -> Response:
        space = space_at(request, subject)
        with tenant_scope(space.tenant_id):
            rows = self.rows(request, space).filter(self.held(request, space))
            return Response(listed(request, self.resource, rows))

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return self.resource.of(space)

    def held(self, request: Request, space: Space) -> Q:
        return held(request, self.resource)

    def answers(self) -> dict[str, Any]:
        return page_schema(self.resource)


class RowView(ResourceView):
    """One row of a space."""

    parameters: ClassVar = ROW_PARAMETERS

    def get(self, request: Request, subject: str, row_id: UUID) -> Response:
        space = space_at(request, subject)
        with tenant_scope(space.tenant_id):
            shown = single(request, self.resource, self.rows(space), row_id)
            if self.resource.more and "fields" not in request.query_params:
                shown |= self.resource.more(space, row_id, shown)
        return tagged(request, self.resource, shown)

    def rows(self, space: Space) -> QuerySet[Any]:
        return self.resource.of(space)

    def answers(self) -> dict[str, Any]:
        return self.resource.schema()


class TenantListView(ResourceView):
    """A list over all spaces of the tenant; a key of one subject sees that one's."""

    parameters: ClassVar = PAGE_PARAMETERS

    def get(self, request: Request) -> Response:
        with tenant_scope(tenant_of(request)):
            rows = self.rows(request).filter(held(request, self.resource))
            return Response(listed(request, self.resource, rows))

    def rows(self, request: Request) -> QuerySet[Any]:
        return seen(request, self.resource)

    def answers(self) -> dict[str, Any]:
        return page_schema(self.resource)


class TenantRowView(ResourceView):
    """A row of the tenant, found by its id alone."""

    parameters: ClassVar = ROW_PARAMETERS

    def get(self, request: Request, row_id: UUID) -> Response:
        with tenant_scope(tenant_of(request)):
            shown = single(request, self.resource, self.rows(request), row_id)
        return tagged(request, self.resource, shown)

    def rows(self, request: Request) -> QuerySet[Any]:
        return seen(request, self.resource)

    def answers(self) -> dict[str, Any]:
        return self.resource.schema()


def seen(request: Request, resource: Resource) -> QuerySet[Any]:
    """The tenant's rows, as far as the key may see them."""
    bound = key_of(request).space_id
    rows = resource.rows()
    if bound is None:
        return rows
    return rows.filter(**{"id" if resource.model is Space else "space_id": bound})


def tagged(request: Request, resource: Resource, shown: dict[str, Any]) -> Response:
    """With its ETag; 304 without a body where the caller has it already."""
    etag = tag(shown.get(resource.version, 0) if resource.version else 0, shown)
    known = [each.strip() for each in request.headers.get("If-None-Match", "").split(",")]
    if etag in known or known == ["*"]:
        return Response(status=304, headers={"ETag": etag})
    return Response(shown, headers={"ETag": etag})
