"""Traces of requests, jobs and questions to models, for OpenTelemetry. Off unless an operator names
where they go and has installed what sends them.

No words of memories: a span has a route as it is declared, ids, counts, and of an error its name.
The provider is the hub's own, not the process's: libraries that would trace what they are handed
have none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from opentelemetry.trace import (
    NoOpTracer,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Told = Mapping[str, str | int | float]
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_propagator = TraceContextTextMapPropagator()
_tracer: Tracer = NoOpTracer()


def is_tracing_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def begin_tracing(process: str) -> None:
    """Once in each process that works: `process` is "web" or "worker". Spans go out from a thread
    of their own, and those of a collector that is away are dropped."""
    if not (settings.OTLP_ENDPOINT and is_tracing_installed()):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES stand before the hub's own name.
    named = Resource({"service.name": f"memoryhub-{process}"})
    provider = TracerProvider(resource=named.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use_tracer(provider.get_tracer("memoryhub"))


def use_tracer(tracer: Tracer) -> Tracer:
    """The one before."""
    global _tracer
    _tracer, before = tracer, _tracer
    return before


@contextmanager
def trace(name: str, told: Told, *, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[Span]:
    """A span around what is done inside. What is raised is told by its class alone: its words may
    be of what somebody said."""
    with _tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=dict(told),
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            mark_failed(type(error).__name__)
            raise


def mark_failed(why: str) -> None:
    """The span that is open. `why`: a code or the name of a class."""
    get_current_span().set_status(Status(StatusCode.ERROR, why))


def trace_model_call(told: Told, milliseconds: float, error_code: str) -> None:
    """A question to a model that has just ended, `milliseconds` after it was asked."""
    ended = time.time_ns()
    span = _tracer.start_span(
        "model call",
        kind=SpanKind.CLIENT,
        attributes=dict(told),
        start_time=ended - int(milliseconds * 1e6),
    )
    if error_code:
        span.set_status(Status(StatusCode.ERROR, error_code))
    span.end(ended)


def add_trace_ids(logger: Any, name: str, line: Any) -> Any:
    """What structlog has write a line of the log: it gets the ids of the trace that it is of."""
    context = get_current_span().get_span_context()
    if context.is_valid:
        line["trace_id"] = f"{context.trace_id:032x}"
        line["span_id"] = f"{context.span_id:016x}"
    return line


class TracingMiddleware:
    """A span for each request until its answer begins, within the trace that the caller names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if isinstance(_tracer, NoOpTracer):
            return self.get_response(request)
        return self._trace(request)

    def _trace(self, request: HttpRequest) -> HttpResponseBase:
        method = request.method if request.method in _METHODS else "other"
        carrier = {name: request.headers.get(name, "") for name in ("traceparent", "tracestate")}
        with _tracer.start_as_current_span(
            str(method),
            context=_propagator.extract(carrier),
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            response = self.get_response(request)
            # As it is declared: an address names subjects.
            route = request.resolver_match.route if request.resolver_match else "unknown"
            span.update_name(f"{method} {route}")
            span.set_attribute("http.request.method", str(method))
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                span.set_status(Status(StatusCode.ERROR))
        return response
