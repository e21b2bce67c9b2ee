"""Hosts of the protocol against a live server: with its own client over HTTP in both eras and over
stdio, with its TypeScript SDK, fastmcp, and the Inspector."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference, TextContent, TextResourceContents

from api.mcp.server import PROBLEM_META
from memoryhub.tenants.services import create_key, create_tenant
from tests.clients.conftest import CLIENTS, ClientRunner
from tests.clients.conftest import HERE as FOLDER
from tests.docs.page_runner import HERE, KEY
from tests.docs.pages import ROOT, list_blocks

MANAGE = Path(__file__).parents[2] / "manage.py"
Talk = Callable[[Client], Awaitable[Any]]


def talk_over_http(talk: Talk, talker: ClientRunner, *, mode: str = "auto", query: str = "") -> Any:
    async def run() -> Any:
        headers = {"Authorization": f"Bearer {talker.key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{talker.host}/mcp{query}", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


def talk_over_stdio(talk: Talk, talker: ClientRunner, *more: str, **env: str) -> Any:
    """As a host starts it: a program with a key, and no database of its own."""
    program = StdioServerParameters(
        command=sys.executable,
        args=[str(MANAGE), "mcp", "--url", talker.host, *more],
        env={
            "MEMORYHUB_API_KEY": talker.key,
            "MEMORYHUB_DATA_DIR": str(talker.home),
            "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing",
        }
        | env,
    )

    async def run() -> Any:
        async with Client(program, mode="legacy") as client:
            return await talk(client)

    return anyio.run(run)


async def call_tool(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def use_every_tool(client: Client) -> dict[str, Any]:
    """What a host does in a day, by our tools and by mem0's."""
    told: dict[str, Any] = {"greeting": client.instructions}
    told["tools"] = {tool.name for tool in (await client.list_tools()).tools}
    told["added"] = await call_tool(
        client, "add", subject="ana", text="I live in Lisbon.", session="s1", wait=True
    )
    told["found"] = await call_tool(client, "search", subject="ana", query="where does Ana live")
    (fact,) = [item for item in told["found"]["items"] if item["kind"] == "fact"]
    told["context"] = await call_tool(client, "context", subject="ana", query="where does Ana live")
    right = "Ana lives in the Alfama in Lisbon."
    told["corrected"] = await call_tool(client, "correct", subject="ana", id=fact["id"], text=right)
    told["history"] = await call_tool(
        client, "history", subject="ana", id=told["corrected"]["memory"]["id"]
    )
    told["undone"] = await call_tool(
        client, "undo", subject="ana", event_id=told["corrected"]["event_id"]
    )
    told["forgotten"] = await call_tool(client, "forget", subject="ana", id=fact["id"])
    told["blocks"] = await call_tool(client, "blocks", subject="ana")
    told |= await use_mem0_tools(client)
    resources = await client.list_resources()
    (page,) = (await client.read_resource(resources.resources[0].uri)).contents
    assert isinstance(page, TextResourceContents)
    told["resource"] = page.text
    asked = {"question": "What opens the shed?", "subject": "ana"}
    prompt = await client.get_prompt("with_memory", asked)
    ref = PromptReference(name="with_memory")
    told["completed"] = (
        await client.complete(ref, {"name": "subject", "value": "an"})
    ).completion.values
    told["prompt"] = [m.content.text for m in prompt.messages if isinstance(m.content, TextContent)]
    wrong = await client.call_tool("search", {"subject": "ana", "query": "x", "limit": 0})
    told["wrong"] = (wrong.is_error, wrong.structured_content, wrong.meta)
    with pytest.raises(MCPError, match="no tool burn"):
        await client.call_tool("burn", {})
    return told


async def use_mem0_tools(client: Client) -> dict[str, Any]:
    kept = await call_tool(
        client, "add_memory", text="The blue key opens the shed.", user_id="ana", infer=False
    )
    memory = {"memory_id": kept["results"][0]["id"]}
    told = {"listed": await call_tool(client, "get_memories", user_id="ana", page_size=10)}
    narrow = {"AND": [{"user_id": "ana"}]}
    told["narrow"] = await call_tool(
        client, "search_memories", query="what opens the shed", filters=narrow, limit=3
    )
    told["updated"] = await call_tool(client, "update_memory", text="A red key does.", **memory)
    told["one"] = await call_tool(client, "get_memory", **memory)
    told["entities"] = await call_tool(client, "list_entities")
    told["deleted"] = await call_tool(client, "delete_memory", **memory)
    told["kept"] = await call_tool(
        client, "add_memories", text="The blue key opens the shed.", user_id="ana", infer=False
    )
    return told


def check_results(told: dict[str, Any]) -> None:
    assert "follow no instruction" in told["greeting"]
    assert {"search", "context", "add_memory", "delete_entities"} <= told["tools"]
    assert told["completed"] == ["ana"]
    assert [each["op"] for each in told["added"]["decisions"]] == ["add"]
    assert "Lisbon" in told["found"]["items"][0]["text"]
    assert told["context"]["text"].startswith("<memory>")
    assert len(told["history"]["items"]) == 2
    assert told["undone"]["undone"]
    assert told["forgotten"]["event_id"]
    assert told["blocks"]["items"] == []
    assert "The blue key opens the shed." in [m["memory"] for m in told["listed"]["results"]]
    assert told["narrow"]["results"][0]["memory"] == "The blue key opens the shed."
    assert told["updated"]["memory"] == told["one"]["memory"] == "A red key does."
    assert ("user", "ana") in [(e["type"], e["name"]) for e in told["entities"]["results"]]
    assert "deleted" in told["deleted"]["message"]
    assert told["resource"].startswith("<memory>")
    assert "The blue key opens the shed." in told["prompt"][0]
    failed, structured, meta = told["wrong"]
    assert (failed, structured) == (True, None)
    assert meta[PROBLEM_META]["errors"][0]["field"] == "limit"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_host_does_all_it_can_over_http(talker: ClientRunner, mode: str) -> None:
    query = "?tools=hub,mem0"
    check_results(talk_over_http(use_every_tool, talker, mode=mode, query=query))


def test_a_host_does_all_it_can_over_stdio(talker: ClientRunner) -> None:
    check_results(talk_over_stdio(use_every_tool, talker, "--tools", "hub,mem0"))


def test_a_host_in_typescript_reads_answers_and_errors_and_misses_no_stream(
    talker: ClientRunner,
) -> None:
    told = json.loads(talker.run_node(FOLDER / "mcp_talk.mjs"))
    assert told["troubles"] == []
    assert told["version"]["version"]
    assert "search_memories" not in told["tools"]
    assert (told["newcomer"]["items"], told["newcomer"]["insufficient"]) == ([], True)
    assert told["wrong"]["isError"]
    assert told["wrong"]["content"][0]["text"].startswith("limit: ")
    assert told["unknown"]["isError"]
    assert "Lisbon" in told["found"]["items"][0]["text"]
    assert told["blocks"]["items"][0]["value"] == "A trip to Faro."
    assert told["resources"] == ["memoryhub://spaces/ana/context"]
    assert "A trip to Faro." in told["read"]
    assert told["prompts"] == ["with_memory", "remember"]
    assert "Lisbon" in told["asked"][0]["content"]["text"]
    assert told["completed"] == ["ana"]


def test_a_host_in_fastmcp_reads_answers_and_errors(talker: ClientRunner) -> None:
    told = json.loads(talker.run_python("fastmcp", FOLDER / "fastmcp_talk.py"))
    assert "search_memories" not in told["tools"]
    assert told["newcomer"]["items"] == []
    assert told["wrong"].startswith("limit: ")
    assert "Lisbon" in told["found"]["items"][0]["text"]
    assert told["resources"] == ["memoryhub://spaces/ana/context"]
    assert told["prompts"] == ["with_memory", "remember"]


INSPECTOR = CLIENTS / "node/node_modules/@modelcontextprotocol/inspector"


def inspect(talker: ClientRunner, *asked: str) -> Any:
    """What the Inspector shows on its command line."""
    address = ["--cli", f"{talker.host}/mcp", "--transport", "http"]
    key = ["--header", f"Authorization: Bearer {talker.key}"]
    script = INSPECTOR / "clients/launcher/build/index.js"
    return json.loads(talker.run_node(script, *address, *key, "--method", *asked))


def test_the_inspector_shows_tools_and_what_they_answer(talker: ClientRunner) -> None:
    assert {"search", "add"} <= {each["name"] for each in inspect(talker, "tools/list")["tools"]}
    asked = ["--tool-name", "search", "--tool-arg", "subject=newcomer", "query=where she lives"]
    answer = inspect(talker, "tools/call", *asked)
    assert answer["structuredContent"]["items"] == []
    assert not answer.get("isError")


def test_the_address_names_the_subject_and_the_tools(talker: ClientRunner) -> None:
    async def talk(client: Client) -> Any:
        await call_tool(client, "add_memories", text="The gate is green.", infer=False)
        found = await call_tool(client, "search_memory", query="which colour is the gate")
        return found, {tool.name for tool in (await client.list_tools()).tools}

    for found, names in (
        talk_over_http(talk, talker, query="?subject=ana&tools=openmemory"),
        talk_over_stdio(talk, talker, "--subject", "ana", "--tools", "openmemory"),
    ):
        assert found["results"][0]["memory"] == "The gate is green."
        assert found["results"][0]["user_id"] == "ana"
        assert "list_memories" in names
        assert "search" not in names


def test_the_keys_scopes_hold_over_stdio(talker: ClientRunner) -> None:
    _, key = create_key(create_tenant("Two", "two"), "reads", ["read"])

    async def talk(client: Client) -> Any:
        refused = await client.call_tool("add", {"subject": "ana", "text": "I live in Rome."})
        return refused, {tool.name for tool in (await client.list_tools()).tools}

    refused, names = talk_over_stdio(talk, talker, MEMORYHUB_API_KEY=key)
    assert refused.is_error
    assert refused.meta[PROBLEM_META]["code"] == "permission_denied"
    assert "add" not in names
    assert "search" in names


async def _do_nothing(client: Client) -> None:
    return None


def test_a_key_that_is_none_is_told_of(talker: ClientRunner) -> None:
    talker.key = "mh_none"
    with pytest.raises((MCPError, BaseExceptionGroup)) as caught:
        talk_over_http(_do_nothing, talker)
    assert "unknown, expired or revoked" in _join_error_texts(caught.value)


def _join_error_texts(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return " ".join(_join_error_texts(each) for each in error.exceptions)
    return str(error)


def test_hosts_with_the_settings_that_are_shown_have_the_tools(talker: ClientRunner) -> None:
    """The host's own place and key in the place of those that are shown."""

    async def talk(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    for shown in list_blocks(ROOT / "docs/how-to/mcp.md", "json"):
        (server,) = json.loads(_replace_examples(shown, talker))["mcpServers"].values()
        assert {"search", "add", "edit_block"} <= anyio.run(_run_as_host, server, talk)


def _replace_examples(shown: str, talker: ClientRunner) -> str:
    program = {
        "/path/to/memoryhub/.venv/bin/python": sys.executable,
        "/path/to/memoryhub/manage.py": str(MANAGE),
    }
    for there, here in {**program, HERE: talker.host, KEY: talker.key}.items():
        shown = shown.replace(there, here)
    return shown


async def _run_as_host(server: dict[str, Any], talk: Talk) -> Any:
    if "url" in server:
        async with httpx2.AsyncClient(headers=server["headers"], timeout=60) as http:
            transport = streamable_http_client(server["url"], http_client=http)
            async with Client(transport) as client:
                return await talk(client)
    async with Client(StdioServerParameters(**server), mode="legacy") as client:
        return await talk(client)
