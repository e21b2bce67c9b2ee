"""An agent's steps by the endpoint's own tool calls, where it has them, and by JSON elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from memoryhub.engines.ledger import CallRecord, use_ledger
from memoryhub.engines.llm.client.probe import ModelCapabilities, save_capabilities
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.packaged_prompts import read_template
from memoryhub.engines.types import AgentContext, AgentMessage, AgentStep, AgentTool
from memoryhub.errors import EngineError
from tests.support.openai_server import OpenAIServer, ScriptedReply

LOOK = AgentTool("look", "Look.", {"type": "object", "properties": {"query": {"type": "string"}}})
HEARD = [AgentMessage("system", "You talk with Ana."), AgentMessage("user", "Where is it?")]
LOOKED = [
    AgentMessage("assistant", "Let me see.", "c1", "look", '{"query": "it"}'),
    AgentMessage("tool", "OK: in Porto", "c1", "look"),
]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def connect(server: OpenAIServer, folder: Path, *, tools: bool) -> LLMEngine:
    """An engine on a model of which a probe has found whether it calls tools."""
    found = ModelCapabilities(server.url, "small", ["json_schema"], tools=tools)
    save_capabilities(folder / "models.json", found)
    return LLMEngine.connect(server.url, "", "small", timeout=5, probed=folder / "models.json")


def choose_step(engine: LLMEngine, messages: Sequence[AgentMessage] = HEARD) -> AgentStep:
    return engine.choose_agent_step(AgentContext(messages, [LOOK]))


def script_calls(server: OpenAIServer, *calls: tuple[str, str], content: str | None = None) -> None:
    made = [
        {"id": f"x{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    reply = ScriptedReply(content, message={"tool_calls": made}, finish_reason="tool_calls")
    server.script_chat(reply)


def test_a_step_is_the_endpoints_own_tool_call(server: OpenAIServer, tmp_path: Path) -> None:
    script_calls(server, ("look", '{"query": "it"}'), content="<think>Hm.</think>I look.")
    step = choose_step(connect(server, tmp_path, tools=True))
    assert step == AgentStep("look", '{"query": "it"}', text="I look.")
    (request,) = server.requests
    assert "response_format" not in request.body
    assert request.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Look.",
                "parameters": dict(LOOK.parameters),
            },
        }
    ]
    assert request.body["messages"] == [
        {"role": "system", "content": read_template("agent_step")},
        {"role": "system", "content": "You talk with Ana."},
        {"role": "user", "content": "Where is it?"},
    ]


def test_what_it_did_before_is_shown_as_calls_with_their_results(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.script_chat("In Porto.")
    step = choose_step(connect(server, tmp_path, tools=True), [*HEARD, *LOOKED])
    assert step == AgentStep(text="In Porto.")
    called, answered = server.requests[0].body["messages"][-2:]
    assert called["content"] == "Let me see."
    assert called["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "look", "arguments": '{"query": "it"}'},
        }
    ]
    assert answered == {"role": "tool", "tool_call_id": "c1", "content": "OK: in Porto"}


def test_calls_of_one_reply_go_together_and_half_a_pair_in_words(
    server: OpenAIServer, tmp_path: Path
) -> None:
    call, result = LOOKED
    both = [
        call,
        AgentMessage("assistant", "", "c2", "look", "{}"),
        result,
        AgentMessage("tool", "OK: nothing", "c2"),
    ]
    server.script_chat("Yes.")
    choose_step(connect(server, tmp_path, tools=True), [*both, call, *HEARD, result])
    sent = server.requests[0].body["messages"][1:]
    assert [m["role"] for m in sent] == [
        "assistant",
        "tool",
        "tool",
        "assistant",
        "system",
        "user",
        "user",
    ]
    assert [each["id"] for each in sent[0]["tool_calls"]] == ["c1", "c2"]
    assert sent[3] == {"role": "assistant", "content": 'Let me see.\nlook({"query": "it"})'}
    assert sent[6] == {"role": "user", "content": "[look]\nOK: in Porto"}


def test_without_tool_calls_of_its_own_it_replies_with_json(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.script_chat('{"tool": "look", "arguments": {"query": "it"}, "text": ""}')
    step = choose_step(connect(server, tmp_path, tools=False), [*HEARD, *LOOKED])
    assert (step.tool, json.loads(step.arguments)) == ("look", {"query": "it"})
    body = server.requests[0].body
    assert "tools" not in body
    assert json.loads(body["messages"][1]["content"])["tools"][0]["name"] == "look"


def test_an_endpoint_that_refuses_tools_after_all_is_asked_by_json_from_then_on(
    server: OpenAIServer, tmp_path: Path
) -> None:
    said = '{"tool": "", "arguments": {}, "text": "Hello."}'
    server.script_chat(ScriptedReply(status=400, content="no tools here"), said, said)
    engine = connect(server, tmp_path, tools=True)
    assert [choose_step(engine).text, choose_step(engine).text] == ["Hello.", "Hello."]
    assert ["tools" in request.body for request in server.requests] == [True, False, False]


def test_what_it_refuses_by_name_is_left_out(server: OpenAIServer, tmp_path: Path) -> None:
    refusal = ScriptedReply(status=400, content="'parallel_tool_calls' is not supported")
    server.script_chat(refusal, "Yes.")
    assert choose_step(connect(server, tmp_path, tools=True)).text == "Yes."
    asked = ["parallel_tool_calls" in request.body for request in server.requests]
    assert asked == [True, False]
    assert all("tools" in request.body for request in server.requests)


def test_an_outage_is_no_reason_to_ask_otherwise(server: OpenAIServer, tmp_path: Path) -> None:
    server.script_chat(ScriptedReply(status=503, content="away"))
    with pytest.raises(EngineError, match="503"):
        choose_step(connect(server, tmp_path, tools=True))
    assert len(server.requests) == 1


class KeptLedger:
    """Keeps what was asked."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []
        self.dropped: list[tuple[str, int]] = []

    def check_allowed(self, purpose: str, model: str) -> None: ...

    def record_call(self, call: CallRecord) -> None:
        self.calls.append(call)

    def count_rejected_items(self, purpose: str, count: int) -> None:
        self.dropped.append((purpose, count))


def test_it_is_accounted_for_and_further_calls_are_counted(
    server: OpenAIServer, tmp_path: Path
) -> None:
    script_calls(server, ("look", '{"query": "a"}'), ("look", '{"query": "b"}'))
    ledger: Any = KeptLedger()
    with use_ledger(ledger):
        step = choose_step(connect(server, tmp_path, tools=True), [*HEARD, *LOOKED])
    assert step.arguments == '{"query": "a"}'
    (call,) = ledger.calls
    assert (call.purpose, call.template) == ("agent_step", "agent_step.v2")
    assert (call.output, call.prompt_tokens, call.attempts) == ('look({"query": "a"})', 10, 1)
    assert '"name": "look"' in call.messages[3]["content"]
    assert ledger.dropped == [("agent_step", 1)]


def test_a_call_cut_off_has_its_tokens_counted(server: OpenAIServer, tmp_path: Path) -> None:
    server.script_chat(ScriptedReply("I loo", finish_reason="length"))
    ledger: Any = KeptLedger()
    with use_ledger(ledger), pytest.raises(EngineError, match="cut off"):
        choose_step(connect(server, tmp_path, tools=True))
    (call,) = ledger.calls
    assert (call.status, call.output, call.prompt_tokens) == ("failed", "I loo", 10)
