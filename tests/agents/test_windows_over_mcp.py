"""The same windows as tools of a host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.tenants.services import create_key
from tests.agents.conftest import RestAgent
from tests.api.mcp.conftest import McpHost

ASKED = {"subject": "Ana", "session": "talk"}


@pytest.fixture
def host(rest: RestAgent) -> McpHost:
    _, key = create_key(rest.hub.tenant, "host", ["read", "write"])
    return McpHost(key, "?tools=windows")


def test_a_host_reads_what_it_appended(rest: RestAgent, host: McpHost) -> None:
    assert set(host.list_tools()) == {"read_window", "append_to_window", "step_window"}
    missing = host.call_refused_tool("read_window", **ASKED)
    assert missing["code"] == "not_found"
    call = {"id": "c1", "name": "weather", "arguments": {"city": "Porto"}}
    messages = [
        {"content": "Is it raining?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "content": "Drizzle.", "tool_call_id": "c1"},
    ]
    appended = host.call_tool("append_to_window", **ASKED, agent="tutor", messages=messages)
    assert len(appended["turns"]) == 3
    shown = host.call_tool("read_window", **ASKED)
    said = [m for m in shown["messages"] if m["role"] != "system"]
    assert [m["content"] for m in said] == ["Is it raining?", "", "Drizzle."]
    assert said[1]["tool"] == "weather"
    (row,) = rest.client.get(rest.path).json()["items"]
    assert (row["session"], row["agent"]) == ("talk", "tutor")


def test_the_hubs_agent_takes_its_turn_for_a_host(
    rest: RestAgent, host: McpHost, call: Callable[..., dict[str, Any]]
) -> None:
    rest.hub.model.script(
        "agent_step",
        call("recall_search", query="bees"),
        call("send_message", text="You keep bees."),
    )
    made = host.call_tool("step_window", **ASKED, text="What do I keep?", max_steps=5)
    assert (made["said"], made["ending"]) == (["You keep bees."], "yielded")
    assert [step["tool"] for step in made["steps"]] == ["recall_search", "send_message"]


def test_whose_turn_fails_is_told(rest: RestAgent, host: McpHost) -> None:
    rest.hub.set_policy("memgpt", core__tools=False)
    assert host.call_refused_tool("step_window", **ASKED, text="Hello?")["code"] == "no_agent"
