"""Pages of other origins ask the API only where an operator names them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import create_key

ORIGIN = "https://app.example.org"
ASKED = {"origin": ORIGIN, "access-control-request-method": "POST"}
PATHS = ["/api/v1/search", "/v3/memories/search/", "/openai/v1/chat/completions", "/mcp"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_what_its_origin_is_named_for(client: Client, settings: Any, path: str) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    before = client.options(path, headers=ASKED)
    assert before.status_code == 200
    assert before["access-control-allow-origin"] == ORIGIN
    assert "POST" in before["access-control-allow-methods"]
    assert {"*", "authorization"} <= set(before["access-control-allow-headers"].split(", "))
    assert "access-control-allow-credentials" not in before
    stranger = client.options(path, headers=ASKED | {"origin": "https://evil.example.net"})
    assert "access-control-allow-origin" not in stranger


def test_it_reads_answers_and_errors(client: Client, settings: Any, tenant: Tenant) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    _, key = create_key(tenant, "page", ["read"])
    for sent, status in (({"authorization": f"Bearer {key}"}, 200), ({}, 401)):
        answer = client.get("/api/v1/spaces", headers=sent | {"origin": ORIGIN})
        assert answer.status_code == status
        assert answer["access-control-allow-origin"] == ORIGIN
        assert answer["access-control-expose-headers"] == "*"
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    sent = {"authorization": f"Bearer {key}", "accept": "application/json, text/event-stream"}
    answer = client.post(
        "/mcp", message, content_type="application/json", headers=sent | {"origin": ORIGIN}
    )
    assert (answer.status_code, answer["access-control-allow-origin"]) == (200, ORIGIN)


def test_nobody_is_named_unless_an_operator_does(client: Client, tenant: Tenant) -> None:
    for path in PATHS:
        assert "access-control-allow-origin" not in client.options(path, headers=ASKED)


def test_the_pages_of_the_console_are_nobodys_else(client: Client, settings: Any) -> None:
    settings.CORS_ALLOW_ALL_ORIGINS = True
    for path in ("/", "/sign-in", "/admin/"):
        assert "access-control-allow-origin" not in client.get(path, headers={"origin": ORIGIN})
    assert client.options(PATHS[0], headers=ASKED)["access-control-allow-origin"] == "*"
