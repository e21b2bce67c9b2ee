"""Server-sent events: how an answer that goes on is written and sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder


def format_event(data: Mapping[str, Any], *, name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, cls=JSONEncoder, ensure_ascii=False)}\n\n"


def build_event_response(
    events: Iterable[str] | AsyncIterable[str], **headers: str
) -> StreamingHttpResponse:
    """Kept by nobody on the way, and passed on as it comes."""
    sent = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", **headers}
    return StreamingHttpResponse(events, content_type="text/event-stream", headers=sent)


class AnyAcceptNegotiation(BaseContentNegotiation):
    """Browsers ask for `text/event-stream`; errors stay problem+json."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: Any = None
    ) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), JSONRenderer.media_type
