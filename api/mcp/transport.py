"""One message over HTTP: the SDK's own transport, driven for a single request.

The SDK's server is asynchronous, the hub's views are not. Each request gets a transport without a
session that answers in JSON, on an event loop of its own; the tools run on the request's thread,
so that they have its database connection and the id of its log lines.
"""

from __future__ import annotations

import logging
from typing import Any

import anyio
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

# It tells of every manager it starts and ends, which here is every request.
logging.getLogger("mcp").setLevel(logging.WARNING)
_DROPPED_HEADERS = ("content-length",)


def exchange_message(server: Server[Any], request: HttpRequest) -> HttpResponse:
    """What the server answers. Call where no event loop runs."""
    sent: list[dict[str, Any]] = async_to_sync(_drive_transport)(
        server, _build_scope(request), request.body
    )
    start = next(each for each in sent if each["type"] == "http.response.start")
    body = b"".join(each.get("body", b"") for each in sent)
    response = HttpResponse(body, status=start["status"])
    del response["Content-Type"]
    for name, value in start.get("headers", ()):
        if name.lower() not in _DROPPED_HEADERS:
            response[name.decode("latin-1")] = value.decode("latin-1")
    return response


async def _drive_transport(
    server: Server[Any], scope: dict[str, Any], body: bytes
) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    ahead: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not ahead:
            await anyio.sleep_forever()
        return ahead.pop()

    async def send(message: Any) -> None:
        sent.append(dict(message))

    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    return sent


def _build_scope(request: HttpRequest) -> dict[str, Any]:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in request.headers.items()
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
    }
