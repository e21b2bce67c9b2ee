"""The real server on loopback: what many, slow and leaving clients do to the others."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.support.factories import make_job, make_space
from tests.support.openai_server import OpenAIServer, ScriptedReply
from tests.support.processes import wait_until
from tests.support.web import RawConnection, WebServer, run_web_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def web(tenant: Tenant, model: OpenAIServer, tmp_path: Path) -> Iterator[WebServer]:
    """Few places and short times, so that tests need few clients and little patience."""
    _, key = create_key(tenant, "test", ["read", "write", "admin"])
    limits = {
        "GRANIAN_HTTP1_HEADER_READ_TIMEOUT": "1500",
        "MEMORYHUB_BODY_SECONDS": "1.5",
        "MEMORYHUB_WEB_PLACES": "2",
    }
    proxied = {"OPENAI_BASE_URL": model.url, "MEMORYHUB_PROXY_MODELS": "scripted"}
    with run_web_server(tmp_path, key, **limits, **proxied) as server:
        yield server


def make_waiting_job(tenant: Tenant) -> Job:
    """That nobody works on for days."""
    with tenant_scope(tenant.id):
        later = timezone.now() + timedelta(days=3)
        return make_job(make_space(tenant, "ana"), run_after=later)


def open_stream(web: WebServer, method: str, path: str, body: Any = None) -> RawConnection:
    """One that has begun."""
    connection = web.connect()
    connection.send_request(method, path, body)
    assert connection.read_head()[0] == 200
    return connection


def assert_serves(web: WebServer) -> None:
    assert web.is_well()
    said = {"subject": "ben", "messages": [{"content": "I play chess in Porto."}]}
    assert web.ask("POST", "/api/v1/memories", said)[0] == 202
    assert web.ask("POST", "/api/v1/search", {"subject": "ben", "query": "chess"})[0] == 200


def ask_chat(web: WebServer, *, stream: bool) -> RawConnection:
    connection = web.connect()
    asked = {"model": "scripted", "user": "ben", "stream": stream}
    messages = [{"role": "user", "content": "Hello there"}]
    connection.send_request("POST", "/openai/v1/chat/completions", asked | {"messages": messages})
    return connection


def test_idle_connections_and_open_streams_hold_nobody_up(web: WebServer, tenant: Tenant) -> None:
    job = make_waiting_job(tenant)
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(web.connect())
        for _ in range(40):
            stream = open_stream(web, "GET", f"/api/v1/jobs/{job.id}/progress")
            assert stack.enter_context(stream).read_line() == "event: progress"
        assert_serves(web)


def test_who_waits_for_a_model_or_a_job_holds_nobody_up(
    web: WebServer, model: OpenAIServer, tenant: Tenant
) -> None:
    model.script_chat(*[ScriptedReply("Well met.", delay=8)] * 6)
    behind = make_waiting_job(tenant)
    with ExitStack() as stack:
        asked = [stack.enter_context(ask_chat(web, stream=n % 2 == 0)) for n in range(6)]
        waits = stack.enter_context(web.connect())
        # Nobody works on what stands behind a job that is not due.
        said = {"subject": "ana", "messages": [{"content": "I dive."}], "wait": True}
        waits.send_request("POST", "/api/v1/memories", said)
        wait_until(lambda: len(model.requests) == 6, 30, web.log)
        assert_serves(web)
        assert [each.read_head()[0] for each in asked] == [200] * 6
        assert web.ask("POST", f"/api/v1/jobs/{behind.id}/cancel", {})[0] == 200


def test_what_comes_too_slowly_is_cut(web: WebServer) -> None:
    with web.connect() as silent, web.connect() as slow_head, web.connect() as slow_body:
        slow_head.socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        slow_body.send_head("POST", "/api/v1/search", 500)
        slow_body.socket.sendall(b"{")
        assert slow_body.read_head()[0] == 408
        assert all(each.is_closed_by_server() for each in (silent, slow_head, slow_body))


def test_a_large_body_that_stops_coming_holds_nobody_up(web: WebServer) -> None:
    """Of these the view reads the rest itself."""
    with ExitStack() as stack:
        stopped = [stack.enter_context(web.connect()) for _ in range(3)]
        for each in stopped:
            each.send_head("POST", "/api/v1/search", 9_000_000)
            each.socket.sendall(b" " * 2_000_000)
        assert_serves(web)
        status, problem = stopped[1].read_answer()
        assert (status, problem["code"]) == (408, "body_incomplete")


def test_a_large_body_comes_whole(web: WebServer) -> None:
    text = "I live in Porto. " * 20
    said = [{"content": text} for _ in range(400)] + [{"content": "x" * 1_000_000}]
    status, answer = web.ask("POST", "/api/v1/memories", {"subject": "ana", "messages": said})
    assert (status, len(answer["turns"])) == (202, 401)


def test_a_stream_that_its_client_leaves_ends(
    web: WebServer, model: OpenAIServer, tenant: Tenant
) -> None:
    """The model is hung up on, and what was said is accounted for."""
    model.script_chat(ScriptedReply("one two three " * 2000))
    with ask_chat(web, stream=True) as left:
        assert left.read_head()[0] == 200
        assert left.read_line().startswith("data:")
        left.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def count_calls() -> int:
        with tenant_scope(tenant.id):
            return ModelCall.objects.count()

    wait_until(lambda: count_calls() == 1, 30, web.log)
    with tenant_scope(tenant.id):
        assert len(ModelCall.objects.get().output) < len("one two three " * 2000)


def test_odd_addresses_are_answered(web: WebServer) -> None:
    for path in ("/%ff%fe", "/api/v1/facts/%00", "/?q=%ff", "/api/v1/spaces/a%2Fb", "//x"):
        assert web.ask("GET", path)[0] in (200, 302, 400, 404), path
