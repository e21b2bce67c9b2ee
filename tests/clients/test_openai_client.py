"""The released client of OpenAI against a live server: only its address and key are changed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Event
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionChunk
from pytest_django.live_server_helper import LiveServer

from api.openai.stream import EventStream
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.docs.pages import ROOT, list_blocks
from tests.support.ingest import ingest_and_wait
from tests.support.openai_server import OpenAIServer, ScriptedReply, make_chunk

TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
ASKED: Any = [{"role": "user", "content": "Where do I live?"}]


@pytest.fixture
def upstream(settings: Any) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        settings.OPENAI_BASE_URL, settings.PROXY_MODELS = running.url, ["large"]
        yield running


@pytest.fixture
def tenant(live_server: LiveServer, worker: None) -> Tenant:
    """Ana has said where she lives."""
    tenant = create_tenant("One", "one")
    said = Message("user", "I live in Porto.", timestamp=datetime(2026, 5, 12, tzinfo=UTC))
    ingest_and_wait(tenant.id, IngestRequest("ana", [said]))
    return tenant


@pytest.fixture
def key(tenant: Tenant) -> str:
    return create_key(tenant, "chat", ["read", "write"])[1]


@pytest.fixture
def client(live_server: LiveServer, key: str) -> OpenAI:
    return OpenAI(base_url=f"{live_server.url}/openai/v1", api_key=key, max_retries=0)


def list_said_texts(tenant: Tenant) -> list[str]:
    with tenant_scope(tenant.id):
        return list(Turn.objects.order_by("seq").values_list("text", flat=True))[1:]


def test_a_chat_remembers_and_learns(
    client: OpenAI, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("In Porto.")
    raw = client.chat.completions.with_raw_response.create(
        model="gpt-x", user="ana", messages=ASKED, temperature=0.1
    )
    answer: Any = raw.parse()
    assert answer.choices[0].message.content == "In Porto."
    assert answer.usage.total_tokens == 15
    assert answer.memoryhub["recall_id"] == raw.headers["X-MemoryHub-Recall-Id"]
    assert "Porto" in upstream.requests[-1].text
    assert upstream.requests[-1].body["temperature"] == 0.1
    assert list_said_texts(tenant) == ["Where do I live?", "In Porto."]


def test_a_stream_comes_word_by_word_and_ends_with_what_was_used(
    client: OpenAI, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("In the town of Porto.")
    chunks: list[ChatCompletionChunk] = list(
        client.chat.completions.create(model="x", user="ana", messages=ASKED, stream=True)
    )
    told = "".join(each.choices[0].delta.content or "" for each in chunks)
    assert told == "In the town of Porto."
    last: Any = chunks[-1]
    assert last.choices[0].finish_reason == "stop"
    assert any("Porto" in item["text"] for item in last.memoryhub["items"])
    assert list_said_texts(tenant)[-1] == "In the town of Porto."


def test_the_clients_own_helper_for_streams_and_tools_works(
    client: OpenAI, upstream: OpenAIServer
) -> None:
    pieces = [make_chunk({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]})]
    upstream.script_chat(ScriptedReply(events=[*pieces, make_chunk({}, "tool_calls"), "[DONE]"]))
    with client.chat.completions.stream(
        model="x", user="ana", messages=ASKED, tools=[TOOL]
    ) as stream:
        for _ in stream:
            pass
        (call,) = stream.get_final_completion().choices[0].message.tool_calls or []
    assert call.function.name == "weather"


def test_a_client_that_hangs_up_leaves_what_was_said(
    client: OpenAI, upstream: OpenAIServer, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    close, closed = EventStream.close, Event()

    def closing(streamed: EventStream) -> None:
        close(streamed)
        closed.set()

    monkeypatch.setattr(EventStream, "close", closing)
    upstream.script_chat("In Porto.")
    with client.chat.completions.create(
        model="x", user="ana", messages=ASKED, stream=True
    ) as stream:
        next(iter(stream))
    assert closed.wait(60)
    assert list_said_texts(tenant)[0] == "Where do I live?"
    assert len(list_said_texts(tenant)) == 2


def test_a_response_remembers_and_learns(
    client: OpenAI, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("In Porto.")
    raw = client.responses.with_raw_response.create(
        model="gpt-x", user="ana", input="Where do I live?", instructions="Be brief."
    )
    answer: Any = raw.parse()
    assert (answer.output_text, answer.status) == ("In Porto.", "completed")
    assert answer.usage.total_tokens == 15
    assert answer.memoryhub["recall_id"] == raw.headers["X-MemoryHub-Recall-Id"]
    assert upstream.requests[-1].body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert "Porto" in upstream.requests[-1].text
    assert list_said_texts(tenant) == ["Where do I live?", "In Porto."]


def test_a_streamed_response_is_put_together_by_the_clients_own_helper(
    client: OpenAI, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("In the town of Porto.")
    with client.responses.stream(model="x", user="ana", input="Where do I live?") as stream:
        kinds = [event.type for event in stream]
        last: Any = stream.get_final_response()
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert last.output_text == "In the town of Porto."
    assert last.usage.output_tokens == 5
    assert any("Porto" in item["text"] for item in last.memoryhub["items"])
    assert list_said_texts(tenant)[-1] == "In the town of Porto."


def test_a_response_calls_a_function_and_reads_its_result(
    client: OpenAI, upstream: OpenAIServer
) -> None:
    pieces = [make_chunk({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]})]
    upstream.script_chat(
        ScriptedReply(events=[*pieces, make_chunk({}, "tool_calls"), "[DONE]"]), "Rain."
    )
    tool: Any = {"type": "function", **TOOL["function"]}
    asked: list[Any] = [{"role": "user", "content": "Does it rain where I live?"}]
    with client.responses.stream(model="x", user="ana", input=asked, tools=[tool]) as stream:
        for _ in stream:
            pass
        (call,) = stream.get_final_response().output
    assert call.type == "function_call"
    assert (call.name, call.call_id, call.arguments) == ("weather", "c1", "{}")
    assert upstream.requests[-1].body["tools"] == [TOOL]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
    back: Any = [*asked, call.to_dict(), result]
    answer = client.responses.create(model="x", user="ana", input=back, tools=[tool])
    assert answer.output_text == "Rain."
    sent = upstream.requests[-1].body["messages"]
    assert sent[1] == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert sent[2] == {"role": "tool", "tool_call_id": "c1", "content": "rain"}


def test_errors_are_the_clients_own(
    client: OpenAI, upstream: OpenAIServer, live_server: LiveServer, settings: Any
) -> None:
    def error(**changed: Any) -> Any:
        given = {"model": "x", "user": "ana", "messages": ASKED} | changed
        with pytest.raises(openai.APIError) as raised:
            list(client.chat.completions.create(**given))
        return raised.value

    upstream.script_chat(
        ScriptedReply(status=429, headers={"Retry-After": "3"}),
        ScriptedReply(status=400, error={"message": "No.", "param": "n", "code": "bad"}),
        ScriptedReply(status=401),
        ScriptedReply(raw="no json"),
        ScriptedReply(events=[make_chunk({"content": "In "})], is_cut=True),
    )
    limited = error()
    assert isinstance(limited, openai.RateLimitError)
    assert limited.response.headers["Retry-After"] == "3"
    bad = error(n=-1)
    assert (type(bad), bad.param, bad.code) == (openai.BadRequestError, "n", "bad")
    assert [type(error()), type(error())] == [openai.InternalServerError] * 2
    cut = error(stream=True)
    assert (type(cut), cut.code) == (openai.APIError, "unreachable")
    assert isinstance(error(user=""), openai.BadRequestError)
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    down = error()
    assert (type(down), down.status_code) == (openai.InternalServerError, 502)
    stranger = OpenAI(base_url=client.base_url, api_key="mh_none", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        stranger.models.list()


def test_a_client_waits_out_a_limit_by_itself(client: OpenAI, upstream: OpenAIServer) -> None:
    upstream.script_chat(ScriptedReply(status=429, headers={"Retry-After-Ms": "1"}), "In Porto.")
    patient = client.with_options(max_retries=1)
    answer = patient.chat.completions.create(model="x", user="ana", messages=ASKED)
    assert answer.choices[0].message.content == "In Porto."


def test_models_and_vectors_are_read(client: OpenAI, upstream: OpenAIServer) -> None:
    large, embedder = client.models.list().data
    assert client.models.retrieve(large.id) == large
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-x")
    packed = client.embeddings.create(model="text-embedding-3-small", input=["a dog", "a cat"])
    plain = client.embeddings.create(model="x", input="a dog", encoding_format="float")
    assert (packed.model, len(packed.data)) == (embedder.id, 2)
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding)
    assert packed.usage.total_tokens > 0


def test_the_pages_examples_do_what_they_say(
    key: str, live_server: LiveServer, upstream: OpenAIServer, tenant: Tenant
) -> None:
    upstream.script_chat("A fine name.", "Your dog is called Rex.", "Rex, of course.")
    shown = list_blocks(ROOT / "docs/how-to/openai-clients.md", "python")
    printed = []
    for block in shown:
        code = block.replace("http://127.0.0.1:8000", live_server.url).replace("mh_…", key)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "openai-clients.md", "exec"), {})
        printed.append(out.getvalue().splitlines())
    assert printed[0] == ["A fine name.", "learned"]
    assert printed[1][0] == "Your dog is called Rex."
    assert "Rex" in upstream.requests[1].text
    assert printed[2] == ["Rex, of course.", "learned"]
    assert "Rex" in upstream.requests[2].text
    assert list_said_texts(tenant)[-1] == "Rex, of course."
