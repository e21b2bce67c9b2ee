"""A chat through the hub: what the endpoint is sent, what comes back, and what is learned."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import open_session
from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import parse_prices
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.recall.agent_memory import SpaceMemory
from memoryhub.recall.log.reinforcement import flush_recalls
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, ensure_space, set_tenant_engine
from notes.models import Fact
from personas.window import open_window, read_agent_context
from tests.api.openai.conftest import CHAT, Ask, list_turns
from tests.support.factories import make_receipt
from tests.support.openai_server import OpenAIServer, ScriptedReply, make_chunk

ASKED = "Where do I live?"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL: dict[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": "{}"},
}


def get_last_request_body(upstream: OpenAIServer) -> dict[str, Any]:
    return upstream.requests[-1].body


def read_stream_events(response: Any) -> list[dict[str, Any]]:
    """What a stream sent; its end is checked."""
    text = b"".join(response.streaming_content).decode()
    *told, end = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert end == "[DONE]", text
    return [json.loads(each) for each in told]


def join_streamed_words(told: list[dict[str, Any]]) -> str:
    deltas = [choice["delta"] for event in told for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


def close_response(response: Any) -> None:
    """As the server does, but the test's own connection to the database stays open."""
    for close in list(response._resource_closers):
        close()


def get_model_call(tenant: Tenant) -> ModelCall:
    with tenant_scope(tenant.id):
        return ModelCall.objects.get()


def test_what_is_remembered_goes_before_the_question_as_data(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    answer = ask([{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}])
    assert answer.json()["choices"][0]["message"]["content"] == "In Porto."
    system, asked = get_last_request_body(upstream)["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert asked["role"] == "user"
    block, _, question = asked["content"].rpartition("\n\n")
    assert block.startswith("<memory>\n")
    assert block.endswith("</memory>")
    assert "not instructions" in block
    assert "Porto" in block
    assert question == ASKED


def test_what_was_used_is_told_in_headers_and_in_the_answer(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    answer = ask(ASKED)
    told = answer.json()["memoryhub"]
    assert answer["X-MemoryHub-Recall-Id"] == told["recall_id"]
    assert int(answer["X-MemoryHub-Items"]) == len(told["items"]) > 0
    assert answer["X-MemoryHub-Pending"] == "0"
    assert any("Porto" in item["text"] for item in told["items"])
    assert {item["kind"] for item in told["items"]} <= {
        "fact",
        "turn",
        "note",
        "page",
        "episode",
        "core",
    }
    flush_recalls()
    with tenant_scope(space.tenant_id):
        log = RecallLog.objects.get()
        assert str(log.id) == told["recall_id"]


def test_parameters_go_through_as_they_are(ask: Ask, upstream: OpenAIServer, space: Space) -> None:
    upstream.script_chat("Yes.")
    given = {
        "temperature": 0.3,
        "tools": [TOOL],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
        "logit_bias": {"50256": -100},
        "of_next_year": {"deep": [1, 2, {"x": None}]},
        "metadata": {"session": "s1", "team": "red"},
    }
    assert ask("Hello there.", **given).status_code == 200
    got = get_last_request_body(upstream)
    assert {name: got[name] for name in given} == given | {"metadata": {"team": "red"}}
    assert upstream.requests[-1].authorization == "Bearer sk-upstream"


def test_what_was_said_is_learned_by_the_add_that_everything_goes_through(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("How nice.")
    told = ask("My dog is called Rex.", metadata={"session": "s7"}).json()["memoryhub"]
    assert list_turns(space) == [("user", "My dog is called Rex."), ("assistant", "How nice.")]
    assert (told["learned"], len(told["turns"])) == ("learned", 2)
    assert told["job_id"]
    drain_space(space.tenant_id, space.id, datetime.now(UTC) + timedelta(hours=1))
    with tenant_scope(space.tenant_id):
        assert Fact.objects.filter(text__contains="Rex").count() == 1
        assert {turn.session.external_id for turn in Turn.objects.all()} == {"", "s7"}


def test_E27_what_was_recalled_is_no_news_when_the_model_repeats_it(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    with tenant_scope(space.tenant_id):
        before = sorted(Fact.objects.values_list("text", flat=True))
        (held,) = [text for text in before if "Porto" in text]
    upstream.script_chat(f"{held}.")
    ask(ASKED)
    drain_space(space.tenant_id, space.id, datetime.now(UTC) + timedelta(hours=1))
    with tenant_scope(space.tenant_id):
        assert sorted(Fact.objects.values_list("text", flat=True)) == before
    assert list_turns(space)[-1] == ("assistant", f"{held}.")


def test_a_new_subject_is_made_by_what_it_says_first(
    ask: Ask, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("Hello, Rui.")
    told = ask("I am Rui.", user="rui").json()["memoryhub"]
    assert (told["recall_id"], told["items"], told["learned"]) == (None, [], "learned")
    with tenant_scope(tenant.id):
        assert Space.objects.get().subject == "rui"


def test_a_call_of_a_tool_and_its_result_are_one_exchange(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat(
        ScriptedReply(content=None, finish_reason="tool_calls", message={"tool_calls": [CALL]}),
        "Seventeen degrees.",
    )
    asked = {"role": "user", "content": "How warm is it where I live?"}
    first = ask([asked], tools=[TOOL]).json()
    assert first["choices"][0]["message"]["tool_calls"] == [CALL]
    result = {"role": "tool", "tool_call_id": "c1", "content": "17"}
    talk = [asked, first["choices"][0]["message"], result]
    assert ask(talk, tools=[TOOL]).json()["choices"][0]["finish_reason"] == "stop"
    assert "Porto" in get_last_request_body(upstream)["messages"][0]["content"]
    assert get_last_request_body(upstream)["messages"][1:] == talk[1:]
    assert list_turns(space) == [("user", asked["content"]), ("assistant", "Seventeen degrees.")]


def test_in_a_named_session_calls_and_results_are_in_its_queue_and_in_recall(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    with tenant_scope(space.tenant_id):
        window = open_window(open_session(space, "s7", datetime.now(UTC)), 8000)
    calls = ScriptedReply(None, finish_reason="tool_calls", message={"tool_calls": [CALL]})
    upstream.script_chat(calls, "Seventeen degrees.")
    asked, named = {"role": "user", "content": "How warm is it?"}, {"session": "s7"}
    first = ask([asked], tools=[TOOL], metadata=named).json()
    result = {"role": "tool", "tool_call_id": "c1", "content": "17"}
    talk = [asked, first["choices"][0]["message"], result]
    ask(talk, tools=[TOOL], metadata=named)
    name = CALL["function"]["name"]
    assert [role for role, _ in list_turns(space)] == ["user", "assistant", "tool", "assistant"]
    with tenant_scope(space.tenant_id):
        policy = load_effective_policy(space).policy
        shown = read_agent_context(window.session, policy, count_tokens).messages
    told = [m for m in shown if m.role != "system"]
    assert [(m.role, m.tool, m.call_id) for m in told] == [
        ("user", "", ""),
        ("assistant", name, "c1"),
        ("tool", "", "c1"),
        ("assistant", "", ""),
    ]
    found = SpaceMemory(space, "", datetime.now(UTC)).search_turns(name, 1)
    assert [hit.text.startswith(f"{name}(") for hit in found.hits] == [True]
    upstream.script_chat("Ask a thermometer.")
    items = ask("How warm is it?").json()["memoryhub"]["items"]
    assert any("Seventeen degrees" in item["text"] for item in items)
    assert not any(item["text"].endswith(("17", "weather({})")) for item in items)


def test_memory_and_learning_can_be_left_out(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("I do not know.")
    off = {"X-MemoryHub-Recall": "off", "X-MemoryHub-Learn": "off"}
    answer = ask(ASKED, headers=off)
    assert get_last_request_body(upstream)["messages"] == [{"role": "user", "content": ASKED}]
    assert answer["X-MemoryHub-Recall-Id"] == ""
    assert answer.json()["memoryhub"]["learned"] == "off"
    assert list_turns(space) == []


def test_a_budget_bounds_what_is_added(ask: Ask, upstream: OpenAIServer, space: Space) -> None:
    upstream.script_chat("Yes.")
    told = ask(ASKED, headers={"X-MemoryHub-Budget": "100"}).json()["memoryhub"]
    assert 0 < told["tokens"] <= 100


def test_the_model_is_the_tenants_unless_a_listed_one_is_named(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any
) -> None:
    named = []
    for model in ("gpt-x", "small", 17):
        upstream.script_chat("Yes.")
        ask("Hello.", model=model)
        named.append(get_last_request_body(upstream)["model"])
    set_tenant_engine(space.tenant_id, Tenant.Engine.LLM)
    settings.LLM_MODEL = "own"
    upstream.script_chat("Yes.", "Yes.")
    ask("Hello.")
    named.append(get_last_request_body(upstream)["model"])
    set_policy(space.tenant_id, actor="test", overrides={"llm.model.proxy": "chatty"})
    ask("Hello.")
    named.append(get_last_request_body(upstream)["model"])
    assert named == ["large", "small", "large", "own", "chatty"]


def test_tokens_and_money_are_accounted_for(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any
) -> None:
    settings.MODEL_PRICES = parse_prices('{"large": {"prompt": 100000, "completion": 200000}}')
    upstream.script_chat("In Porto.")
    ask(ASKED)
    call = get_model_call(space_tenant(space))
    assert (call.purpose, call.model, call.status) == ("proxy", "large", "ok")
    assert (call.prompt_tokens, call.completion_tokens, float(call.cost)) == (10, 5, 2.0)
    assert (call.space_id, call.output) == (space.id, "In Porto.")
    assert call.input is not None
    assert call.input[0]["content"].endswith(ASKED)


def space_tenant(space: Space) -> Tenant:
    with tenant_scope(space.tenant_id):
        return Tenant.objects.get(id=space.tenant_id)


def test_a_request_repeated_under_its_key_asks_and_learns_once(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    key = {"Idempotency-Key": "k1"}
    first, second = ask(ASKED, headers=key), ask(ASKED, headers=key)
    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    assert second["X-MemoryHub-Recall-Id"] == first["X-MemoryHub-Recall-Id"]
    assert (len(upstream.requests), len(list_turns(space))) == (1, 2)
    other = ask("What else?", headers=key)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")


def test_a_key_of_a_request_is_of_one_subject(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    """Headers say whose memory: a kept answer must not tell another's."""
    upstream.script_chat("In Porto.", "I do not know.")
    ask(ASKED, headers={"Idempotency-Key": "k1"})
    other = ask(ASKED, headers={"Idempotency-Key": "k1", "X-MemoryHub-Space": "rui"})
    assert "Porto" not in other.content.decode()


# --- streams ---


def test_a_stream_ends_with_what_the_hub_did(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In the town of Porto.")
    response = ask(ASKED, stream=True)
    assert response["Content-Type"] == "text/event-stream"
    recall = response["X-MemoryHub-Recall-Id"]
    told = read_stream_events(response)
    assert join_streamed_words(told) == "In the town of Porto."
    assert [event["choices"][0]["finish_reason"] for event in told][-1] == "stop"
    assert ["memoryhub" in event for event in told] == [False] * (len(told) - 1) + [True]
    assert told[-1]["memoryhub"]["recall_id"] == recall != ""
    assert list_turns(space)[-1] == ("assistant", "In the town of Porto.")
    call = get_model_call(space_tenant(space))
    assert (call.prompt_tokens, call.completion_tokens) == (10, 5)


def test_tokens_are_told_to_who_asked_and_counted_anyway(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("Yes.", "Yes.")
    plain = read_stream_events(ask("Hello.", stream=True))
    counted = read_stream_events(ask("Hello.", stream=True, stream_options={"include_usage": True}))
    assert all(event["choices"] for event in plain)
    assert counted[-1]["usage"]["total_tokens"] == 15
    assert counted[-1]["choices"] == []
    assert counted[-1]["memoryhub"]["learned"] == "learned"


def test_an_endpoint_that_counts_no_tokens_has_them_estimated(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat(
        ScriptedReply(status=400, content="stream_options is not supported"),
        ScriptedReply("In the town of Porto.", counts=False),
    )
    assert (
        join_streamed_words(read_stream_events(ask(ASKED, stream=True))) == "In the town of Porto."
    )
    assert "stream_options" not in get_last_request_body(upstream)
    call = get_model_call(space_tenant(space))
    assert call.prompt_tokens > 10
    assert 5 <= call.completion_tokens <= 8


def test_choices_and_calls_of_tools_come_through_a_stream_whole(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    pieces: list[Any] = [
        make_chunk({"content": "One"}),
        make_chunk({"content": "Two"}, index=1),
        make_chunk({"tool_calls": [{"index": 0, **CALL}]}),
        make_chunk({}, "tool_calls"),
        make_chunk({"content": " more"}, index=1),
        make_chunk({}, "stop", index=1),
        "[DONE]",
    ]
    upstream.script_chat(ScriptedReply(events=pieces))
    told = read_stream_events(ask("Hello.", stream=True, n=2))
    told[-1].pop("memoryhub")
    assert told == pieces[:-1]
    assert list_turns(space) == [("user", "Hello."), ("assistant", "One")]


def test_a_client_that_hangs_up_has_said_and_heard_what_it_heard(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In the town of Porto, where the river ends.")
    response = ask(ASKED, stream=True)
    pieces = iter(response.streaming_content)
    for _ in range(4):
        next(pieces)
    close_response(response)
    assert list_turns(space) == [("user", ASKED), ("assistant", "In the town ")]
    call = get_model_call(space_tenant(space))
    assert (call.status, call.output) == ("ok", "In the town ")
    assert call.completion_tokens > 0
    close_response(response)
    assert len(list_turns(space)) == 2


def test_a_client_that_hangs_up_before_the_first_word_is_accounted_for(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    close_response(ask(ASKED, stream=True))
    assert list_turns(space) == [("user", ASKED)]
    assert get_model_call(space_tenant(space)).purpose == "proxy"


def test_a_stream_that_breaks_says_so_and_teaches_nothing(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    broken = [make_chunk({"content": "In "}), make_chunk({"content": "the "})]
    for reply in (
        ScriptedReply(events=broken, is_cut=True),
        ScriptedReply(events=[*broken, "[DONE]"]),
    ):
        upstream.script_chat(reply)
        text = b"".join(ask(ASKED, stream=True).streaming_content).decode()
        last = json.loads(text.split("data: ")[-1])
        assert last["error"]["code"] == "unreachable"
        assert last["error"]["type"] == "server_error"
        assert last["memoryhub"]["learned"] == "failed"
        assert "[DONE]" not in text
    assert list_turns(space) == []
    with tenant_scope(space.tenant_id):
        assert {call.status for call in ModelCall.objects.all()} == {"failed"}


@pytest.mark.parametrize(
    "events_",
    [[{"error": {"message": "out of memory"}}], ["[DONE]"], ["no json"], ["17"]],
    ids=["error", "empty", "words", "number"],
)
def test_a_stream_that_fails_before_its_first_word_has_a_status(
    ask: Ask, upstream: OpenAIServer, space: Space, events_: list[Any]
) -> None:
    upstream.script_chat(ScriptedReply(events=events_))
    answer = ask(ASKED, stream=True)
    assert answer.status_code == 502
    assert answer.json()["error"]["type"] == "server_error"
    assert list_turns(space) == []


def test_a_repeated_stream_is_learned_once(ask: Ask, upstream: OpenAIServer, space: Space) -> None:
    for _ in range(2):
        upstream.script_chat("In Porto.")
        read_stream_events(ask(ASKED, stream=True, headers={"Idempotency-Key": "k1"}))
    upstream.script_chat("Nothing.")
    read_stream_events(ask("What else?", stream=True, headers={"Idempotency-Key": "k1"}))
    assert [text for _, text in list_turns(space)] == [ASKED, "In Porto.", "What else?", "Nothing."]


def test_words_of_what_was_erased_meanwhile_are_kept_nowhere(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("In Porto.")
    response = ask(ASKED, stream=True)
    with tenant_scope(space.tenant_id):
        make_receipt(space_tenant(space), created_at=datetime.now(UTC))
    told = read_stream_events(response)
    assert told[-1]["memoryhub"]["learned"] == "erased"
    assert list_turns(space) == []
    call = get_model_call(space_tenant(space))
    assert (call.output, call.input, call.prompt_tokens) == ("", [], 10)


# --- who may ---


def test_a_key_that_only_reads_is_answered_and_teaches_nothing(
    tenant: Tenant, upstream: OpenAIServer, space: Space
) -> None:
    reader = APIClient(headers=make_key_header(tenant, "read"))
    upstream.script_chat("In Porto.")
    body = {"model": "x", "user": "ana", "messages": [{"role": "user", "content": ASKED}]}
    assert reader.post(CHAT, body, format="json").json()["memoryhub"]["learned"] == "off"
    assert list_turns(space) == []
    refused = reader.post(CHAT, body, format="json", headers={"X-MemoryHub-Learn": "on"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (403, "permission_error")
    unknown = reader.post(CHAT, body | {"user": "rui"}, format="json")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")


def make_key_header(tenant: Tenant, *scopes: str, space: Space | None = None) -> dict[str, str]:
    _, key = create_key(tenant, "test", scopes, space=space)
    return {"Authorization": f"Bearer {key}"}


def test_E30_a_key_of_one_subject_asks_for_that_one_and_for_no_other(
    tenant: Tenant, upstream: OpenAIServer, space: Space
) -> None:
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "rui")
    bound = APIClient(headers=make_key_header(tenant, "read", "write", space=space))
    body = {"model": "x", "messages": [{"role": "user", "content": ASKED}]}
    upstream.script_chat("In Porto.")
    assert "Porto" in json.dumps(bound.post(CHAT, body, format="json").json()["memoryhub"])
    for name in ("rui", "nobody"):
        answer = bound.post(CHAT, body | {"user": name}, format="json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert len(upstream.requests) == 1


def test_a_request_that_names_nobody_is_told_how_to(
    client: APIClient, upstream: OpenAIServer
) -> None:
    body = {"model": "x", "messages": [{"role": "user", "content": ASKED}]}
    error = client.post(CHAT, body, format="json").json()["error"]
    assert error["param"] == "X-MemoryHub-Space"
    assert "`user`" in error["message"]


def test_a_model_that_is_not_there_is_said_to_be_to_set(
    ask: Ask, space: Space, settings: Any
) -> None:
    settings.OPENAI_BASE_URL = ""
    missing = ask(ASKED)
    assert missing.status_code == 503
    assert missing["x-should-retry"] == "false"
    assert missing.json()["error"]["code"] == "engine_not_configured"
    assert "OPENAI_BASE_URL" in missing.json()["error"]["message"]
    settings.OPENAI_BASE_URL, settings.PROXY_MODELS = "http://127.0.0.1:9/v1", []
    assert "MEMORYHUB_PROXY_MODELS" in ask(ASKED).json()["error"]["message"]


def test_a_spent_budget_and_an_open_breaker_stop_it(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any
) -> None:
    set_policy(space.tenant_id, actor="test", overrides={"llm.budget_tokens_per_day": 15})
    upstream.script_chat("Yes.")
    ask("Hello.")
    spent = ask("Hello.")
    assert (spent.status_code, spent["x-should-retry"]) == (429, "false")
    assert spent.json()["error"]["type"] == "insufficient_quota"
    set_policy(space.tenant_id, actor="test", overrides={})
    settings.MODEL_BREAKER_FAILURES = 2
    upstream.script_chat(ScriptedReply(status=500), ScriptedReply(status=500))
    assert [ask("Hello.").status_code for _ in range(2)] == [502, 502]
    opened = ask("Hello.")
    assert (opened.status_code, opened.json()["error"]["code"]) == (503, "breaker_open")
    assert 0 < int(opened["Retry-After"]) <= 30


def test_requests_that_are_at_fault_themselves_open_no_breaker(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any
) -> None:
    settings.MODEL_BREAKER_FAILURES = 1
    own = {"message": "No such thing", "type": "invalid_request_error", "param": "n", "code": "bad"}
    upstream.script_chat(ScriptedReply(status=400, error=own), "Yes.")
    refused = ask("Hello.", n=-1)
    assert (refused.status_code, refused.json()["error"]) == (400, own)
    assert ask("Hello.").status_code == 200


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (ScriptedReply(status=401), 502, "endpoint_refused"),
        (ScriptedReply(status=403), 502, "endpoint_refused"),
        (ScriptedReply(status=404), 404, "request_refused"),
        (ScriptedReply(status=422), 422, "request_refused"),
        (ScriptedReply(status=429, headers={"Retry-After": "7"}), 429, "rate_limited"),
        (ScriptedReply(status=500), 502, "endpoint_refused"),
        (ScriptedReply(status=503), 503, "endpoint_refused"),
        (ScriptedReply(raw="no json"), 502, "engine_failed"),
        (ScriptedReply(raw="{}"), 502, "engine_failed"),
    ],
    ids=lambda each: str(getattr(each, "status", "")),
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_endpoint_are_told_as_ours_or_as_the_requests(
    ask: Ask,
    upstream: OpenAIServer,
    space: Space,
    *,
    reply: ScriptedReply,
    status: int,
    code: str,
    stream: bool,
) -> None:
    upstream.script_chat(reply)
    answer = ask("Hello.", stream=stream)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.headers.get("Retry-After") == reply.headers.get("Retry-After")
    assert "sk-upstream" not in answer.content.decode()
    assert list_turns(space) == []


def test_an_endpoint_that_is_down_or_slow_is_told_apart(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any
) -> None:
    settings.PROXY_TIMEOUT_SECONDS = 0.05
    upstream.script_chat(ScriptedReply("Yes.", delay=1.0))
    slow = ask("Hello.")
    assert (slow.status_code, slow.json()["error"]["code"]) == (504, "timeout")
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    down = ask("Hello.")
    assert (down.status_code, down.json()["error"]["code"]) == (502, "unreachable")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": ["Hi."]}, "messages[0]"),
        ({"stream": "yes"}, "stream"),
        ({"user": "x" * 201}, "user"),
    ],
)
def test_requests_that_cannot_be_read_name_what_is_wrong(
    ask: Ask, upstream: OpenAIServer, space: Space, body: dict[str, Any], param: str
) -> None:
    answer = ask("Hello.", **body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert upstream.requests == []


def test_half_a_character_can_neither_be_asked_nor_embedded(
    client: APIClient, upstream: OpenAIServer, space: Space
) -> None:
    """As JSON escapes it: Python's own client could not even send it."""
    half = (
        r'{"user": "ana", "messages": [{"role": "user", "content": "\ud800"}], "input": "\ud800"}'
    )
    for path, param in ((CHAT, "messages"), ("/openai/v1/embeddings", "input[0]")):
        answer = client.post(path, half, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert upstream.requests == []


def test_words_that_cannot_be_kept_are_answered_all_the_same(
    ask: Ask, upstream: OpenAIServer, space: Space
) -> None:
    upstream.script_chat("Nothing.", "Yes.")
    huge = ask("x" * (1024 * 1024 + 1), headers={"X-MemoryHub-Recall": "off"})
    told = huge.json()["memoryhub"]
    assert (huge.status_code, told["learned"]) == (200, "failed")
    assert "bytes" in told["trouble"]
    assert ask("a\0b").status_code == 200
    assert list_turns(space) == [("user", "ab"), ("assistant", "Yes.")]


def test_limits_of_a_key_hold_here_too(
    ask: Ask, upstream: OpenAIServer, space: Space, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 1
    monkeypatch.setattr("api.core.rate_limit.WINDOW_SECONDS", 10**9)
    upstream.script_chat("Yes.")
    assert ask("Hello.", stream=True)["RateLimit-Remaining"] == "0"
    refused = ask("Hello.")
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limit_error")
    assert int(refused["Retry-After"]) > 0
