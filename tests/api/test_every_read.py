"""What the reference promises of lists and of single rows holds for every one there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern
from rest_framework.test import APIClient

from api.rows.columns import Resource
from api.rows.read_views import (
    QueriedListMixin,
    SpaceListView,
    SpaceRowView,
    TenantListView,
    TenantRowView,
)
from api.urls import urlpatterns
from memoryhub.tenants.models import Tenant
from tests.api.conftest import Client
from tests.support import api_scene

# Of these the scene has none.
BARE = {"feedback", "policy-versions", "tenant-policy-versions"}


def list_routes(*kinds: type[Any]) -> Iterator[tuple[str, Resource]]:
    """Names of the routes whose view is of one of these kinds, with what they show."""
    for route in urlpatterns:
        assert isinstance(route, URLPattern)
        callback: Any = route.callback  # as_view() gives it these two attributes
        if issubclass(callback.view_class, QueriedListMixin):
            continue  # asked beside the list that it is
        if issubclass(callback.view_class, kinds):
            shown = callback.view_initkwargs.get("resource", callback.view_class.resource)
            yield str(route.name), shown


def test_every_list_has_totals_pages_filters_and_sparse_fields(
    tenant: Tenant, client_of: Client
) -> None:
    rows, admin = api_scene.make_row_of_every_kind(tenant), client_of(tenant, "admin")
    lists = dict(list_routes(SpaceListView, TenantListView))
    assert len(lists) > 30
    empty = set()
    for name, resource in lists.items():
        path = api_scene.build_route_path(name, rows, subject="ana")
        page = admin.get(path).json()
        assert set(page) == {"items", "total", "next"}, name
        if not page["items"]:
            empty.add(name)
            continue
        assert set(page["items"][0]) == set(resource.columns), name
        _check_paging(admin, path, page)
        first = page["items"][0]["id"]
        narrow = {"filter": json.dumps({"id": first}), "fields": "id"}
        assert admin.get(path, narrow).json()["items"] == [{"id": first}], name
        turned = admin.get(path, {"filter": json.dumps({"NOT": {"id": first}})}).json()
        assert turned["total"] == page["total"] - 1, name
        wanted = {"filter": {"id": first}, "fields": ["id"], "limit": 1, "reverse": True}
        queried = admin.post(f"{path}/query", wanted, format="json").json()
        assert queried["items"] == [{"id": first}], name
    assert empty == BARE


def _check_paging(admin: APIClient, path: str, page: dict[str, Any]) -> None:
    """One a page, they are the same, and the total is told with each."""
    asked, seen = {"limit": "1"}, []
    while asked:
        one = admin.get(path, asked).json()
        assert one["total"] == page["total"], path
        seen += one["items"]
        asked = {"limit": "1", "cursor": one["next"]} if one["next"] else {}
    assert seen == page["items"], path


def test_every_row_has_an_etag_and_sparse_fields(tenant: Tenant, client_of: Client) -> None:
    rows, admin = api_scene.make_row_of_every_kind(tenant), client_of(tenant, "admin")
    single = dict(list_routes(SpaceRowView, TenantRowView))
    assert len(single) >= 20
    for name in single:
        path = api_scene.build_route_path(name, rows, subject="ana")
        answer = admin.get(path)
        assert answer.status_code == 200, name
        again = admin.get(path, headers={"If-None-Match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b""), name
        assert admin.get(path, {"fields": "id"}).json() == {"id": answer.json()["id"]}, name
