from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from api.mcp.server import PROBLEM_META
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.services import create_key

ACCEPT = "application/json, text/event-stream"


class McpHost:
    """Talks to `/mcp` as a host without a session does, one message a request."""

    def __init__(self, key: str, query: str = "") -> None:
        self.client = APIClient(headers={"Authorization": f"Bearer {key}"})
        self.path = f"/mcp{query}"

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.post(message, **headers)

    def post(self, message: Any, **headers: str) -> Any:
        sent = {"accept": ACCEPT} | {name.replace("_", "-"): v for name, v in headers.items()}
        return self.client.post(self.path, message, format="json", headers=sent)

    def request_result(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.content
        result: dict[str, Any] = answer.json()["result"]
        return result

    def call_tool(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a tool that does what it was asked."""
        result = self.request_result("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def call_tool_for_text(self, tool: str, **arguments: Any) -> str:
        result = self.request_result("tools/call", name=tool, arguments=arguments)
        return str(result["content"][0]["text"])

    def call_refused_tool(self, tool: str, **arguments: Any) -> Any:
        """The problem of a tool that does not."""
        result = self.request_result("tools/call", name=tool, arguments=arguments)
        assert result["isError"], result
        assert "structuredContent" not in result
        return result["_meta"][PROBLEM_META]

    def list_tools(self) -> dict[str, Any]:
        return {tool["name"]: tool for tool in self.request_result("tools/list")["tools"]}


@pytest.fixture
def host_of() -> Callable[..., McpHost]:
    """A host with a fresh key: `host_of(tenant, "read", space=…, query=…)`."""

    def make(tenant: Tenant, *scopes: str, space: Space | None = None, query: str = "") -> McpHost:
        _, key = create_key(tenant, "host", scopes or ("read", "write"), space=space)
        return McpHost(key, query)

    return make


@pytest.fixture
def host(tenant: Tenant, host_of: Callable[..., McpHost]) -> McpHost:
    return host_of(tenant, "read", "write", "admin")
