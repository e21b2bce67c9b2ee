"""The ways in: how each of them tells the hub something, and asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI

from memoryhub_client import MemoryHub
from memoryhub_client.langgraph import MemoryHubStore

# Whose memory it is; whom the proxy learns about; whose items the store keeps.
SUBJECT, CHATTER, NAMESPACE = "bench", "chatter", ("bench", "items")
LIMIT = 10
Call = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class WayIn:
    """`add` tells a text and `search` asks a question; both return once the answer is read."""

    name: str
    add: Call
    search: Call


@asynccontextmanager
async def open_ways(url: str, key: str) -> AsyncIterator[list[WayIn]]:
    """Each with a connection of its own, which it keeps."""
    async with AsyncExitStack() as open_until_then:
        http = open_until_then.enter_context(httpx.Client(base_url=url, timeout=60))
        hub = open_until_then.enter_context(MemoryHub(url, key))
        mcp = await open_until_then.enter_async_context(_open_mcp_way(url, key))
        yield [
            _build_rest_way(http, key),
            *_build_mem0_ways(http, key),
            mcp,
            WayIn(
                "Python client",
                _make_blocking_call(lambda text: hub.add(SUBJECT, text)),
                _make_blocking_call(lambda asked: hub.search(SUBJECT, asked, limit=LIMIT)),
            ),
            _build_store_way(MemoryHubStore(hub)),
        ]


def _make_blocking_call(call: Callable[[str], object]) -> Call:
    """A call that blocks: nothing else is to happen meanwhile."""

    async def awaited(text: str) -> object:
        return call(text)

    return awaited


def _build_post_call(http: httpx.Client, path: str, headers: dict[str, str], body: Any) -> Call:
    return _make_blocking_call(
        lambda text: http.post(path, json=body(text), headers=headers).raise_for_status().json()
    )


def _build_rest_way(http: httpx.Client, key: str) -> WayIn:
    def post(path: str, body: Any) -> Call:
        return _build_post_call(http, f"/api/v1/{path}", {"Authorization": f"Bearer {key}"}, body)

    return WayIn(
        "native REST",
        post("memories", lambda text: {"subject": SUBJECT, "messages": [{"content": text}]}),
        post("search", lambda asked: {"subject": SUBJECT, "query": asked, "limit": LIMIT}),
    )


def _build_mem0_ways(http: httpx.Client, key: str) -> list[WayIn]:
    """The platform's wire as its older and its newer clients speak it."""

    def post(path: str, body: Any) -> Call:
        return _build_post_call(http, path, {"Authorization": f"Token {key}"}, body)

    def told(text: str) -> Any:
        message = {"role": "user", "content": text}
        return {"messages": [message], "user_id": SUBJECT, "async_mode": True}

    def asked(text: str) -> Any:
        return {"query": text, "top_k": LIMIT}

    return [
        WayIn(
            "mem0 v1",
            post("/v1/memories/", told),
            post("/v1/memories/search/", lambda text: asked(text) | {"user_id": SUBJECT}),
        ),
        WayIn(
            "mem0 v3",
            post("/v3/memories/add/", told),
            post("/v3/memories/search/", lambda t: asked(t) | {"filters": {"user_id": SUBJECT}}),
        ),
    ]


@asynccontextmanager
async def _open_mcp_way(url: str, key: str) -> AsyncIterator[WayIn]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp?subject={SUBJECT}", http_client=http)) as host,
    ):

        async def called(tool: str, arguments: dict[str, Any]) -> object:
            told = await host.call_tool(tool, arguments)
            if told.is_error:
                raise SystemExit(f"{tool}: {told.content}")
            return told

        yield WayIn(
            "MCP, streamable HTTP",
            lambda text: called("add", {"text": text}),
            lambda asked: called("search", {"query": asked, "limit": LIMIT}),
        )


def _build_store_way(store: MemoryHubStore) -> WayIn:
    """Its items lie beside what is said: they are found by the store, and nobody reads them."""

    def put(text: str) -> None:
        store.put(NAMESPACE, str(hash(text)), {"text": text})

    return WayIn(
        "LangGraph store",
        _make_blocking_call(put),
        _make_blocking_call(lambda asked: store.search(NAMESPACE, query=asked, limit=LIMIT)),
    )


def build_chats(upstream: str, hub: str, key: str) -> dict[str, Call]:
    """A chat with the model itself, through the hub alone, with memory, and learning too."""
    own, bare = {"X-MemoryHub-Space": SUBJECT}, {"X-MemoryHub-Recall": "off"}
    deaf = {"X-MemoryHub-Learn": "off"}
    proxy = f"{hub}/openai/v1"
    return {
        "the model itself": _build_chat(upstream, "none", {}),
        "proxy, memory off": _build_chat(proxy, key, own | bare | deaf),
        "proxy, recalling": _build_chat(proxy, key, own | deaf),
        "proxy, recalling and learning": _build_chat(proxy, key, own),
    }


def _build_chat(url: str, key: str, headers: dict[str, str]) -> Call:
    client = OpenAI(base_url=url, api_key=key, default_headers=headers, max_retries=0)
    return _make_blocking_call(
        lambda asked: client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": asked}]
        )
    )
