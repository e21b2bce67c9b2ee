"""Who may act at a window, under which name, and one turn at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memoryhub.agents.lease import WindowLease
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Note
from personas.models import Window
from tests.agents.conftest import RestAgent
from tests.support.factories import make_note

Call = Callable[..., dict[str, Any]]


def get_window(rest: RestAgent) -> Window:
    with tenant_scope(rest.hub.tenant.id):
        return Window.objects.get(id=rest.window_id)


def count_turns(rest: RestAgent) -> int:
    with tenant_scope(rest.hub.tenant.id):
        return Turn.objects.count()


def test_a_second_turn_is_refused_while_one_is_taken(rest: RestAgent, call: Call) -> None:
    rest.open()
    with WindowLease(get_window(rest)):
        refused = rest.post(f"{rest.window_id}/step", 409, messages=[{"content": "Hello?"}])
    assert refused["code"] == "window_busy"
    assert count_turns(rest) == 0
    rest.hub.model.script("agent_step", call("send_message", text="Hello."))
    assert rest.step("Hello?")["said"] == ["Hello."]
    assert get_window(rest).busy_until is None


def test_a_turn_that_was_taken_for_dead_writes_no_more(rest: RestAgent, call: Call) -> None:
    rest.open()

    def be_late(data: dict[str, Any]) -> dict[str, Any]:
        later = timezone.now() + timedelta(minutes=5)
        with tenant_scope(rest.hub.tenant.id):
            Window.objects.update(busy_until=later)
        return call("send_message", text="Too late.")

    rest.hub.model.script("agent_step", be_late)
    made = rest.step("Hello?")
    assert made["ending"] == "broken"
    assert made["trouble"] == "another turn is in progress in this window"
    assert made["turn_ids"] == []
    assert get_window(rest).busy_until is not None
    assert count_turns(rest) == 1


def test_a_tenant_without_a_model_has_nobody_who_acts(rest: RestAgent) -> None:
    rest.open()
    rest.hub.tenant.engine = Tenant.Engine.LOCAL
    with tenant_scope(rest.hub.tenant.id):
        rest.hub.tenant.save()
    refused = rest.post(f"{rest.window_id}/step", 409, messages=[{"content": "Hello?"}])
    assert refused["code"] == "no_agent"
    assert count_turns(rest) == 0


def test_at_a_session_without_a_name_no_model_is_asked(rest: RestAgent) -> None:
    body = {"subject": "Ana", "messages": [{"content": "Hello."}]}
    assert rest.client.post("/api/v1/memories", body, format="json").status_code == 202
    (row,) = rest.client.get(rest.path).json()["items"]
    rest.window_id = row["id"]
    for verb, sent in (("step", {}), ("schedule", {"every_minutes": 60})):
        assert rest.post(f"{rest.window_id}/{verb}", 409, **sent)["code"] == "session_unnamed"
    assert get_window(rest).beats_at is None


def test_an_agent_without_a_name_is_one_agent(rest: RestAgent, call: Call) -> None:
    rest.open(agent="")
    rest.append({"content": "Hello."}, {"role": "assistant", "content": "Good day."})
    rest.hub.model.script(
        "agent_step",
        call("core_append", label="human", text="Keeps bees.", heartbeat=True),
        call("send_message", text="Noted."),
    )
    rest.step("I keep bees.")
    with tenant_scope(rest.hub.tenant.id):
        said = Turn.objects.filter(role="assistant").exclude(metadata__has_key="tool_calls")
        speakers = dict(said.values_list("text", "speaker"))
    # What a host's own agent said is not the hub's.
    assert speakers == {"Good day.": "assistant", "Noted.": "MemoryHub"}
    blocks = [m["content"] for m in rest.read()["messages"] if m["role"] == "system"]
    assert len([text for text in blocks if "Keeps bees." in text]) == 1


def test_an_agent_is_told_how_many_passages_a_search_may_find(rest: RestAgent, call: Call) -> None:
    with tenant_scope(rest.hub.tenant.id):
        make_note(rest.hub.space, "The key is under the mat.", author="tutor")
        hidden = Note.Visibility.DORMANT
        make_note(rest.hub.space, "The key was in the shed.", author="tutor", visibility=hidden)
    rest.open()
    rest.hub.model.script("agent_step", call("send_message", text="Hello."))
    rest.step("Hello?")
    (asked,) = rest.hub.model.list_calls("agent_step")
    assert "1 passages in archival storage" in asked["messages"][1]["content"]


def test_what_a_turn_flushes_itself_no_worker_is_to_flush(rest: RestAgent, call: Call) -> None:
    rest.hub.set_policy("memgpt", window__context_limit=900)
    rest.hub.model.script("fold_summary", {"text": "I was told a long story."})
    rest.open()
    for number in range(6):
        chapter = f"chapter{number} " + " ".join(["long"] * 49)
        rest.append({"content": chapter}, {"role": "assistant", "content": "Go on."})
    rest.hub.model.script("agent_step", call("send_message", text="What a story."))
    rest.step(" ".join(["end"] * 600))
    assert rest.read()["summary"] == "I was told a long story."
    with tenant_scope(rest.hub.tenant.id):
        assert not Job.objects.filter(step=Job.Step.FOLD).exists()


@pytest.mark.parametrize("mode", ["on", "on_demand"])
def test_what_a_sender_says_of_a_turn_is_not_the_hubs_own_word(rest: RestAgent, mode: str) -> None:
    rest.hub.set_policy("memgpt", window__mode=mode)
    rest.open(session="talk")
    odd = {"tool_calls": 1, "inner": True, "rests_on": 5, "lookup": True, "mine": "stays"}
    body = {
        "subject": "Ana",
        "session": "talk",
        "messages": [{"content": "I keep bees.", "metadata": odd}],
    }
    added = rest.client.post("/api/v1/memories", body, format="json")
    assert added.status_code == 202, added.content
    with tenant_scope(rest.hub.tenant.id):
        assert Turn.objects.get().metadata == {"tool_calls": 1, "mine": "stays"}
        assert rest.hub.space.speakers == ["Ana"]
    assert rest.read()["messages"][-1]["content"] == "I keep bees."


def test_an_erasure_does_not_stumble_over_what_an_import_brought(rest: RestAgent) -> None:
    rest.open()
    said = rest.append({"content": "My figs rot."}, {"role": "assistant", "content": "Oh."})
    with tenant_scope(rest.hub.tenant.id):
        brought = {"inner": True, "rests_on": 5, "tool_calls": "none"}
        Turn.objects.filter(text="Oh.").update(metadata=brought)
    erased = rest.client.post(
        f"/api/v1/spaces/{rest.hub.subject}/erase",
        {"target": "turns", "ids": [said["turns"][0]["id"]]},
        format="json",
    )
    assert erased.status_code == 200, erased.content
    assert rest.read()["messages"][-1]["content"] == "Oh."


def test_the_arguments_of_a_hosts_tool_stay_as_they_are_written(rest: RestAgent) -> None:
    rest.open()
    called = {"id": "c1", "name": "weather", "arguments": {"city": "波尔图"}}
    rest.append({"role": "assistant", "tool_calls": [called]})
    assert rest.read()["messages"][-1]["arguments"] == '{"city": "波尔图"}'
