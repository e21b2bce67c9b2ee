"""MemGPT where nobody speaks of windows: talk by one way in alone is warned of, flushed, summed up.

A client of OpenAI's protocol or a host that calls tools knows nothing of a window. What it says
fills one all the same, and what the window holds comes back to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memoryhub.tenants.services import create_key
from personas.window import WARNING_TEXT
from tests.agents.conftest import RestAgent
from tests.agents.test_long_sessions import fold_in_own_words, list_texts, make_exchange
from tests.api.mcp.conftest import McpHost
from tests.support.openai_server import OpenAIServer

EXCHANGES, KEPT_BY_CLIENT = 20, 4
Talk = Callable[[int], None]


@pytest.fixture
def upstream(settings: Any) -> Iterator[OpenAIServer]:
    server = OpenAIServer()
    with server:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.url, "k"
        settings.LLM_MODEL, settings.PROXY_MODELS = "strong", ["strong"]
        yield server


@pytest.fixture
def long_window(rest: RestAgent) -> RestAgent:
    rest.hub.set_policy("memgpt", window__context_limit=1000)
    rest.hub.model.allow(fold_summary=fold_in_own_words)
    return rest


@pytest.fixture
def host(rest: RestAgent) -> McpHost:
    _, key = create_key(rest.hub.tenant, "host", ["read", "write"])
    return McpHost(key)


def talk_until_flushed(rest: RestAgent, talk: Talk) -> dict[str, Any]:
    """The window after all exchanges, of which it was warned first and then flushed."""
    seen = []
    for number in range(EXCHANGES):
        talk(number)
        rest.run_due_jobs()
        (row,) = rest.client.get(rest.path).json()["items"]
        rest.window_id = row["id"]
        seen.append(rest.read())
    warned = [WARNING_TEXT in list_texts(shown) for shown in seen]
    flushed = [shown["head_seq"] > 0 for shown in seen]
    assert (warned[0], flushed[0]) == (False, False)
    assert warned.index(True) < flushed.index(True)
    assert all(shown["tokens"] <= 1000 for shown in seen)
    last = seen[-1]
    assert last["summary"].startswith("I am MemoryHub and heard of topic0 topic1 topic2")
    told = last["summary"].removesuffix(".").split()[6:]
    shown = [text.split()[0] for text in list_texts(last) if text.startswith("topic")]
    assert told + shown == [f"topic{number}" for number in range(EXCHANGES)]
    return last


@pytest.mark.parametrize("carries", [False, True], ids=["last_words_only", "with_history"])
def test_talk_through_the_proxy_alone(
    long_window: RestAgent, upstream: OpenAIServer, carries: bool
) -> None:
    history: list[dict[str, Any]] = []

    def talk(number: int) -> None:
        asked, answered = make_exchange(number)
        upstream.script_chat(answered["content"])
        kept = history[-KEPT_BY_CLIENT:] if carries else []
        body = {"model": "strong", "user": "Ana", "messages": [*kept, asked]}
        answer = long_window.client.post(
            "/openai/v1/chat/completions",
            body,
            format="json",
            headers={"X-MemoryHub-Session": "plain"},
        )
        assert answer.status_code == 200, answer.content
        assert answer.json()["memoryhub"]["learned"] == "learned"
        history.extend([asked, answered])

    last = talk_until_flushed(long_window, talk)
    talk(EXCHANGES)
    sent = upstream.requests[-1].text
    # The model has the summary, and of the queue each turn once.
    assert last["summary"] in sent
    newest = f"topic{EXCHANGES - 1} word{EXCHANGES - 1}"
    assert sent.count(newest) == 1
    assert "topic0 word0" not in sent


def test_talk_through_mcp_alone(long_window: RestAgent, host: McpHost) -> None:
    def talk(number: int) -> None:
        messages = make_exchange(number)
        host.call_tool("add", subject="Ana", session="plain", messages=messages)

    last = talk_until_flushed(long_window, talk)
    asked = {"subject": "Ana", "query": "What now?"}
    for session in ({"session": "plain"}, {}):
        text = host.call_tool("context", **asked, **session)["text"]
        assert last["summary"] in text
        assert f"topic{EXCHANGES - 1} word{EXCHANGES - 1}" in text
    assert last["summary"] in host.call_tool_for_text("search", **asked)


def test_a_conversation_that_begins_goes_on_from_the_one_before(
    long_window: RestAgent, host: McpHost
) -> None:
    """Until it has filled a window of its own."""

    def talk(session: str, number: int) -> None:
        host.call_tool("add", subject="Ana", session=session, messages=make_exchange(number))
        long_window.run_due_jobs()

    def read_context() -> str:
        asked = {"subject": "Ana", "query": "What now?", "session": "second"}
        return str(host.call_tool("context", **asked, budget_tokens=4000)["text"])

    for number in range(EXCHANGES):
        talk("first", number)
    first = f"topic{EXCHANGES - 1} "
    talk("second", 100)
    begun = read_context()
    assert "topic100 " in begun
    assert "heard of topic0 topic1" in begun
    assert first in begun
    assert WARNING_TEXT not in begun
    for number in range(101, 100 + EXCHANGES):
        talk("second", number)
    filled = read_context()
    assert "heard of topic100 topic101" in filled
    assert "heard of topic0 topic1" not in filled
    assert first not in filled
