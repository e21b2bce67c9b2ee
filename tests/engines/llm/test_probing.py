"""What a probe finds out about a model, and that calls begin with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.engines.llm.client.chat import ChatClient
from memoryhub.engines.llm.client.ladder import ask_model
from memoryhub.engines.llm.client.probe import (
    ModelCapabilities,
    build_informed_chat,
    probe_model,
    read_capabilities,
    save_capabilities,
)
from memoryhub.engines.llm.replies import SummaryReply
from memoryhub.errors import EngineError
from tests.support.openai_server import OpenAIServer, ScriptedReply

CITY = '{"city": "Lisbon"}'


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def tool_call() -> ScriptedReply:
    call = {"id": "c", "type": "function", "function": {"name": "remember", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return ScriptedReply(raw=json.dumps(body))


def test_a_model_that_can_everything(server: OpenAIServer) -> None:
    server.script_chat("Lisbon", CITY, CITY, CITY, tool_call())
    found = probe_model(server.url, "", "good")
    assert found.shapes == ["json_schema", "json_object", "text"]
    assert (found.tools, found.without, found.troubles) == (True, [], {})


def test_what_is_refused_or_no_json_is_found_out(server: OpenAIServer) -> None:
    server.refused_formats = frozenset({"json_schema"})
    server.script_chat(
        ScriptedReply(status=400, content="'max_tokens' is not supported"),
        ScriptedReply(status=400, content="'temperature' must be 1"),
        "Lisbon",
        "It is Lisbon.",
        f"```json\n{CITY}\n```",
        "I have no tools.",
    )
    found = probe_model(server.url, "", "odd")
    assert found.shapes == ["text"]
    assert found.without == ["max_tokens", "temperature"]
    assert not found.tools
    assert set(found.troubles) == {"json_schema", "json_object", "tools"}


def test_an_endpoint_that_can_not_be_asked_says_why(server: OpenAIServer) -> None:
    server.script_chat(ScriptedReply(status=401, content="wrong key"))
    with pytest.raises(EngineError, match="401"):
        probe_model(server.url, "", "any")


PAGE = ScriptedReply(raw="<html>Welcome</html>", headers={"Content-Type": "text/html"})


@pytest.mark.parametrize("reply", [PAGE, ScriptedReply(raw="{}"), ScriptedReply(raw="[]")])
def test_what_answers_but_not_like_a_model_says_so(
    server: OpenAIServer, reply: ScriptedReply
) -> None:
    server.script_chat(reply, reply)
    with pytest.raises(EngineError, match="unreadable reply"):
        probe_model(server.url, "k", "m")
    with pytest.raises(EngineError, match="unreadable reply"):
        ChatClient(server.url, "k", "m").complete([{"role": "user", "content": "?"}], "x", {})


def test_what_was_found_out_is_kept_and_begun_with(server: OpenAIServer, tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    save_capabilities(file, ModelCapabilities(server.url, "small", ["json_object"], ["max_tokens"]))
    save_capabilities(file, ModelCapabilities(server.url, "other", ["text"]))
    found = read_capabilities(file, f"{server.url}/", "small")
    assert found is not None
    assert found.shapes == ["json_object"]
    server.script_chat('{"summary": "Two cats."}')
    chat = build_informed_chat(server.url, "", "small", 5, 4000, file)
    ask_model(chat, "summarise", [{"role": "user", "content": "x"}], SummaryReply)
    body = server.requests[0].body
    assert body["response_format"] == {"type": "json_object"}
    assert "max_completion_tokens" in body


@pytest.mark.parametrize("text", ["", "[]", '{"small at x": {"strange": 1}}'])
def test_a_file_that_is_none_is_as_no_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(text)
    assert read_capabilities(file, "x", "small") is None


def test_the_command_prints_and_keeps(server: OpenAIServer, settings: Any, tmp_path: Path) -> None:
    settings.OPENAI_BASE_URL, settings.LLM_MODEL, settings.DATA_DIR = server.url, "small", tmp_path
    server.script_chat("Lisbon", CITY, CITY, CITY, "no tools")
    out, seen = StringIO(), StringIO()
    call_command("models", "probe", "--json", stdout=out, stderr=seen)
    assert json.loads(out.getvalue())[0]["model"] == "small"
    assert "json_schema, json_object, text" in seen.getvalue()
    assert read_capabilities(tmp_path / "models.json", server.url, "small") is not None


def test_the_command_without_an_endpoint_says_what_to_set(settings: Any) -> None:
    settings.OPENAI_BASE_URL = ""
    with pytest.raises(CommandError, match="OPENAI_BASE_URL"):
        call_command("models", "probe")


def test_a_model_that_thinks_its_tokens_away_gets_more_of_them() -> None:
    with OpenAIServer() as server:
        thinking = ScriptedReply(content="", finish_reason="length")
        server.script_chat(thinking, '{"city": "Lisbon"}', '{"city": "Lisbon"}')
        chat = ChatClient(server.url, "", "thinker", timeout=5, max_tokens=500)
        asked = [{"role": "system", "content": "Reply."}, {"role": "user", "content": "x" * 400}]
        assert chat.complete(asked, "answer", {}).text == '{"city": "Lisbon"}'
        chat.complete(asked, "answer", {})
        assert [request.body["max_tokens"] for request in server.requests] == [600, 2400, 2400]
