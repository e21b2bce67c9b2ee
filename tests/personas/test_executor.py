"""An agent's turn: checked calls, failed results, heartbeats and an end (MemGPT, spec §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import pytest
from django.utils.translation import override

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import AgentMessage, AgentStep
from memoryhub.errors import EngineError
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent
from personas import blocks
from personas.agent import tools
from personas.agent.executor import (
    AgentTurn,
    StepOutcome,
    Toolbox,
    format_result,
    run_agent_turn,
)
from personas.agent.tools import MemoryHit, MemoryHitPage, build_hit_page, format_hit_page
from personas.blocks import BlockWriter
from personas.models import BlockVersion, CoreBlock
from tests.support.factories import MAY
from tests.support.hub import ScriptedHub


@dataclass
class FixedMemory:
    """A memory of so many things, all alike."""

    things: list[str] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    def search_turns(self, query: str, page: int) -> MemoryHitPage:
        self.asked.append((query, page))
        return build_hit_page(
            [MemoryHit(MAY, "Ana", each) for each in self.things if query in each], page
        )

    def list_turns_by_date(self, start: date, end: date, page: int) -> MemoryHitPage:
        self.asked.append((start, end, page))
        return build_hit_page([], page)

    def archive_text(self, text: str, tags: Sequence[str]) -> None:
        self.things.append(text)
        self.asked.append((text, *tags))

    def search_archive(self, query: str, page: int, *rest: Any) -> MemoryHitPage:
        self.asked.append((query, page, *rest))
        return self.search_turns(query, page)


@pytest.fixture
def memory() -> FixedMemory:
    return FixedMemory()


@pytest.fixture
def box(hub: ScriptedHub, memory: FixedMemory) -> Toolbox:
    with tenant_scope(hub.tenant.id):
        held = blocks.ensure_default_blocks(hub.space, "helper", 100, hub.now)
    return Toolbox(
        hub.space, "helper", memory, hub.now, seen_versions={b.id: b.version for b in held}
    )


def make_tool_call(tool: str, text: str = "", /, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "text": text}


@dataclass
class PassingQueue:
    """A queue that nobody keeps: these messages, and the steps behind them."""

    messages: list[AgentMessage]
    now: datetime

    def load_messages(self) -> Sequence[AgentMessage]:
        return self.messages

    def add_step(self, step: AgentStep, done: StepOutcome) -> None:
        call = f"call-{len(self.messages)}"
        self.messages += [
            AgentMessage("assistant", step.text, call, step.tool, step.arguments),
            AgentMessage("tool", format_result(done, self.now), call, step.tool),
        ]


def take_turn(
    hub: ScriptedHub, box: Toolbox, *replies: Any, expected: bool = False, most: int = 50
) -> AgentTurn:
    hub.model.script("agent_step", *replies)
    queue = PassingQueue([AgentMessage("user", "I am Ana.")], hub.now)
    engine = LLMEngine(hub.model)
    return run_agent_turn(engine, queue, box, max_steps=most, reply_expected=expected)


def get_human_block(hub: ScriptedHub) -> CoreBlock:
    with tenant_scope(hub.tenant.id):
        return CoreBlock.objects.get(label="human")


def test_a_heartbeat_gives_another_step_and_without_one_the_agent_yields(
    hub: ScriptedHub, box: Toolbox
) -> None:
    turned = take_turn(
        hub,
        box,
        make_tool_call("core_append", "So I know.", label="human", text="Ana.", heartbeat=True),
        make_tool_call("send_message", text="Hello Ana!"),
    )
    assert (turned.messages, turned.ending) == (["Hello Ana!"], "yielded")
    assert [(s.tool, s.ok, s.thought) for s in turned.steps] == [
        ("core_append", True, "So I know."),
        ("send_message", True, ""),
    ]
    assert get_human_block(hub).value == "Ana."
    second = hub.model.list_calls("agent_step")[1]["messages"]
    assert second[1]["tool"] == "core_append"
    assert second[1]["arguments"] == {"label": "human", "text": "Ana.", "heartbeat": True}
    assert second[2]["role"] == "tool"
    assert second[2]["content"].startswith("OK (2026-05-12 09:00): block 'human', 4 of 100")


def test_an_edit_is_a_version_by_the_agent_and_of_the_turn(hub: ScriptedHub, box: Toolbox) -> None:
    from uuid import uuid4

    box.turn_id = uuid4()
    take_turn(hub, box, make_tool_call("core_append", label="human", text="Ana."))
    with tenant_scope(hub.tenant.id):
        version = BlockVersion.objects.get(block__label="human", version=2)
        assert (version.actor, version.turn_id, version.space_id) == (
            "helper",
            box.turn_id,
            hub.space.id,
        )


def test_a_search_is_followed_by_a_step_that_reads_it(
    hub: ScriptedHub, box: Toolbox, memory: FixedMemory
) -> None:
    memory.things = [f"bees {n}" for n in range(12)]
    turned = take_turn(
        hub,
        box,
        make_tool_call("recall_search", query="bees"),
        make_tool_call("", "You like bees."),
    )
    assert turned.messages == ["You like bees."]
    assert turned.steps[0].result.startswith("1 to 5 of 12, page 1 of 3:")


def test_without_a_word_to_the_person_a_turn_goes_on_if_one_is_expected(
    hub: ScriptedHub, box: Toolbox
) -> None:
    edit = make_tool_call("core_append", label="human", text="Ana.")
    assert take_turn(hub, box, edit).messages == []
    assert take_turn(
        hub, box, edit, make_tool_call("send_message", text="Noted."), expected=True
    ).messages == ["Noted."]


WRONG: list[tuple[Any, str]] = [
    (make_tool_call("core_delete", label="human"), "no such tool; there are: send_message"),
    (make_tool_call("core_append", label="human"), "text: Field required"),
    (make_tool_call("core_append", label="human", text="x", colour="red"), "colour: Extra inputs"),
    ({"tool": "core_append", "arguments": "{label: human", "text": ""}, "not readable"),
    ({"tool": "core_append", "arguments": [1], "text": ""}, "no JSON object"),
    (
        make_tool_call("core_append", label="humans", text="x"),
        "no block 'humans'; there are: 'human'",
    ),
    (make_tool_call("recall_search", query="x", page=0), "page: Input should be greater"),
    (
        make_tool_call("recall_search_dates", start="May", end="2024-05-17"),
        "start: Input should be",
    ),
    (make_tool_call("pause_heartbeats", minutes=361), "minutes: Input should be less"),
    (make_tool_call(""), "neither a tool nor a text"),
]


@pytest.mark.parametrize(("wrong", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_is_wrong_with_a_call_goes_back_as_a_failed_result(
    hub: ScriptedHub, box: Toolbox, wrong: Any, why: str
) -> None:
    turned = take_turn(hub, box, wrong, make_tool_call("send_message", text="Sorry."))
    assert not turned.steps[0].ok
    assert why in turned.steps[0].result
    assert turned.messages == ["Sorry."]  # failing gives another step by itself
    told_back = hub.model.list_calls("agent_step")[1]["messages"][-1]["content"]
    assert told_back.startswith("Failed (")
    assert why in told_back


def test_a_model_reads_refusals_in_one_language_whoever_talks_to_it(
    hub: ScriptedHub, box: Toolbox
) -> None:
    with override("zh-hans"):
        turned = take_turn(
            hub,
            box,
            make_tool_call("core_append", label="human", text=" "),
            make_tool_call("", "Sorry."),
        )
    assert turned.steps[0].result == "nothing to append"


def test_MG7_an_edit_over_the_limit_is_a_failed_result(hub: ScriptedHub, box: Toolbox) -> None:
    too_long = make_tool_call("core_append", label="human", text="x" * 101)
    turned = take_turn(hub, box, too_long, make_tool_call("", "Sorry."))
    assert "0 of 100 characters and would have 101" in turned.steps[0].result
    assert (get_human_block(hub).value, get_human_block(hub).version) == ("", 1)


def test_MG8_a_bad_replacement_is_a_failed_result(hub: ScriptedHub, box: Toolbox) -> None:
    take_turn(hub, box, make_tool_call("core_append", label="human", text="bees and bees"))
    turned = take_turn(
        hub,
        box,
        make_tool_call("core_replace", label="human", old="", new="x"),
        make_tool_call("core_replace", label="human", old="bees", new="x"),
        make_tool_call("", "Sorry."),
    )
    assert [step.ok for step in turned.steps] == [False, False, True]
    assert get_human_block(hub).value == "bees and bees"


def test_MG9_a_write_from_an_old_version_is_told_the_current_value(
    hub: ScriptedHub, box: Toolbox
) -> None:
    with tenant_scope(hub.tenant.id):
        other = BlockWriter("other", "agent", hub.now, hub.space)
        blocks.append_to_block(other, get_human_block(hub).id, "Anna.")
    append = make_tool_call("core_append", label="human", text="Ana.")
    turned = take_turn(hub, box, append, append, expected=False)
    assert [step.ok for step in turned.steps] == [False, True]
    assert "it is in version 2 now. It says now:\nAnna." in turned.steps[0].result
    assert (get_human_block(hub).value, get_human_block(hub).version) == ("Anna.\nAna.", 3)


def test_three_failures_in_a_row_end_the_turn(hub: ScriptedHub, box: Toolbox) -> None:
    turned = take_turn(hub, box, *[make_tool_call("nothing")] * 3)
    assert (turned.ending, len(turned.steps)) == ("failures", 3)
    mixed = [make_tool_call("nothing"), make_tool_call("recall_search", query="x")] * 3
    assert take_turn(hub, box, *mixed, make_tool_call("", "Done.")).ending == "yielded"


def test_steps_are_limited(hub: ScriptedHub, box: Toolbox) -> None:
    turned = take_turn(hub, box, *[make_tool_call("recall_search", query="x")] * 4, most=4)
    assert (turned.ending, len(turned.steps)) == ("steps", 4)


def test_a_rest_ends_the_turn(hub: ScriptedHub, box: Toolbox) -> None:
    turned = take_turn(hub, box, make_tool_call("pause_heartbeats", minutes=60, heartbeat=True))
    assert (turned.ending, turned.paused_minutes) == ("paused", 60)


def test_a_model_that_fails_ends_the_turn_and_keeps_what_was_written(
    hub: ScriptedHub, box: Toolbox
) -> None:
    edit = make_tool_call("core_append", label="human", text="Ana.", heartbeat=True)
    turned = take_turn(hub, box, edit, EngineError("the model is gone"))
    assert (turned.ending, turned.trouble) == ("broken", "the model is gone")
    assert get_human_block(hub).value == "Ana."


def test_MG4_pages_of_5_5_2_and_an_empty_one_with_the_totals(
    hub: ScriptedHub, box: Toolbox, memory: FixedMemory
) -> None:
    memory.things = [f"bees {n}" for n in range(12)]
    pages = [make_tool_call("recall_search", query="bees", page=page) for page in (1, 2, 3, 4)]
    turned = take_turn(hub, box, *pages, make_tool_call("", "Done."))
    results = [step.result for step in turned.steps[:4]]
    assert [result.count("\n- ") for result in results] == [5, 5, 2, 0]
    assert results[2].startswith("11 to 12 of 12, page 3 of 3:")
    assert results[3] == "12 found, page 4 of 3."


def test_a_result_is_never_longer_than_a_tool_may_give() -> None:
    long = format_hit_page(build_hit_page([MemoryHit(MAY, "Ana", "bees " * 900)] * 5, 1))
    assert len(long) <= 3000
    assert long.count("\n- ") == 5
    assert len(tools.cap_text("x" * 9000)) <= 3000


def test_archival_memory_takes_text_and_tags_in_any_sensible_form(
    hub: ScriptedHub, box: Toolbox, memory: FixedMemory
) -> None:
    take_turn(
        hub,
        box,
        make_tool_call("archival_insert", text="A poem.", tags="art, poems", heartbeat="true"),
        make_tool_call(
            "archival_search", query="poem", tags=["art"], start="2026-05-01", tag_mode="all"
        ),
        make_tool_call("", "Kept."),
    )
    assert memory.asked[0] == ("A poem.", "art", "poems")
    assert memory.asked[1] == ("poem", 1, ["art"], "all", date(2026, 5, 1), None)


def test_every_tool_is_offered_with_a_schema_a_model_can_read() -> None:
    made = {tool.name: tool for tool in tools.list_offered_tools()}
    assert set(made) == set(tools.TOOLS)
    for tool in made.values():
        json.dumps(tool.parameters)
        assert "heartbeat" in tool.parameters["properties"]
        for about in tool.parameters["properties"].values():
            assert about["type"] in ("string", "integer", "boolean", "array")
            assert about["description"]
    assert made["core_replace"].parameters["required"] == ["label", "old", "new"]
    assert "send_message" not in {
        t.name for t in tools.list_offered_tools(without=["send_message"])
    }


def test_an_agents_edit_is_an_event_of_the_space_by_that_agent(
    hub: ScriptedHub, box: Toolbox
) -> None:
    take_turn(hub, box, make_tool_call("core_append", label="human", text="Ana."))
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(actor="helper")
        revision = event.revisions.get()
    assert (event.kind, event.reason) == ("manual", "by its own tool")
    before, after = revision.before or {}, revision.after or {}
    assert (before["value"], after["value"]) == ("", "Ana.")
