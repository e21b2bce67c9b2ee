"""The request log: what a key asked, how it ended, how long it took; nothing of what was said."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from api.core import request_log
from api.models import LoggedRequest
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.api.conftest import Client
from tests.support.database_scan import find_tables_with_word

SPACES = "/api/v1/spaces"


def list_logged_requests(tenant: Tenant) -> list[LoggedRequest]:
    request_log.flush_entries()
    with tenant_scope(tenant.id):
        return list(LoggedRequest.objects.order_by("id"))


def test_a_request_leaves_its_route_status_time_key_and_id(tenant: Tenant, api: APIClient) -> None:
    answer = api.get(f"{SPACES}?limit=1", headers={"X-Request-Id": "abc-1"})
    (row,) = list_logged_requests(tenant)
    assert (row.method, row.route, row.status, row.error) == ("GET", "api/v1/spaces", 200, "")
    assert row.request_id == answer["X-Request-Id"] == "abc-1"
    assert row.milliseconds > 0
    with tenant_scope(tenant.id):
        assert row.key_id == build_buffer_key(tenant)


def build_buffer_key(tenant: Tenant) -> Any:
    from memoryhub.tenants.models import ApiKey

    return ApiKey.objects.get().id


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("get", "/api/v1/spaces/nobody-here", None, 404, "not_found"),
        ("post", "/api/v1/search", {"subject": "x"}, 422, "invalid"),
        ("get", "/api/v1/keys", None, 403, "permission_denied"),
        ("get", "/api/v1/search", None, 405, "method_not_allowed"),
        ("post", "/openai/v1/chat/completions", {"messages": 5}, 400, "invalid"),
        ("get", "/v1/memories/00000000-0000-7000-8000-000000000000/", None, 404, "not_found"),
        ("post", "/mcp", {}, 403, "origin_refused"),
    ],
)
def test_a_refusal_is_logged_with_its_code_whatever_the_wire(
    tenant: Tenant, api: APIClient, method: str, path: str, body: Any, status: int, code: str
) -> None:
    more: dict[str, Any] = {"headers": {"Origin": "https://elsewhere.example"}}
    answer = getattr(api, method)(path, body, format="json", **(more if path == "/mcp" else {}))
    assert answer.status_code == status
    found = [(row.status, row.error) for row in list_logged_requests(tenant)]
    assert found == ([(status, code)] if path != "/mcp" else [])


def test_the_route_is_the_declared_one_and_no_word_is_kept(tenant: Tenant, api: APIClient) -> None:
    said = {"subject": "swordfish", "messages": [{"role": "user", "content": "swordfish it is"}]}
    api.post("/api/v1/memories", said, format="json")
    api.get("/api/v1/spaces/swordfish?q=swordfish")
    rows = list_logged_requests(tenant)
    assert [row.route for row in rows] == ["api/v1/memories", "api/v1/spaces/<path:subject>"]
    with tenant_scope(tenant.id):
        assert "public.api_loggedrequest" not in find_tables_with_word("swordfish")


def test_strangers_belong_to_no_tenants_log(tenant: Tenant, client_of: Client) -> None:
    APIClient(headers={"Authorization": "Bearer mh_no"}).get(SPACES)
    APIClient().get("/healthz")
    assert list_logged_requests(tenant) == []


def test_nothing_is_written_before_the_answer_is_sent(tenant: Tenant, api: APIClient) -> None:
    api.get(SPACES)  # the key's last use is written once a minute
    with CaptureQueriesContext(connection) as asked:
        api.get(SPACES)
    assert "api_loggedrequest" not in "".join(query["sql"] for query in asked)
    assert len(list_logged_requests(tenant)) == 2


def test_many_are_written_in_few_statements(
    tenant: Tenant, api: APIClient, client_of: Client
) -> None:
    other = create_tenant("Two", "two")
    client_of(other).get(SPACES)
    for _ in range(20):
        api.get(SPACES)
    with CaptureQueriesContext(connection) as asked:
        assert request_log.flush_entries() == 21
    written = [query["sql"] for query in asked if query["sql"].startswith("INSERT")]
    assert len(written) == 2, "one a tenant"
    assert (len(list_logged_requests(tenant)), len(list_logged_requests(other))) == (20, 1)


def test_of_a_tenant_that_is_gone_nothing_is_written_and_others_are(
    tenant: Tenant, api: APIClient, client_of: Client
) -> None:
    gone = create_tenant("Gone", "gone")
    client_of(gone).get(SPACES)
    api.get(SPACES)
    with tenant_scope(gone.id):
        # As measurements' tenants are: others' audit stays for a year.
        gone.own_clock = True
        gone.save()
        gone.delete()
    assert len(list_logged_requests(tenant)) == 1


def test_the_log_can_be_off(tenant: Tenant, api: APIClient, settings: Any) -> None:
    settings.REQUEST_LOG_DAYS = 0
    api.get(SPACES)
    assert list_logged_requests(tenant) == []


def test_X16_the_log_of_another_tenant_is_not_seen(tenant: Tenant, api: APIClient) -> None:
    api.get(SPACES)
    assert len(list_logged_requests(tenant)) == 1
    with tenant_scope(create_tenant("Two", "two").id):
        assert not LoggedRequest._base_manager.exists()
