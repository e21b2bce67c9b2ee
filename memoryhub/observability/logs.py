"""Structured logs with the ids of request, space and job on their lines, and no memories."""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import structlog
from django.http import HttpRequest, HttpResponse

from memoryhub.observability.tracing import add_trace_ids

_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    add_trace_ids,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def configure_logging(config: dict[str, Any]) -> None:
    """Called by Django with settings.LOGGING: {"level", "json"}."""
    plain = structlog.dev.ConsoleRenderer(colors=False)
    render = structlog.processors.JSONRenderer() if config["json"] else plain
    structlog.configure(
        processors=[*_SHARED_PROCESSORS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processor": render,
        "foreign_pre_chain": _SHARED_PROCESSORS,
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "filters": {"routes": {"()": lambda: name_route}},
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "formatter": "line",
                    "filters": ["routes"],
                }
            },
            "root": {"handlers": ["stderr"], "level": config["level"]},
            # It names whose passkey it was at every sign-in; the account's own record does that.
            "loggers": {"fido2": {"level": "WARNING"}},
        }
    )


def name_route(record: logging.LogRecord) -> bool:
    """A line of Django's about a request tells its route, as it is declared: addresses name
    subjects, who may be erased, and a log is not."""
    request = getattr(record, "request", None)
    path = getattr(request, "path", None)
    if path and isinstance(record.args, tuple):
        match = getattr(request, "resolver_match", None)
        route = match.route if match else "an unknown address"
        record.args = tuple(route if each == path else each for each in record.args)
    return True


class RequestIdMiddleware:
    """Give each request an id (the caller's, if it looks like one) and echo it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request_id = given if given.isascii() and given.isprintable() and len(given) <= 64 else ""
        request_id = request_id or uuid4().hex
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response
