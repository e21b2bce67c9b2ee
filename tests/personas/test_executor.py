"""An agent's turn: checked calls, failed results, heartbeats and an end (MemGPT, spec §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from django.utils.translation import override

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import AgentContext, AgentMessage
from memoryhub.errors import EngineError
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent
from personas import blocks, tools
from personas.blocks import Writer
from personas.executor import Toolbox, Turned, run_turn
from personas.models import BlockVersion, CoreBlock
from personas.tools import Found, Hit, page_of, told
from tests.support.factories import MAY
from tests.support.hub import Hub


@dataclass
class Shelf:
    """A memory of so many things, all alike."""

    things: list[str] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    def recall(self, query: str, page: int) -> Found:
        self.asked.append((query, page))
        return page_of([Hit(MAY, "Ana", each) for each in self.things if query in each], page)

    def recall_dates(self, start: date, end: date, page: int) -> Found:
        self.asked.append((start, end, page))
        return page_of([], page)

    def archive(self, text: str, tags: Sequence[str]) -> None:
        self.things.append(text)
        self.asked.append((text, *tags))

    def archival(self, query: str, page: int, *rest: Any) -> Found:
        self.asked.append((query, page, *rest))
        return self.recall(query, page)


@pytest.fixture
def memory() -> Shelf:
    return Shelf()


@pytest.fixture
def box(hub: Hub, memory: Shelf) -> Toolbox:
    with tenant_scope(hub.tenant.id):
        held = blocks.ensure_defaults(hub.space, "helper", 100, hub.now)
    return Toolbox(hub.space, "helper", memory, hub.now, seen={b.id: b.version for b in held})


def call(tool: str, text: str = "", /, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "text": text}


def take(hub: Hub, box: Toolbox, *replies: Any, expected: bool = False, most: int = 50) -> Turned:
    hub.model.script("agent_step", *replies)
    context = AgentContext([AgentMessage("user", "I am Ana.")], tools.offered())
    engine = LLMEngine(hub.model)
    return run_turn(engine, context, box, max_steps=most, reply_expected=expected)


def human(hub: Hub) -> CoreBlock:
    with tenant_scope(hub.tenant.id):
        return CoreBlock.objects.get(label="human")


def test_a_heartbeat_gives_another_step_and_without_one_the_agent_yields(
    hub: Hub, box: Toolbox
) -> None:
    turned = take(
        hub,
        box,
        call("core_append", "So I know.", label="human", text="Ana.", heartbeat=True),
        call("send_message", text="Hello Ana!"),
    )
    assert (turned.said, turned.ended) == (["Hello Ana!"], "yielded")
    assert [(s.tool, s.ok, s.thought) for s in turned.steps] == [
        ("core_append", True, "So I know."),
        ("send_message", True, ""),
    ]
    assert human(hub).value == "Ana."
    second = hub.model.calls("agent_step")[1]["messages"]
    assert second[1]["tool"] == "core_append"
    assert second[1]["arguments"] == {"label": "human", "text": "Ana.", "heartbeat": True}
    assert second[2]["role"] == "tool"
    assert second[2]["content"].startswith("OK (2026-05-12 09:00): block 'human', 4 of 100")


def test_an_edit_is_a_version_by_the_agent_and_of_the_turn(hub: Hub, box: Toolbox) -> None:
    from uuid import uuid4

    box.turn_id = uuid4()
    take(hub, box, call("core_append", label="human", text="Ana."))
    with tenant_scope(hub.tenant.id):
        version = BlockVersion.objects.get(block__label="human", version=2)
        assert (version.actor, version.turn_id, version.space_id) == (
            "helper",
            box.turn_id,
            hub.space.id,
        )


def test_a_search_is_followed_by_a_step_that_reads_it(
    hub: Hub, box: Toolbox, memory: Shelf
) -> None:
    memory.things = [f"bees {n}" for n in range(12)]
    turned = take(hub, box, call("recall_search", query="bees"), call("", "You like bees."))
    assert turned.said == ["You like bees."]
    assert turned.steps[0].result.startswith("1 to 5 of 12, page 1 of 3:")


def test_without_a_word_to_the_person_a_turn_goes_on_if_one_is_expected(
    hub: Hub, box: Toolbox
) -> None:
    edit = call("core_append", label="human", text="Ana.")
    assert take(hub, box, edit).said == []
    assert take(hub, box, edit, call("send_message", text="Noted."), expected=True).said == [
        "Noted."
    ]


WRONG: list[tuple[Any, str]] = [
    (call("core_delete", label="human"), "no such tool; there are: send_message"),
    (call("core_append", label="human"), "text: Field required"),
    (call("core_append", label="human", text="x", colour="red"), "colour: Extra inputs"),
    ({"tool": "core_append", "arguments": "{label: human", "text": ""}, "not readable"),
    ({"tool": "core_append", "arguments": [1], "text": ""}, "no JSON object"),
    (call("core_append", label="humans", text="x"), "no block 'humans'; there are: 'human'"),
    (call("recall_search", query="x", page=0), "page: Input should be greater"),
    (call("recall_search_dates", start="May", end="2024-05-17"), "start: Input should be"),
    (call("pause_heartbeats", minutes=361), "minutes: Input should be less"),
    (call(""), "neither a tool nor a text"),
]


@pytest.mark.parametrize(("wrong", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_is_wrong_with_a_call_goes_back_as_a_failed_result(
    hub: Hub, box: Toolbox, wrong: Any, why: str
) -> None:
    turned = take(hub, box, wrong, call("send_message", text="Sorry."))
    assert not turned.steps[0].ok
    assert why in turned.steps[0].result
    assert turned.said == ["Sorry."]  # failing gives another step by itself
    told_back = hub.model.calls("agent_step")[1]["messages"][-1]["content"]
    assert told_back.startswith("Failed (")
    assert why in told_back


def test_a_model_reads_refusals_in_one_language_whoever_talks_to_it(hub: Hub, box: Toolbox) -> None:
    with override("zh-hans"):
        turned = take(hub, box, call("core_append", label="human", text=" "), call("", "Sorry."))
    assert turned.steps[0].result == "nothing to append"


def test_MG7_an_edit_over_the_limit_is_a_failed_result(hub: Hub, box: Toolbox) -> None:
    too_long = call("core_append", label="human", text="x" * 101)
    turned = take(hub, box, too_long, call("", "Sorry."))
    assert "0 of 100 characters and would have 101" in turned.steps[0].result
    assert (human(hub).value, human(hub).version) == ("", 1)


def test_MG8_a_bad_replacement_is_a_failed_result(hub: Hub, box: Toolbox) -> None:
    take(hub, box, call("core_append", label="human", text="bees and bees"))
    turned = take(
        hub,
        box,
        call("core_replace", label="human", old="", new="x"),
        call("core_replace", label="human", old="bees", new="x"),
        call("", "Sorry."),
    )
    assert [step.ok for step in turned.steps] == [False, False, True]
    assert human(hub).value == "bees and bees"


def test_MG9_a_write_from_an_old_version_is_told_the_current_value(hub: Hub, box: Toolbox) -> None:
    with tenant_scope(hub.tenant.id):
        other = Writer("other", "agent", hub.now, hub.space)
        blocks.append(other, human(hub).id, "Anna.")
    append = call("core_append", label="human", text="Ana.")
    turned = take(hub, box, append, append, expected=False)
    assert [step.ok for step in turned.steps] == [False, True]
    assert "it is in version 2 now. It says now:\nAnna." in turned.steps[0].result
    assert (human(hub).value, human(hub).version) == ("Anna.\nAna.", 3)


def test_three_failures_in_a_row_end_the_turn(hub: Hub, box: Toolbox) -> None:
    turned = take(hub, box, *[call("nothing")] * 3)
    assert (turned.ended, len(turned.steps)) == ("failures", 3)
    mixed = [call("nothing"), call("recall_search", query="x")] * 3
    assert take(hub, box, *mixed, call("", "Done.")).ended == "yielded"


def test_steps_are_limited(hub: Hub, box: Toolbox) -> None:
    turned = take(hub, box, *[call("recall_search", query="x")] * 4, most=4)
    assert (turned.ended, len(turned.steps)) == ("steps", 4)


def test_a_rest_ends_the_turn(hub: Hub, box: Toolbox) -> None:
    turned = take(hub, box, call("pause_heartbeats", minutes=60, heartbeat=True))
    assert (turned.ended, turned.paused_minutes) == ("paused", 60)


def test_a_model_that_fails_ends_the_turn_and_keeps_what_was_written(
    hub: Hub, box: Toolbox
) -> None:
    edit = call("core_append", label="human", text="Ana.", heartbeat=True)
    turned = take(hub, box, edit, EngineError("the model is gone"))
    assert (turned.ended, turned.trouble) == ("broken", "the model is gone")
    assert human(hub).value == "Ana."


def test_MG4_pages_of_5_5_2_and_an_empty_one_with_the_totals(
    hub: Hub, box: Toolbox, memory: Shelf
) -> None:
    memory.things = [f"bees {n}" for n in range(12)]
    pages = [call("recall_search", query="bees", page=page) for page in (1, 2, 3, 4)]
    turned = take(hub, box, *pages, call("", "Done."))
    results = [step.result for step in turned.steps[:4]]
    assert [result.count("\n- ") for result in results] == [5, 5, 2, 0]
    assert results[2].startswith("11 to 12 of 12, page 3 of 3:")
    assert results[3] == "12 found, page 4 of 3."


def test_a_result_is_never_longer_than_a_tool_may_give() -> None:
    long = told(page_of([Hit(MAY, "Ana", "bees " * 900)] * 5, 1))
    assert len(long) <= 3000
    assert long.count("\n- ") == 5
    assert len(tools.capped("x" * 9000)) <= 3000


def test_archival_memory_takes_text_and_tags_in_any_sensible_form(
    hub: Hub, box: Toolbox, memory: Shelf
) -> None:
    take(
        hub,
        box,
        call("archival_insert", text="A poem.", tags="art, poems", heartbeat="true"),
        call("archival_search", query="poem", tags=["art"], start="2026-05-01", tag_mode="all"),
        call("", "Kept."),
    )
    assert memory.asked[0] == ("A poem.", "art", "poems")
    assert memory.asked[1] == ("poem", 1, ["art"], "all", date(2026, 5, 1), None)


def test_every_tool_is_offered_with_a_schema_a_model_can_read() -> None:
    made = {tool.name: tool for tool in tools.offered()}
    assert set(made) == set(tools.TOOLS)
    for tool in made.values():
        json.dumps(tool.parameters)
        assert "heartbeat" in tool.parameters["properties"]
        for about in tool.parameters["properties"].values():
            assert about["type"] in ("string", "integer", "boolean", "array")
            assert about["description"]
    assert made["core_replace"].parameters["required"] == ["label", "old", "new"]
    assert "send_message" not in {t.name for t in tools.offered(without=["send_message"])}


def test_an_agents_edit_is_an_event_of_the_space_by_that_agent(hub: Hub, box: Toolbox) -> None:
    take(hub, box, call("core_append", label="human", text="Ana."))
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(actor="helper")
        revision = event.revisions.get()
    assert (event.kind, event.reason) == ("manual", "by its own tool")
    before, after = revision.before or {}, revision.after or {}
    assert (before["value"], after["value"]) == ("", "Ana.")
