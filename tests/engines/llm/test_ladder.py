"""The strict JSON ladder (spec §0.1) and the dialects of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memoryhub.engines.llm.client.chat import ChatClient
from memoryhub.engines.llm.client.ladder import (
    UnreadableReplyError,
    ask_model,
    build_strict_schema,
    parse_reply,
)
from memoryhub.engines.llm.replies import (
    AnswerReply,
    ConstructReply,
    NoteReply,
    SummaryReply,
)
from memoryhub.errors import EngineError
from tests.support.openai_server import OpenAIServer, ScriptedReply

GOOD = '{"summary": "Two cats."}'
MESSAGES = [{"role": "user", "content": "summarise"}]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def ask_for_summary(server: OpenAIServer, **options: Any) -> str:
    return ask_model(
        ChatClient(server.url, "key", "small", **options), "summarise", MESSAGES, SummaryReply
    ).summary


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are:\n{GOOD}\nAnything else?",
        f"<think>maybe {{}}?</think>{GOOD}",
        f"I should think {{hard}}...</think>\n{GOOD}",
        '{"summary": {"text": "Two cats."}}',
    ],
)
def test_a_reply_is_dug_out_of_what_surrounds_it(text: str) -> None:
    assert parse_reply(text, SummaryReply).summary == "Two cats."


def test_cheap_coercions() -> None:
    note = parse_reply('{"keywords": "cats", "tags": null, "context": 7}', NoteReply)
    assert (note.keywords, note.tags, note.context) == (["cats"], [], "7")
    answer = parse_reply('{"answer": "Two.", "used": "m1", "known": "true"}', AnswerReply)
    assert (answer.used, answer.known) == (["m1"], True)


@pytest.mark.parametrize(
    "text",
    ["", "I'm sorry, I can't help with that.", "[1, 2]", "{}", '{"summary": ""}', '{"summary": "a'],
)
def test_what_is_no_reply_is_never_read_as_one(text: str) -> None:
    with pytest.raises(UnreadableReplyError):
        parse_reply(text, SummaryReply)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"error": {"message": "rate limit reached", "facts": "none"}}',
        json.dumps(build_strict_schema(NoteReply)),
        '{"type": "object", "properties": {"facts": []}}',
    ],
)
def test_E12_E15_what_has_no_field_asked_for_is_no_reply(text: str) -> None:
    for shape in (NoteReply, ConstructReply):
        with pytest.raises(UnreadableReplyError):
            parse_reply(text, shape)


def test_a_reply_inside_a_key_of_the_models_own_is_taken() -> None:
    assert parse_reply('{"result": {"summary": "Two cats."}}', SummaryReply).summary == "Two cats."


def test_one_repair_call_carries_the_fault(server: OpenAIServer) -> None:
    server.script_chat('{"sum": "cats"}', GOOD)
    assert ask_for_summary(server) == "Two cats."
    again = server.requests[1].body["messages"]
    assert [each["role"] for each in again] == ["user", "assistant", "user"]
    assert again[1]["content"] == '{"sum": "cats"}'
    assert "summary: Field required" in again[2]["content"]


def test_after_the_repair_it_has_failed(server: OpenAIServer) -> None:
    server.script_chat("nonsense", "more nonsense", GOOD)
    with pytest.raises(EngineError, match="no usable reply") as raised:
        ask_for_summary(server)
    assert (raised.value.code, raised.value.permanent) == ("unreadable_reply", False)
    assert len(server.requests) == 2


def test_E15_a_refusal_has_failed(server: OpenAIServer) -> None:
    refusal = ScriptedReply(content=None, refusal="I can't help with that.")
    server.script_chat(refusal)
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server)
    assert (raised.value.code, raised.value.permanent) == ("refused", False)
    assert len(server.requests) == 1


def test_a_cut_reply_has_failed_even_when_it_parses(server: OpenAIServer) -> None:
    server.script_chat(ScriptedReply(content=GOOD, finish_reason="length"))
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server)
    assert raised.value.code == "reply_cut"


@pytest.mark.parametrize(("limit", "left"), [("maxItems", (None, 500)), ("maxLength", (12, None))])
def test_lists_and_texts_have_a_greatest_length_unless_an_endpoint_refuses_it(
    server: OpenAIServer, limit: str, left: tuple[int | None, int | None]
) -> None:
    note = '{"keywords": ["cats"], "tags": [], "context": "Pets."}'
    refusal = ScriptedReply(status=400, content=f"'{limit}' is not permitted")
    server.script_chat(refusal, note, note)
    chat = ChatClient(server.url, "key", "small")
    ask_model(chat, "note_build", MESSAGES, NoteReply)
    ask_model(chat, "note_build", MESSAGES, NoteReply)
    formats = [request.body["response_format"] for request in server.requests]
    assert {each["type"] for each in formats} == {"json_schema"}
    schemas = [each["json_schema"]["schema"]["properties"] for each in formats]
    told = [
        (each["keywords"].get("maxItems"), each["context"].get("maxLength")) for each in schemas
    ]
    assert told == [(12, 500), left, left]


def test_a_longer_list_than_asked_for_costs_nothing() -> None:
    reply = json.dumps({"keywords": [f"k{n}" for n in range(30)], "tags": [], "context": ""})
    assert len(parse_reply(reply, NoteReply).keywords) == 30


def test_the_schema_is_asked_for_strictly(server: OpenAIServer) -> None:
    server.script_chat(GOOD)
    ask_for_summary(server)
    body = server.requests[0].body
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["summary"]


def test_a_strict_schema_requires_every_property_of_every_part() -> None:
    schema = build_strict_schema(ConstructReply)
    parts = [schema, *schema["$defs"].values()]
    assert all(set(part["required"]) == set(part["properties"]) for part in parts)
    assert all(part["additionalProperties"] is False for part in parts)
    assert '"default"' not in json.dumps(schema)
    assert {"from", "to"} <= set(schema["$defs"]["ChangeReply"]["properties"])


@pytest.mark.parametrize(
    ("refused", "used"),
    [
        ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", None, None]),
    ],
)
def test_weaker_ways_to_ask_are_tried_and_remembered(
    server: OpenAIServer, refused: set[str], used: list[str | None]
) -> None:
    server.refused_formats = frozenset(refused)
    server.script_chat(GOOD, GOOD)
    chat = ChatClient(server.url, "", "small")
    for _ in range(2):
        assert ask_model(chat, "summarise", MESSAGES, SummaryReply).summary == "Two cats."
    shapes = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert shapes == used


def test_options_a_model_refuses_by_name_are_left_out(server: OpenAIServer) -> None:
    server.script_chat(
        ScriptedReply(status=400, content="'max_tokens' is not supported"),
        ScriptedReply(status=400, content="'temperature' does not support 0"),
        GOOD,
    )
    assert ask_for_summary(server) == "Two cats."
    last = server.requests[-1].body
    assert "max_completion_tokens" in last
    assert not {"max_tokens", "temperature"} & set(last)


def test_too_long_a_prompt_is_told_from_other_refusals(server: OpenAIServer) -> None:
    server.script_chat(ScriptedReply(status=400, content="request exceeds the context size"))
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server)
    assert (raised.value.code, raised.value.permanent) == ("context_exceeded", True)


@pytest.mark.parametrize(
    ("status", "permanent"),
    [(400, True), (401, True), (403, True), (404, True), (429, False), (500, False), (502, False)],
)
def test_status_decides_whether_a_retry_can_help(
    server: OpenAIServer, status: int, permanent: bool
) -> None:
    server.script_chat(*[ScriptedReply(status=status)] * 3)
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server)
    assert raised.value.permanent is permanent


def test_a_slow_model_times_out_and_may_be_retried(server: OpenAIServer) -> None:
    server.script_chat(ScriptedReply(content=GOOD, delay=1.0))
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server, timeout=0.1)
    assert (raised.value.code, raised.value.permanent) == ("timeout", False)


@pytest.mark.parametrize("raw", ["<html>proxy</html>", "{}", "", '{"choices": []}'])
def test_a_reply_outside_the_protocol_may_be_retried(server: OpenAIServer, raw: str) -> None:
    server.script_chat(ScriptedReply(raw=raw))
    with pytest.raises(EngineError) as raised:
        ask_for_summary(server)
    assert not raised.value.permanent
