"""`POST /mcp`: who is let in, with what, from where, and how often."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from rest_framework.test import APIClient

from api.mcp.server import PROBLEM_META, TOOL_SETS
from memoryhub import __version__
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, ensure_space
from tests.api.mcp.conftest import ACCEPT, McpHost
from tests.support import api_scene

HostOf = Callable[..., McpHost]
EVERY = {tool.name: tool for tools in TOOL_SETS.values() for tool in tools}
# What would reach the subject's memory. A new tool fails until it is here.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"subject": "ana", "query": "Porto"},
    "context": {"subject": "ana", "query": "Porto"},
    "add": {"subject": "ana", "text": "Ana lives in Rome."},
    "remember": {"subject": "ana", "text": "Ana lives in Rome."},
    "correct": {"subject": "ana", "id": "fact", "text": "Ana plays go"},
    "forget": {"subject": "ana", "id": "fact"},
    "history": {"subject": "ana"},
    "undo": {"subject": "ana", "event_id": "event"},
    "blocks": {"subject": "ana"},
    "edit_block": {"subject": "ana", "label": "human", "append": "More."},
    "read_window": {"subject": "ana", "session": "monday"},
    "append_to_window": {"subject": "ana", "session": "monday", "messages": [{"content": "x"}]},
    "step_window": {"subject": "ana", "session": "monday", "text": "x"},
    "add_memory": {"user_id": "ana", "text": "x", "infer": False},
    "add_memories": {"user_id": "ana", "text": "x", "infer": False},
    "search_memories": {"user_id": "ana", "query": "Porto"},
    "search_memory": {"user_id": "ana", "query": "Porto"},
    "get_memories": {"user_id": "ana"},
    "list_memories": {"user_id": "ana"},
    "get_memory": {"memory_id": "lineage"},
    "update_memory": {"memory_id": "lineage", "text": "x"},
    "delete_memory": {"memory_id": "lineage"},
    "delete_memories": {"memory_ids": ["lineage"]},
    "delete_all_memories": {"user_id": "ana"},
    "delete_entities": {"user_id": "ana"},
    "list_entities": {},
    "list_events": {},
    "get_event_status": {"event_id": "event"},
}
# For a stranger there is nothing in them; the others say that there is no such thing.
EMPTY = {
    "search",
    "context",
    "history",
    "blocks",
    "search_memories",
    "search_memory",
    "get_memories",
    "list_memories",
    "list_entities",
    "list_events",
}
# Of these, those that name nobody show what the key reaches.
LISTS_OF_KEY = {
    "search_memories",
    "search_memory",
    "get_memories",
    "list_memories",
    "list_entities",
    "list_events",
}
# In another tenant they are about another subject of the same name.
ELSEWHERE = {"add", "remember", "add_memory", "add_memories", "delete_all_memories"}


@pytest.fixture
def victim(tenant: Tenant) -> dict[str, str]:
    """What may be named of a subject: its ids."""
    rows = api_scene.make_row_of_every_kind(tenant)
    fact = rows["fact"]
    return {"fact": str(fact.id), "lineage": str(fact.lineage), "event": str(rows["event"].id)}


def build_arguments_about(name: str, ids: dict[str, str]) -> dict[str, Any]:
    def put(value: Any) -> Any:
        if isinstance(value, list):
            return [put(each) for each in value]
        return ids.get(value, value) if isinstance(value, str) else value

    return {field: put(value) for field, value in ARGUMENTS[name].items()}


def is_empty(result: dict[str, Any]) -> bool:
    """Whether a tool that found something would have told of it here."""
    told = result["structuredContent"]
    return not (told.get("results") or told.get("items") or told.get("text"))


def read_status(result: dict[str, Any]) -> int:
    """That of a tool's problem."""
    assert result["isError"]
    status: int = result["_meta"][PROBLEM_META]["status"]
    return status


def test_every_tool_is_known_here() -> None:
    assert set(EVERY) == set(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(EVERY))
def test_E30_a_stranger_reaches_nothing_by_any_tool(
    victim: dict[str, str], host_of: HostOf, name: str
) -> None:
    stranger = host_of(create_tenant("Two", "two"), "admin")
    result = stranger.request_result(
        "tools/call", name=name, arguments=build_arguments_about(name, victim)
    )
    if name in EMPTY:
        assert is_empty(result)
    elif name not in ELSEWHERE:
        assert read_status(result) == 404
    assert "Porto" not in str(result)


@pytest.mark.parametrize("name", sorted(set(EVERY) - LISTS_OF_KEY))
def test_X16_a_key_of_one_subject_reaches_no_other_by_any_tool(
    victim: dict[str, str], tenant: Tenant, host_of: HostOf, name: str
) -> None:
    with tenant_scope(tenant.id):
        rui = ensure_space(tenant.id, "rui")
    result = host_of(tenant, "admin", space=rui).request_result(
        "tools/call", name=name, arguments=build_arguments_about(name, victim)
    )
    if name in EMPTY:
        assert is_empty(result)
    elif name != "delete_all_memories":
        assert read_status(result) == 404
    assert "Porto" not in str(result)


def test_nothing_of_what_a_stranger_tried_was_done(
    victim: dict[str, str], tenant: Tenant, host: McpHost, host_of: HostOf
) -> None:
    stranger = host_of(create_tenant("Two", "two"), "admin")
    with tenant_scope(tenant.id):
        bound = host_of(tenant, "admin", space=ensure_space(tenant.id, "rui"))
    for name in EVERY:
        for caller in (stranger, bound):
            caller.request_result(
                "tools/call", name=name, arguments=build_arguments_about(name, victim)
            )
    assert host.call_tool("get_memory", memory_id=victim["lineage"])["memory"].endswith("Porto")
    assert "x" not in [
        each["memory"] for each in host.call_tool("get_memories", user_id="ana")["results"]
    ]


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_tool_takes_the_scope_it_says(
    victim: dict[str, str], tenant: Tenant, host_of: HostOf, name: str
) -> None:
    scope = EVERY[name].scope
    if scope != "read":
        less = host_of(tenant, *({"write": ["read"], "admin": ["read", "write"]}[scope]))
        assert name not in less.list_tools()
        problem = less.call_refused_tool(name, **build_arguments_about(name, victim))
        assert (problem["status"], problem["code"]) == (403, "permission_denied")
        assert scope in problem["detail"]
    enough = host_of(tenant, scope, query="?tools=hub,blocks,windows,mem0,openmemory")
    assert name in enough.list_tools()
    result = enough.request_result(
        "tools/call", name=name, arguments=build_arguments_about(name, victim)
    )
    if result.get("isError"):
        assert read_status(result) != 403


def test_without_a_key_nothing_is_told(db: None) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for sent in ({}, {"Authorization": "Bearer mh_a_b"}, {"Authorization": "Basic abc"}):
        answer = APIClient(headers=sent).post("/mcp", message, format="json")
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer["Content-Type"] == "application/json"
        assert answer.json()["error"]["data"]["status"] == 401


def test_the_key_may_be_a_token_too(tenant: Tenant) -> None:
    _, key = create_key(tenant, "host", ["read"])
    client = APIClient(headers={"Authorization": f"Token {key}", "Accept": ACCEPT})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert client.post("/mcp", message, format="json").status_code == 200


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json", "*/*"])
@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options"])
def test_there_are_no_streams_and_no_sessions(
    tenant: Tenant, host_of: HostOf, method: str, accept: str
) -> None:
    client = host_of(tenant, "read").client
    assert getattr(client, method)("/mcp", headers={"accept": accept}).status_code == 405


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        ("https://pages.example.com", 200),
        ("https://a.apps.example.com", 200),
        ("http://pages.example.com", 403),
        ("https://example.com", 403),
        ("http://evil.example.net", 403),
        ("http://localhost:6274", 403),
        ("null", 403),
        ("http://[", 403),
        ("", 403),
    ],
)
def test_pages_of_other_origins_are_refused(
    host: McpHost, settings: Any, origin: str, status: int
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://pages.example.com", "https://*.apps.example.com"]
    answer = host.send("ping", Origin=origin)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["error"]["data"]["code"] == "origin_refused"


def test_a_host_that_is_not_ours_is_refused(host: McpHost) -> None:
    assert host.client.post("/mcp", {}, format="json", HTTP_HOST="evil.example").status_code == 400


def test_a_key_has_its_minute_here_as_anywhere(
    host: McpHost, settings: Any, tenant: Tenant
) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 3
    answers = [host.send("tools/call", {"name": "list_entities"}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert int(answers[3]["Retry-After"]) > 0
    assert answers[3].json()["error"]["data"]["code"] == "throttled"


def test_every_answer_has_a_request_id(host: McpHost) -> None:
    assert host.send("ping", X_Request_Id="abc")["X-Request-Id"] == "abc"
    assert host.send("ping")["X-Request-Id"]


def test_what_is_too_large_is_refused(host: McpHost, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2000
    assert host.send("ping").status_code == 200
    assert (
        host.send("tools/call", {"name": "add", "arguments": {"text": "x" * 2000}}).status_code
        == 413
    )


@pytest.mark.parametrize(
    "message",
    [
        [],
        {},
        "x",
        17,
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
    ],
)
def test_what_is_no_message_is_refused(host: McpHost, message: Any) -> None:
    answer = host.post(message)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == -32600
    assert error["message"].startswith(("The body must be ", "The id of a request must be "))


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a": "\\ud800"}'])
def test_what_is_no_json_is_refused(host: McpHost, body: bytes) -> None:
    sent = {"accept": ACCEPT}
    answer = host.client.post("/mcp", body, content_type="application/json", headers=sent)
    assert answer.status_code in (400, 411)


def test_unknown_methods_and_tools_are_errors_of_the_protocol(host: McpHost) -> None:
    assert host.send("memory/burn").json()["error"]["code"] == -32601
    unknown = host.send("tools/call", {"name": "burn"}).json()["error"]
    assert unknown["code"] == -32602
    assert "burn" in unknown["message"]


def test_a_notification_is_taken_without_an_answer(host: McpHost) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for each in (message, message | {"id": None}):
        answer = host.post(each)
        assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_hosts_of_every_version_are_greeted(host: McpHost, version: str) -> None:
    told = host.request_result(
        "initialize",
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    assert told["protocolVersion"] == version
    assert told["serverInfo"]["name"] == "memoryhub"
    assert told["serverInfo"]["version"] == __version__
    assert "instruction" in told["instructions"]
    assert {"tools", "resources", "prompts", "completions"} <= told["capabilities"].keys()


def test_a_host_of_a_version_that_nobody_knows_is_offered_the_latest(host: McpHost) -> None:
    info = {"name": "test", "version": "1"}
    told = host.request_result(
        "initialize", protocolVersion="1999-01-01", capabilities={}, clientInfo=info
    )
    assert told["protocolVersion"] == "2025-11-25"


def test_the_address_chooses_which_tools_are_shown(tenant: Tenant, host_of: HostOf) -> None:
    def shown(query: str) -> set[str]:
        return set(host_of(tenant, "admin", query=query).list_tools())

    names = {name: {tool.name for tool in tools} for name, tools in TOOL_SETS.items()}
    assert shown("") == names["hub"]
    assert shown("?tools=hub") == names["hub"]
    assert shown("?tools=openmemory,hub") == names["openmemory"] | names["hub"]
    answer = host_of(tenant, query="?tools=letta").send("tools/list")
    assert answer.status_code == 422
    assert answer.json()["error"]["data"]["errors"][0]["field"] == "tools"
    assert host_of(tenant, query="?tools=hub").call_tool("list_entities")["results"] == []


def test_X11_what_is_remembered_can_be_read_and_asked_with(host: McpHost, host_of: HostOf) -> None:
    host.call_tool("add_memory", text="The gate is green.", user_id="ana/work", infer=False)
    (found,) = host.request_result("resources/list")["resources"]
    assert found["uri"] == "memoryhub://spaces/ana%2Fwork/context"
    template = host.request_result("resources/templates/list")["resourceTemplates"][0]
    assert template["uriTemplate"] == "memoryhub://spaces/{subject}/context"
    (read,) = host.request_result("resources/read", uri=found["uri"])["contents"]
    assert read["uri"] == found["uri"]
    arguments = {"question": "Which colour is the gate?", "subject": "ana/work"}
    assert host.request_result("prompts/list")["prompts"][0]["name"] == "with_memory"
    memory, question = host.request_result("prompts/get", name="with_memory", arguments=arguments)[
        "messages"
    ]
    assert memory["content"]["text"].startswith("<memory>")
    assert "The gate is green." in memory["content"]["text"]
    assert question["content"]["text"] == arguments["question"]


def test_the_subject_of_the_address_is_the_only_resource_whatever_is_known(
    tenant: Tenant, host: McpHost, host_of: HostOf
) -> None:
    host.call_tool("add", text="The gate is green.", subject="rui")
    ana = host_of(tenant, query="?subject=ana")
    (found,) = ana.request_result("resources/list")["resources"]
    assert found["name"] == "ana"
    (read,) = ana.request_result("resources/read", uri=found["uri"])["contents"]
    assert read["text"] == "Nothing that is remembered bears on this."


def test_a_host_completes_the_name_of_a_subject_that_its_key_reaches(
    tenant: Tenant, host: McpHost, host_of: HostOf
) -> None:
    for subject in ("ana", "rui", "joana"):
        host.call_tool("add", text="The gate is green.", subject=subject)
    stranger = host_of(create_tenant("Two", "two"), "admin")
    prompt = {"type": "ref/prompt", "name": "with_memory"}
    template = {"type": "ref/resource", "uri": "memoryhub://spaces/{subject}/context"}
    for ref in (prompt, template):
        asked = {"ref": ref, "argument": {"name": "subject", "value": "AN"}}
        told = host.request_result("completion/complete", **asked)["completion"]
        assert sorted(told["values"]) == ["ana", "joana"]
        assert stranger.request_result("completion/complete", **asked)["completion"]["values"] == []
    other = {"ref": prompt, "argument": {"name": "question", "value": "a"}}
    assert host.request_result("completion/complete", **other)["completion"]["values"] == []


def test_people_can_have_a_conversation_remembered(tenant: Tenant, host_of: HostOf) -> None:
    writer = host_of(tenant, "write", query="?subject=ana")
    prompts = {each["name"]: each for each in writer.request_result("prompts/list")["prompts"]}
    assert all(each["title"] for each in prompts.values())
    (asked,) = writer.request_result("prompts/get", name="remember", arguments={})["messages"]
    assert "about ana" in asked["content"]["text"]
    assert "`add`" in asked["content"]["text"]
    reader = host_of(tenant, "read", query="?subject=ana")
    assert [e["name"] for e in reader.request_result("prompts/list")["prompts"]] == ["with_memory"]


def test_strangers_find_no_resource_and_no_prompt(host: McpHost, host_of: HostOf) -> None:
    host.call_tool("add_memory", text="The gate is green.", user_id="ana", infer=False)
    stranger = host_of(create_tenant("Two", "two"), "admin")
    assert stranger.request_result("resources/list")["resources"] == []
    for method, params in (
        ("resources/read", {"uri": "memoryhub://spaces/ana/context"}),
        ("prompts/get", {"name": "with_memory", "arguments": {"question": "x", "subject": "ana"}}),
        ("resources/read", {"uri": "file:///etc/passwd"}),
        ("prompts/get", {"name": "burn"}),
        ("prompts/get", {"name": "with_memory", "arguments": {}}),
    ):
        error = stranger.send(method, params).json()["error"]
        assert error["code"] == -32602
        assert "green" not in str(error)


def test_hosts_read_where_a_key_comes_from(client: Client, db: None, settings: Any) -> None:
    refused = client.post("/mcp", {}, content_type="application/json")
    assert refused.status_code == 401
    (address,) = re.findall(r'resource_metadata="([^"]+)"', refused["WWW-Authenticate"])
    for path in (urlsplit(address).path, "/.well-known/oauth-protected-resource"):
        told = client.get(path)
        assert told["Access-Control-Allow-Origin"] == "*"
        assert told.json()["resource"] == "http://testserver/mcp"
        assert told.json()["bearer_methods_supported"] == ["header"]
        assert "authorization_servers" not in told.json()
    settings.OAUTH_ISSUER = "https://id.example.com"
    named = client.get(path).json()["authorization_servers"]
    assert named == ["https://id.example.com"]
    assert client.post(path).status_code == 405
