"""Responses: asked for as chats, told event by event, with memory as ever."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from api.openai.responses_request import build_chat_request
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from tests.api.openai.conftest import list_turns
from tests.support.openai_server import OpenAIServer, ScriptedReply, make_chunk

PATH = "/openai/v1/responses"


def post_response_request(client: APIClient, headers: Any = None, **body: Any) -> Any:
    asked = {"model": "gpt-x", "user": "ana", "input": "Where do I live?"} | body
    return client.post(PATH, asked, format="json", headers=headers or {})


def read_stream_events(answer: Any) -> list[dict[str, Any]]:
    told = b"".join(answer.streaming_content).decode()
    data = [line for line in told.split("\n") if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in data]


def test_what_is_asked_is_asked_as_a_chat() -> None:
    url = "data:image/png;base64,AA=="
    words = [{"type": "input_text", "text": "One."}, {"type": "input_text", "text": "Two."}]
    calls = [
        {"type": "function_call", "call_id": at, "name": "f", "arguments": "{}"} for at in "ab"
    ]
    picture = {"type": "input_image", "image_url": url}
    chat = build_chat_request(
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": "Plainly."},
                {"type": "message", "role": "user", "content": [*words, picture]},
                {"type": "reasoning", "summary": []},
                *calls,
                {"type": "function_call_output", "call_id": "a", "output": words},
            ],
            "max_output_tokens": 9,
            "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}},
            "tool_choice": {"type": "function", "name": "f"},
            "store": True,
            "previous_response_id": None,
            "background": False,
        }
    )
    parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    function = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    called = [{"id": "a", **function}, {"id": "b", **function}]
    assert chat.pop("messages") == [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Plainly."},
        {"role": "user", "content": [*parts, {"type": "image_url", "image_url": {"url": url}}]},
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "tool_call_id": "a", "content": "One.\nTwo."},
    ]
    schema = {"name": "n", "schema": {}, "strict": True}
    assert chat == {
        "max_tokens": 9,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": schema},
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": ["Hi."]}, "input[0]"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "Hi."}]}, "input[0]"),
        ({"input": [{"role": [], "content": "Hi."}]}, "input[0]"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input[0].content[0]"),
        ({"input": "Hi.", "instructions": 3}, "instructions"),
        ({"input": "Hi.", "text": "json"}, "text"),
        ({"input": "Hi.", "tools": {}}, "tools"),
        ({"input": "Hi.", "tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"input": "Hi.", "tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"input": "Hi.", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": "Hi.", "background": True}, "background"),
    ],
)
def test_what_a_chat_does_not_have_is_refused_by_its_name(body: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as told:
        build_chat_request(body)
    assert told.value.field == field


def test_a_response_has_what_the_hub_did_and_is_learned(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    answer = post_response_request(
        client, temperature=0, parallel_tool_calls=False, metadata={"session": "s", "k": "1"}
    )
    told = answer.json()
    assert told["output"][0]["content"][0]["text"] == "In Porto."
    assert (told["status"], told["temperature"], told["store"]) == ("completed", 0, False)
    assert told["parallel_tool_calls"] is False
    assert told["memoryhub"]["learned"] == "learned"
    assert answer["X-MemoryHub-Recall-Id"] == told["memoryhub"]["recall_id"]
    assert upstream.requests[-1].body["metadata"] == {"k": "1"}
    assert list_turns(space) == [("user", "Where do I live?"), ("assistant", "In Porto.")]


def test_an_answer_that_was_cut_short_says_so(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat(*[ScriptedReply("In", finish_reason="length")] * 2)
    told = post_response_request(client).json()
    assert told["status"] == "incomplete"
    assert told["incomplete_details"] == {"reason": "max_output_tokens"}
    assert (
        read_stream_events(post_response_request(client, stream=True))[-1]["type"]
        == "response.incomplete"
    )


def test_the_same_request_under_its_key_is_answered_alike(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    first, again = (
        post_response_request(client, headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert len(upstream.requests) == 1


def test_events_are_numbered_and_end_with_the_whole_response(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    told = read_stream_events(post_response_request(client, stream=True))
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    words = [each["delta"] for each in told if each["type"] == "response.output_text.delta"]
    assert "".join(words) == "In Porto."
    last = told[-1]["response"]
    assert (told[-1]["type"], last["status"]) == ("response.completed", "completed")
    assert last["output"][0]["status"] == "completed"
    assert last["usage"]["total_tokens"] == 15
    assert last["memoryhub"]["learned"] == "learned"


def test_a_stream_that_breaks_has_failed_and_teaches_nothing(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat(ScriptedReply(events=[make_chunk({"content": "In "})], is_cut=True))
    last = read_stream_events(post_response_request(client, stream=True))[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["error"]["code"] == "server_error"
    assert last["response"]["memoryhub"]["learned"] == "failed"
    assert list_turns(space) == []


def test_errors_come_in_the_clients_shape(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    answer = post_response_request(client, previous_response_id="resp_1")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "previous_response_id"
    assert upstream.requests == []
