"""An agent's turn at its window: every step is kept, and the window looked at in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryhub.dialogues.models import Turn
from memoryhub.recall.agent_memory import SpaceMemory
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Note
from personas.window import WARNING_TEXT
from tests.agents.conftest import RestAgent
from tests.support.hub import ScriptedHub

Call = Callable[..., dict[str, Any]]


def list_shown(hub: ScriptedHub) -> list[list[str]]:
    """By step, the messages that the model was shown."""
    calls = hub.model.list_calls("agent_step")
    return [[message["content"] for message in call["messages"]] for call in calls]


def search_recall(hub: ScriptedHub, query: str) -> list[str]:
    found = SpaceMemory(hub.space, "tutor", hub.now).search_turns(query, 1)
    return [hit.text for hit in found.hits]


def test_a_turn_says_what_it_did_and_keeps_every_step(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.hub.model.script(
        "agent_step",
        call("core_append", label="human", text="Keeps bees.", heartbeat=True),
        call("send_message", text="Noted: you keep bees."),
    )
    made = rest.step("I keep bees.")
    assert (made["said"], made["ending"]) == (["Noted: you keep bees."], "yielded")
    assert [(step["tool"], step["ok"]) for step in made["steps"]] == [
        ("core_append", True),
        ("send_message", True),
    ]
    shown = [m for m in rest.read()["messages"] if m["role"] != "system"]
    assert [m["role"] for m in shown] == ["user", "assistant", "tool", "assistant"]
    asked, answered = shown[1], shown[2]
    assert (asked["tool"], asked["call_id"]) == ("core_append", answered["call_id"])
    assert '"Keeps bees."' in asked["arguments"]
    # Both are in recall storage, and nothing is derived from them.
    found = search_recall(rest.hub, "core_append bees")
    assert found == [asked_text for asked_text in found if "core_append(" in asked_text]
    assert any(text.startswith("OK (") for text in search_recall(rest.hub, "block bees"))
    assert rest.hub.space.speakers == ["Ana", "tutor"]
    rest.run_due_jobs(hours=1)
    with tenant_scope(rest.hub.tenant.id):
        assert not Fact.objects.filter(text__contains="core_append").exists()
    context = {"subject": "Ana", "query": "bees"}
    told = rest.client.post("/api/v1/context", context, format="json").json()["text"]
    assert "core_append" not in told


def test_what_a_search_found_does_not_find_itself(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.hub.model.script(
        "agent_step",
        call("recall_search", query="harbour"),
        call("recall_search", query="harbour"),
        call("send_message", text="At the quay."),
    )
    rest.append({"content": "I work at the harbour."}, {"role": "assistant", "content": "I see."})
    made = rest.step("Where do I work?")
    first, second = (step["result"] for step in made["steps"][:2])
    assert first == second
    assert "1 of 1, page 1 of 1" in first


def test_the_window_is_warned_of_and_flushed_between_the_steps_of_one_turn(
    rest: RestAgent, call: Call
) -> None:
    rest.hub.set_policy("memgpt", window__context_limit=640)
    rest.hub.model.allow(fold_summary={"text": "I was told a long story."})
    rest.open()
    story = [f"chapter{n} " + " ".join(["long"] * 39) for n in range(6)]
    for text in story:
        rest.append({"content": text}, {"role": "assistant", "content": "Go on."})
    rest.hub.model.script(
        "agent_step",
        *(call("recall_search", query=f"chapter{n}") for n in range(5)),
        call("send_message", text="It was long."),
    )
    made = rest.step("What was it about?", max_steps=10)
    assert made["said"] == ["It was long."]
    shown = list_shown(rest.hub)
    warned = [WARNING_TEXT in messages for messages in shown]
    folded = [any("I was told a long story." in text for text in step) for step in shown]
    assert (warned[0], folded[0]) == (False, False)
    assert True in warned
    assert folded[-1]
    assert warned.index(True) < folded.index(True)
    # The calls that have left took their results along.
    for request in rest.hub.model.list_calls("agent_step"):
        answers = [m for m in request["messages"] if m["role"] == "tool"]
        calls = [m for m in request["messages"] if m.get("tool") and m["role"] == "assistant"]
        assert len(answers) == len(calls)


def test_a_very_long_call_is_kept_by_its_name(rest: RestAgent, call: Call) -> None:
    rest.open()
    poem = "A line of a long poem. " * 4000
    rest.hub.model.script(
        "agent_step",
        call("archival_insert", text=poem, heartbeat=True),
        call("send_message", text="Kept."),
    )
    assert rest.step("Keep my poem.")["said"] == ["Kept."]
    with tenant_scope(rest.hub.tenant.id):
        asked = Turn.objects.get(metadata__has_key="tool_calls")
        assert asked.text == "archival_insert({})"
        assert Note.objects.get(author="tutor").content == poem.strip()


def test_a_hosts_own_tools_are_part_of_the_queue(rest: RestAgent) -> None:
    rest.open()
    asked = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Porto"}}],
    }
    rest.append(
        {"content": "Is it raining?"},
        asked,
        {"role": "tool", "content": "Drizzle.", "tool_call_id": "c1"},
    )
    _, called, result = [m for m in rest.read()["messages"] if m["role"] != "system"]
    assert called == {
        "role": "assistant",
        "content": "",
        "call_id": "c1",
        "tool": "weather",
        "arguments": '{"city": "Porto"}',
    }
    assert (result["content"], result["call_id"]) == ("Drizzle.", "c1")
    assert search_recall(rest.hub, "weather Porto") == ['weather({"city": "Porto"})']
    assert search_recall(rest.hub, "drizzle") == ["Drizzle."]


def test_an_erasure_takes_what_tools_repeated(rest: RestAgent, call: Call) -> None:
    rest.open()
    said = rest.append({"content": "My figs rot."}, {"role": "assistant", "content": "Oh."})
    rest.hub.model.script(
        "agent_step",
        call("recall_search", query="figs"),
        call("send_message", text="They are poorly."),
    )
    rest.step("How are my plants?")
    with tenant_scope(rest.hub.tenant.id):
        assert Turn.objects.filter(role="tool", text__contains="figs rot").exists()
    erased = rest.client.post(
        f"/api/v1/spaces/{rest.hub.subject}/erase",
        {"target": "turns", "ids": [said["turns"][0]["id"]]},
        format="json",
    )
    assert erased.status_code == 200, erased.content
    with tenant_scope(rest.hub.tenant.id):
        assert not Turn.objects.filter(text__icontains="figs").exists()
    shown = [m["content"] for m in rest.read()["messages"]]
    assert "They are poorly." in shown
    assert not any("figs" in text for text in shown)
