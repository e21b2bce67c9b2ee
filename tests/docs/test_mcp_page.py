"""The page about the protocol names every tool with its scope, and everything a tool takes."""

from __future__ import annotations

import json
import re

import pytest

from api.mcp.hub_tools import HUB_TOOLS
from api.mcp.mem0_tools import ScopedArguments
from api.mcp.server import TOOL_SETS
from tests.docs.pages import ROOT, list_blocks

PAGE = (ROOT / "docs/reference/mcp.md").read_text(encoding="utf-8")
EVERY = {tool.name: tool for tools in TOOL_SETS.values() for tool in tools}


def test_every_tool_is_there_with_its_scope_and_no_other() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.M))
    assert rows == {tool.name: tool.scope for tool in EVERY.values()}


def test_every_argument_of_the_hubs_tools_is_in_its_row() -> None:
    for tool in HUB_TOOLS:
        (row,) = re.findall(rf"^\| `{tool.name}` \|.*$", PAGE, re.M)
        names = tool.arguments_type.model_fields.keys() - {"subject"}
        assert [name for name in sorted(names) if f"`{name}`" not in row] == []


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_argument_is_on_the_page(name: str) -> None:
    fields = EVERY[name].arguments_type.model_fields
    assert [field for field in fields if f"`{field}`" not in PAGE] == []
    assert set(ScopedArguments.model_fields) <= set(re.findall(r"`(\w+)`", PAGE))


def test_the_hosts_settings_that_are_shown_are_json_with_a_way_in() -> None:
    for shown in list_blocks(ROOT / "docs/how-to/mcp.md", "json"):
        (server,) = json.loads(shown)["mcpServers"].values()
        if "url" in server:
            assert server["url"].endswith("/mcp")
            assert server["headers"]["Authorization"].startswith("Bearer ")
        else:
            assert server["args"][0].endswith("manage.py")
            assert server["args"][1] == "mcp"
            assert server["env"].keys() == {"MEMORYHUB_API_KEY"}
