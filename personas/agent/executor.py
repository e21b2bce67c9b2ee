"""An agent's turn: step by step, each one tool or a text, until it yields (MemGPT, spec §3.2).

What is wrong with a call goes back to the agent as a failed result, never further: an unknown
tool, arguments that do not fit, a block that is full, a version somebody else wrote (G5-G7).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol
from uuid import UUID

from pydantic import ValidationError

from memoryhub.dialogues.services import PAUSED_MESSAGE
from memoryhub.engines.types import AgentContext, AgentMessage, AgentStep, AgentTool, Engine
from memoryhub.errors import Conflict, MemoryHubError
from memoryhub.languages import use_stored_language
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from personas import blocks
from personas.agent import tools
from personas.blocks import BlockWriter
from personas.models import BlockVersion, CoreBlock

MAX_FAILURES = 3  # in a row: then the turn is over
TurnEnding = Literal["yielded", "paused", "failures", "steps", "broken"]


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What an agent did, and what came of it. `arguments` are as sent where they do not parse."""

    tool: str
    arguments: dict[str, Any] | str
    thought: str
    ok: bool
    result: str


@dataclass
class AgentTurn:
    """A whole turn. `messages` are those to the person, in order; `error` is what broke it when a
    model failed. What was written until then stays written."""

    steps: list[StepOutcome] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ending: TurnEnding = "yielded"
    error: MemoryHubError | None = None
    paused_minutes: int = 0

    @property
    def trouble(self) -> str:
        """What broke, in words; "" where nothing did."""
        return self.error.message if self.error else ""


class AgentQueue(Protocol):
    """What is in front of an agent, which grows by what it does. Both raise MemoryHubError."""

    def load_messages(self) -> Sequence[AgentMessage]:
        """All that it sees before its next step."""

    def add_step(self, step: AgentStep, done: StepOutcome) -> None:
        """A step that it has taken."""


class AgentTimer(Protocol):
    """What wakes an agent by the clock. Each opens its own scope."""

    def pause_beats(self, minutes: int) -> None: ...

    def set_alarm(self, minutes: int) -> None: ...


@dataclass
class Toolbox:
    """The tools of one agent in one space. `seen`: the versions of the blocks in its context.
    Without a `timer` nothing can wake the agent."""

    space: Space
    agent: str
    memory: tools.AgentMemory
    now: datetime
    turn_id: UUID | None = None
    seen_versions: dict[UUID, int] = field(default_factory=dict)
    timer: AgentTimer | None = None
    # Turns whose words its tools have shown.
    shown_turn_ids: set[UUID] = field(default_factory=set)

    @property
    def offered(self) -> list[AgentTool]:
        """The tools as an engine is given them."""
        return tools.list_offered_tools(without=() if self.timer else tools.TIMER_TOOLS)

    @property
    def writer(self) -> BlockWriter:
        name = self.agent or "agent"
        return BlockWriter(name, "agent", self.now, self.space, self.turn_id, "by its own tool")


def run_agent_turn(
    engine: Engine,
    queue: AgentQueue,
    box: Toolbox,
    *,
    max_steps: int,
    reply_expected: bool = False,
) -> AgentTurn:
    """Let the agent act until it yields, fails three times in a row, or has had its steps.

    What is in front of it is loaded before each step, so that a queue that fills up meanwhile is
    warned of and flushed. `reply_expected`: it does not yield before it has said something to the
    person. Calls a model: call outside any transaction. Raises nothing: a model that fails, or a
    queue that can't be read or written, ends the turn (`broken`).
    """
    turned, failures = AgentTurn(), 0
    for _ in range(max_steps):
        try:
            context = AgentContext(queue.load_messages(), box.offered)
            step = engine.choose_agent_step(context)
            done = _run_step(step, box, turned)
            turned.steps.append(done)
            queue.add_step(step, done)
        except MemoryHubError as error:
            turned.ending, turned.error = "broken", error
            return turned
        failures = 0 if done.ok else failures + 1
        if failures == MAX_FAILURES:
            turned.ending = "failures"
            return turned
        if turned.paused_minutes:
            turned.ending = "paused"
            return turned
        if done.ok and not _needs_another_step(done) and (turned.messages or not reply_expected):
            return turned
    turned.ending = "steps"
    return turned


def run_tool_call(box: Toolbox, tool: str, arguments: str) -> tuple[StepOutcome, AgentTurn]:
    """One call of a tool by an agent that runs elsewhere, and what it said or how long it rests.

    `arguments` are JSON as a model gives them. Raises nothing that is the call's own fault: that
    is a failed step, to be shown to the agent.
    """
    turned = AgentTurn()
    return _run_step(AgentStep(tool=tool, arguments=arguments), box, turned), turned


def _needs_another_step(step: StepOutcome) -> bool:
    asked = isinstance(step.arguments, dict) and bool(step.arguments.get("heartbeat"))
    return asked or step.tool in tools.SEARCH_TOOLS


def _run_step(step: AgentStep, box: Toolbox, turned: AgentTurn) -> StepOutcome:
    if not step.tool:
        return _say_text(step, turned)
    outcome = partial(StepOutcome, step.tool, step.arguments, step.text)
    known = [tool.name for tool in box.offered]
    if step.tool not in known:
        return outcome(False, f"no such tool; there are: {', '.join(known)}")
    try:
        given = tools.TOOLS[step.tool][0].model_validate(_parse_arguments(step.arguments))
    except (ValueError, ValidationError) as error:
        return outcome(False, _format_fault(error))
    arguments = given.model_dump(mode="json", exclude_defaults=True)
    outcome = partial(StepOutcome, step.tool, arguments, step.text)
    try:
        with use_stored_language():  # a model reads why it was refused
            if box.space.paused_at and step.tool in tools.WRITE_TOOLS:
                raise Conflict(PAUSED_MESSAGE, code="memory_paused")
            return outcome(True, tools.cap_text(_run_tool(given, box, turned)))
    except MemoryHubError as error:
        return outcome(False, tools.cap_text(_format_refusal(error)))


def _say_text(step: AgentStep, turned: AgentTurn) -> StepOutcome:
    """Words without a tool are said to the person."""
    if not step.text:
        return StepOutcome("", {}, "", False, "neither a tool nor a text: use one")
    turned.messages.append(step.text)
    return StepOutcome("", {}, "", True, step.text)


def _parse_arguments(arguments: str) -> dict[str, Any]:
    made = json.loads(arguments or "{}", strict=False)
    if not isinstance(made, dict):
        raise ValueError("the arguments are no JSON object")
    return {name: value for name, value in made.items() if value is not None}


def _format_fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        return f"the arguments do not fit: {'; '.join(faults)}"
    return f"the arguments are not readable: {error}"


def _format_refusal(error: MemoryHubError) -> str:
    if isinstance(error, Conflict) and "value" in error.extra:
        return f"{error.message}. It says now:\n{error.extra['value']}"
    return error.message


def _run_tool(given: tools.AgentToolArguments, box: Toolbox, turned: AgentTurn) -> str:
    match given:
        case tools.SendMessage(text=text):
            turned.messages.append(text)
            return "sent"
        case tools.PauseHeartbeats(minutes=minutes):
            turned.paused_minutes = minutes
            if box.timer:
                box.timer.pause_beats(minutes)
            return f"resting for {minutes} minutes"
        case tools.WakeLater(minutes=minutes) if box.timer:
            box.timer.set_alarm(minutes)
            return f"you will be woken in {minutes} minutes"
        case tools.RecallSearch(query=query, page=page):
            return _show_hits(box, box.memory.search_turns(query, page))
        case tools.RecallSearchDates(start=start, end=end, page=page):
            return _show_hits(box, box.memory.list_turns_by_date(start, end, page))
        case tools.ArchivalInsert(text=text, tags=tags):
            box.memory.archive_text(text, tags)
            return "kept in archival memory"
        case tools.ArchivalSearch():
            return _show_hits(
                box,
                box.memory.search_archive(
                    given.query, given.page, given.tags, given.tag_mode, given.start, given.end
                ),
            )
        case _:
            return _edit_block_by_label(given, box)


def _show_hits(box: Toolbox, found: tools.MemoryHitPage) -> str:
    box.shown_turn_ids.update(turn_id for hit in found.hits for turn_id in hit.turn_ids)
    return tools.format_hit_page(found)


def _edit_block_by_label(given: tools.AgentToolArguments, box: Toolbox) -> str:
    with tenant_scope(box.space.tenant_id):
        block = blocks.get_block_by_label(box.space, given.label, box.agent)  # type: ignore[attr-defined]  # every block tool has one
        version = box.seen_versions.get(block.id, block.version)
        # The agent has been shown this version by now, in its context or by the refusal.
        box.seen_versions[block.id] = block.version
        changed = _edit_block(given, box.writer, block, version)
        box.seen_versions[block.id] = changed.version
        led_by = BlockVersion.objects.filter(block=changed).values_list("turn_id", flat=True)
        box.shown_turn_ids.update(turn_id for turn_id in led_by if turn_id)
    size = f"{len(changed.value)} of {changed.char_limit} characters"
    return f"block {changed.label!r}, {size}, says now:\n{changed.value}"


def _edit_block(
    given: tools.AgentToolArguments, writer: BlockWriter, block: CoreBlock, version: int
) -> CoreBlock:
    match given:
        case tools.CoreAppend(text=text):
            return blocks.append_to_block(writer, block.id, text, version)
        case tools.CoreReplace(old=old, new=new):
            return blocks.replace_in_block(writer, block.id, old, new, version)
        case tools.CoreInsert(text=text, line=line):
            return blocks.insert_into_block(writer, block.id, text, line, version)
        case tools.CoreRethink(text=text):
            return blocks.rethink_block(writer, block.id, text, version)
    raise ValueError(f"{type(given).__name__} edits no block")


def format_result(done: StepOutcome, now: datetime) -> str:
    """What became of a step, as the agent reads it."""
    status = "OK" if done.ok else "Failed"
    return f"{status} ({now:%Y-%m-%d %H:%M}): {done.result}"
