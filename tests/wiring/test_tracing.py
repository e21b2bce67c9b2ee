"""What traces tell of requests, jobs and models, and that there are none unless they are wanted."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer, StatusCode

from memoryhub.checks import check_tracing
from memoryhub.engines.ledger import CallRecord
from memoryhub.inference.ledger import TenantLedger
from memoryhub.observability import tracing
from memoryhub.pipeline.jobs import runner
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_job, make_space, make_tenant

SECRET = "zephyrine"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    before = tracing.use_tracer(provider.get_tracer("memoryhub"))
    yield kept
    tracing.use_tracer(before)


def find(spans: InMemorySpanExporter, begin: str) -> list[ReadableSpan]:
    return [each for each in spans.get_finished_spans() if each.name.startswith(begin)]


def dump(spans: InMemorySpanExporter) -> str:
    return " ".join(each.to_json() for each in spans.get_finished_spans())


@pytest.mark.django_db
def test_a_request_is_told_by_its_route_within_its_callers_trace(
    client: Client, spans: InMemorySpanExporter
) -> None:
    trace_id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    client.get(
        f"/api/v1/spaces/{SECRET}/facts?q={SECRET}",
        headers={"traceparent": f"00-{trace_id}-{parent}-01"},
    )
    client.get(f"/nowhere/{SECRET}", headers={"traceparent": SECRET})
    known, unknown = spans.get_finished_spans()
    assert known.name.startswith("GET api/v1/spaces/<")
    assert known.attributes is not None
    assert known.attributes["http.response.status_code"] == 401
    assert known.context is not None
    assert known.parent is not None
    assert f"{known.context.trace_id:032x}" == trace_id
    assert f"{known.parent.span_id:016x}" == parent
    assert unknown.name == "GET unknown"
    assert unknown.parent is None
    assert SECRET not in dump(spans)


@pytest.mark.django_db(transaction=True)
def test_a_job_and_what_it_asks_are_told_without_words(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        space = make_space(tenant, SECRET)
        job = make_job(space)

    def ask_and_fail(*args: Any) -> None:
        call = CallRecord("construct", "construct.v1", "small", [{"content": SECRET}], SECRET)
        call.prompt_tokens, call.milliseconds, call.error = 7, 250.0, f"timeout: {SECRET}"
        TenantLedger(tenant.id).record_call(call)
        raise ValueError(SECRET)

    monkeypatch.setattr(runner, "run_phases", ask_and_fail)
    assert runner.run_next_job(tenant.id, space.id)
    (call,), (done,) = find(spans, "model call"), find(spans, "job ")
    assert done.name == f"job {job.step}"
    assert dict(done.attributes or {}) == {
        "memoryhub.tenant": str(tenant.id),
        "memoryhub.space": str(space.id),
        "memoryhub.job": str(job.id),
        "memoryhub.attempt": 1,
    }
    assert (done.status.status_code, done.status.description) == (StatusCode.ERROR, "ValueError")
    assert call.parent == done.context
    assert call.attributes is not None
    assert call.attributes["gen_ai.usage.input_tokens"] == 7
    assert call.end_time is not None
    assert call.start_time is not None
    assert call.end_time - call.start_time == 250_000_000
    assert call.status.description == "timeout"
    assert SECRET not in dump(spans)


def test_what_is_raised_is_told_by_its_class(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match=SECRET), tracing.trace("work", {}):
        raise ValueError(SECRET)
    (span,) = spans.get_finished_spans()
    assert span.status.description == "ValueError"
    assert span.events == ()
    assert SECRET not in dump(spans)


def test_lines_of_the_log_name_their_trace(
    spans: InMemorySpanExporter, capsys: pytest.CaptureFixture[str]
) -> None:
    formatter = structlog.stdlib.ProcessorFormatter(
        processor=structlog.processors.JSONRenderer(), foreign_pre_chain=[tracing.add_trace_ids]
    )
    record = logging.LogRecord("x", logging.INFO, "x", 1, "hello", None, None)
    with tracing.trace("work", {}) as span:
        line = json.loads(formatter.format(record))
    assert line["trace_id"] == f"{span.get_span_context().trace_id:032x}"
    assert line["span_id"] == f"{span.get_span_context().span_id:016x}"
    assert "trace_id" not in json.loads(formatter.format(record))


def test_nothing_is_traced_or_sent_unless_a_collector_is_named(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoryhub.observability import logs

    assert tracing.add_trace_ids in logs._SHARED_PROCESSORS
    settings.OTLP_ENDPOINT = ""
    tracing.begin_tracing("web")
    assert isinstance(tracing._tracer, NoOpTracer)
    settings.OTLP_ENDPOINT = "http://127.0.0.1:9"
    monkeypatch.setattr(tracing, "is_tracing_installed", lambda: False)
    tracing.begin_tracing("web")
    assert isinstance(tracing._tracer, NoOpTracer)


def test_a_collector_without_what_sends_there_is_told_of(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OTLP_ENDPOINT = "http://127.0.0.1:4318"
    assert check_tracing(None) == []
    monkeypatch.setattr("memoryhub.checks.is_tracing_installed", lambda: False)
    assert [each.id for each in check_tracing(None)] == ["memoryhub.W003"]


class Collector:
    """What a collector on loopback was sent: paths and raw bodies."""

    def __init__(self) -> None:
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        sent: list[tuple[str, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.sent, self.server = sent, ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def test_a_collector_that_is_named_is_sent_spans(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    address = f"http://127.0.0.1:{collector.server.server_port}"
    settings.OTLP_ENDPOINT = address
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    before = tracing._tracer
    try:
        tracing.begin_tracing("worker")
        with tracing.trace("work", {}):
            pass
        tracing._tracer.span_processor.shutdown()  # type: ignore[attr-defined]  # the SDK's
    finally:
        tracing.use_tracer(before)
        collector.server.shutdown()
        collector.server.server_close()
    ((path, body),) = collector.sent
    assert path == "/v1/traces"
    assert b"memoryhub-worker" in body
