"""The chat with an agent that has tools: what it did is shown, and only that it did is stored."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.console.frame.text import wording
from memoryhub.console.pages.chat import exchanges
from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from personas.models import CoreBlock
from personas.window import WARNING_TEXT
from tests.console.test_chat import STREAM, read_stream_events
from tests.support.factories import make_member
from tests.support.hub import ScriptedHub


@pytest.fixture
def chat(hub: ScriptedHub, client: Client, monkeypatch: pytest.MonkeyPatch) -> ScriptedHub:
    # Wishes to forget are read by the local engine, which the script stands in for here.
    monkeypatch.setattr(exchanges, "asks_to_forget", lambda turn: False)
    monkeypatch.setattr(exchanges, "asks_to_keep", lambda turn: False)
    hub.tenant.engine = Tenant.Engine.LLM
    with tenant_scope(hub.tenant.id):
        hub.tenant.save()
    client.force_login(make_member(hub.tenant))
    return hub


def say_in_chat(client: Client, hub: ScriptedHub, text: str) -> str:
    address = reverse("chat-say", args=[hub.space.id])
    told = read_stream_events(client.post(address, {"text": text}, headers=STREAM))
    return "".join(put[2] for name, data in told if name == "put" for put in data)


def make_tool_call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "text": ""}


def test_steps_and_what_they_wrote_are_shown(client: Client, chat: ScriptedHub) -> None:
    chat.model.script(
        "agent_step",
        make_tool_call("core_append", label="human", text="Keeps bees.", heartbeat=True),
        make_tool_call("recall_search", query="<b>hives</b>"),
        make_tool_call("core_append", label="nowhere", text="x"),
        make_tool_call("send_message", text="Noted: you keep bees."),
    )
    page = say_in_chat(client, chat, "I keep bees.")
    assert "Noted: you keep bees." in page
    assert "Added to the block “human”" in page
    assert "Searched the conversation for “&lt;b&gt;hives&lt;/b&gt;”" in page
    assert "<b>hives</b>" not in page
    assert "there are: &#x27;human&#x27;, &#x27;persona&#x27;" in page
    with tenant_scope(chat.tenant.id):
        assert CoreBlock.objects.get(label="human").value == "Keeps bees."
        _, *inner, reply = Turn.objects.order_by("seq")
        assert [turn.role for turn in inner] == ["assistant", "tool"] * 3
        assert inner[0].text.startswith('core_append({"label": "human", "text": "Keeps bees."')
        assert inner[1].text.startswith("OK (")
        assert "Keeps bees." in inner[1].text
        assert inner[5].text.startswith("Failed (")
        assert {turn.state for turn in inner} == {Turn.State.PROCESSED}
        assert reply.metadata == {
            "quoted": False,
            "tools": ["core_append", "recall_search", "core_append", "send_message"],
        }
    assert "4 steps" in client.get(reverse("chat-with", args=[chat.space.id])).content.decode()


def test_the_agent_sees_blocks_window_and_message(client: Client, chat: ScriptedHub) -> None:
    chat.model.script("agent_step", {"text": "Hello Ana."}, {"text": "Bees."})
    say_in_chat(client, chat, "I keep bees.")
    say_in_chat(client, chat, "What do I keep?")
    messages = chat.model.list_calls("agent_step")[1]["messages"]
    assert messages[0]["content"].startswith("You talk with Ana.")
    assert "It holds 8000 tokens. When 70% of it are used" in messages[1]["content"]
    assert (
        "3 messages of this person's dialogue are in recall storage, 0 passages"
        in (messages[1]["content"])
    )
    assert "[memory block human: 0 of 2000 characters." in messages[2]["content"]
    assert [m["content"] for m in messages if m["role"] in ("user", "assistant")] == [
        "I keep bees.",
        "Hello Ana.",
        "What do I keep?",
    ]
    offered = {tool["name"] for tool in chat.model.list_calls("agent_step")[1]["tools"]}
    assert {"send_message", "core_replace", "recall_search", "archival_insert"} <= offered


def test_a_model_that_fails_leaves_the_message_stored(client: Client, chat: ScriptedHub) -> None:
    chat.model.script("agent_step", EngineError("the endpoint is closed"))
    page = say_in_chat(client, chat, "I keep bees.")
    assert "could not be answered: the endpoint is closed" in page
    with tenant_scope(chat.tenant.id):
        assert Turn.objects.get().text == "I keep bees."


def test_without_tools_the_answer_is_from_memory_as_before(
    client: Client, chat: ScriptedHub
) -> None:
    chat.set_policy(core__tools=False)
    page = say_in_chat(client, chat, "What do I keep?")
    assert chat.model.list_calls("agent_step") == []
    assert "What the agent did" not in page


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("core_rethink", {"label": "human"}, "Rewrote the block “human”"),
        (
            "recall_search",
            {"query": "bees", "page": 2},
            "Searched the conversation for “bees”, page 2",
        ),
        ("recall_search_dates", {"start": "2026-05-01"}, "Read the messages from 2026-05-01 to …"),
        ("wake_later", {"minutes": 5}, "Set a wake-up in 5 minutes"),
        ("format_disk", {}, "Tried to use “format_disk”"),
        ("core_append", "{label", "Tried to use “core_append”"),
    ],
)
def test_steps_in_words(tool: str, arguments: Any, words: str) -> None:
    assert wording.describe_step(tool, arguments) == words


def test_what_the_answer_flushes_no_worker_is_to_flush(client: Client, chat: ScriptedHub) -> None:
    chat.set_policy("memgpt", window__context_limit=1200)
    chat.model.script("fold_summary", {"text": "I was told a long story."})
    chat.model.script(
        "agent_step",
        *(make_tool_call("send_message", text=f"Go on, {number}.") for number in range(3)),
    )
    for words in (400, 400, 500):
        say_in_chat(client, chat, " ".join(["story"] * words))
    assert "I was told a long story." in str(chat.model.list_calls("agent_step")[-1]["messages"])
    with tenant_scope(chat.tenant.id):
        assert not Job.objects.filter(step=Job.Step.FOLD).exists()


def test_MG1_at_seven_tenths_of_its_window_the_chat_s_agent_is_warned_once(
    client: Client, chat: ScriptedHub
) -> None:
    chat.set_policy("memgpt", window__context_limit=1000)
    chat.model.allow(agent_step=make_tool_call("send_message", text="I see."))
    for number in range(9):
        say_in_chat(client, chat, f"topic{number} " + "word " * 80)
    calls = chat.model.list_calls("agent_step")
    warned = [[m["content"] for m in call["messages"]].count(WARNING_TEXT) for call in calls]
    assert (warned[0], warned[-1]) == (0, 1)
    assert warned == sorted(warned)
    with tenant_scope(chat.tenant.id):
        assert Turn.objects.filter(role="system", text=WARNING_TEXT).count() == 1
