"""The same server over standard input and output: each message is passed on to a hub's `/mcp`.

It needs the hub's address and a key, and neither database nor model: what a host starts and stops
by the window is small, and a remote hub does as well as one on this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

_Result = TypeVar("_Result", bound=BaseModel)
# Seconds: to be answered at all, and for a read that models take part in.
RELAY_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
_MessageTypes = tuple[type[types.RequestParams], type[types.Request[Any, Any]], type[BaseModel]]
_PAGE_PARAMS = types.PaginatedRequestParams
_TYPES_BY_METHOD: dict[str, _MessageTypes] = {
    "tools/list": (_PAGE_PARAMS, types.ListToolsRequest, types.ListToolsResult),
    "tools/call": (types.CallToolRequestParams, types.CallToolRequest, types.CallToolResult),
    "resources/list": (_PAGE_PARAMS, types.ListResourcesRequest, types.ListResourcesResult),
    "resources/templates/list": (
        _PAGE_PARAMS,
        types.ListResourceTemplatesRequest,
        types.ListResourceTemplatesResult,
    ),
    "resources/read": (
        types.ReadResourceRequestParams,
        types.ReadResourceRequest,
        types.ReadResourceResult,
    ),
    "prompts/list": (_PAGE_PARAMS, types.ListPromptsRequest, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequestParams, types.GetPromptRequest, types.GetPromptResult),
    "completion/complete": (
        types.CompleteRequestParams,
        types.CompleteRequest,
        types.CompleteResult,
    ),
}


class HubUnreachable(Exception):
    """The hub refuses, or none answers at the address; the message says what."""


async def relay_stdio(url: str, key: str) -> None:
    """Serve until the input ends. Raises Unreachable."""
    try:
        await _serve_stdio(url, key)
    except (MCPError, httpx2.HTTPError, BaseExceptionGroup) as error:
        first = _find_first_error(error)
        if not isinstance(first, (MCPError, httpx2.HTTPError)):
            raise
        told = first.message if isinstance(first, MCPError) else str(first)
        raise HubUnreachable(told or type(first).__name__) from error


def _find_first_error(error: BaseException) -> BaseException:
    """Task groups wrap what went wrong, perhaps in several layers."""
    return (
        _find_first_error(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
    )


async def _serve_stdio(url: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=RELAY_TIMEOUT) as http,
        Client(streamable_http_client(url, http_client=http), cache=None) as hub,
    ):
        server = build_relay_server(hub)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def build_relay_server(hub: Client) -> Server[Any]:
    """A server that shows and does what the hub does."""
    server: Server[Any] = Server(
        "memoryhub",
        version=hub.server_info.version if hub.server_info else "",
        title="MemoryHub",
        instructions=hub.instructions,
    )
    for method, (params, asks, answers) in _TYPES_BY_METHOD.items():
        server.add_request_handler(method, params, _build_handler(hub, asks, answers))
    return server


def _build_handler(
    hub: Client, asks: Callable[..., types.Request[Any, Any]], answers: type[_Result]
) -> Any:
    async def handle(ctx: Any, params: types.RequestParams) -> _Result:
        # Without its `_meta`: what it says of the protocol holds for the other side.
        bare = params.model_copy(update={"meta": None})
        return await hub.session.send_request(asks(params=bare), answers)

    return handle
