"""A hub that is not there: answers from a list, and what it was sent."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from memoryhub_client import AsyncMemoryHub, MemoryHub, Retries
from tests.support.event_loop import run_coroutine

KEY = "mh_key"
Reply = httpx.Response | Exception


class ScriptedTransport:
    """Gives its replies in order, the last one for ever; `sent` are the requests."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.sent: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        # Anew each time: a response belongs to one client.
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    async def answer_async(self, request: httpx.Request) -> httpx.Response:
        return self(request)


# Tries follow at once.
RETRY_AT_ONCE = Retries(times=3, first=0)


def make_client(answers: ScriptedTransport, **options: Any) -> MemoryHub:
    http = httpx.Client(transport=httpx.MockTransport(answers))
    return MemoryHub("http://hub", KEY, http=http, **{"retries": RETRY_AT_ONCE, **options})


def run_async_client(
    answers: ScriptedTransport,
    talk: Callable[[AsyncMemoryHub], Coroutine[Any, Any, Any]],
    **options: Any,
) -> Any:
    """What `talk` returns of an async client."""

    async def talked() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answers.answer_async)) as http:
            hub = AsyncMemoryHub(
                "http://hub", KEY, http=http, **{"retries": RETRY_AT_ONCE, **options}
            )
            return await talk(hub)

    return run_coroutine(talked())


def make_problem(
    status: int, code: str, headers: dict[str, str] | None = None, **more: Any
) -> Reply:
    body = {
        "type": f"urn:memoryhub:{code}",
        "status": status,
        "code": code,
        "detail": "No.",
        **more,
    }
    given = {"content-type": "application/problem+json", "x-request-id": "r-1", **(headers or {})}
    return httpx.Response(status, json=body, headers=given)


def make_search_answer(*texts: str) -> Reply:
    """A search's answer with these memories."""
    return httpx.Response(200, json={"items": [{"kind": "fact", "text": text} for text in texts]})


def make_list_answer(*ids: str, total: int = 0, after: str | None = None) -> Reply:
    body = {"items": [{"id": each} for each in ids], "total": total or len(ids), "next": after}
    return httpx.Response(200, json=body)
