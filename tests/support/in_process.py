"""The hub as an httpx transport: it answers in this thread, in the test's transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections


class InProcessTransport(httpx.WSGITransport):
    """`asked` are method and path of each request."""

    def __init__(self) -> None:
        super().__init__(app=get_wsgi_application())
        self.asked: list[tuple[str, str]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.method, request.url.path))
        return super().handle_request(request)


@contextmanager
def serve_in_process() -> Iterator[InProcessTransport]:
    """As Django's test client does, without closing the test's connection after each request."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield InProcessTransport()
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
