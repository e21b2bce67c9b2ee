"""An agent's turn: step by step, each one tool or a text, until it yields (MemGPT, spec §3.2).

What is wrong with a call goes back to the agent as a failed result, never further: an unknown
tool, arguments that do not fit, a block that is full, a version somebody else wrote (G5-G7).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError

from memoryhub.dialogues.services import PAUSED
from memoryhub.engines.types import AgentContext, AgentMessage, AgentStep, Engine
from memoryhub.errors import Conflict, EngineError, MemoryHubError
from memoryhub.languages import as_kept
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from personas import blocks, tools
from personas.blocks import Writer
from personas.models import CoreBlock
from personas.tools import KEEPING, LOOKING, TOOLS, Arguments, Memory, capped, told

MOST_FAILURES = 3  # in a row: then the turn is over
Ended = Literal["yielded", "paused", "failures", "steps", "broken"]


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent did, and what came of it. `arguments` are as sent where they do not parse."""

    tool: str
    arguments: dict[str, Any] | str
    thought: str
    ok: bool
    result: str


@dataclass
class Turned:
    """A whole turn. `said` are the messages to the person, in order; `trouble` says what broke
    when a model failed. What was written until then stays written."""

    steps: list[Step] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ended: Ended = "yielded"
    trouble: str = ""
    paused_minutes: int = 0


@dataclass
class Toolbox:
    """The tools of one agent in one space. `seen`: the versions of the blocks in its context."""

    space: Space
    agent: str
    memory: Memory
    now: datetime
    turn_id: UUID | None = None
    seen: dict[UUID, int] = field(default_factory=dict)

    @property
    def writer(self) -> Writer:
        name = self.agent or "agent"
        return Writer(name, "agent", self.now, self.space, self.turn_id, "by its own tool")


def run_turn(
    engine: Engine,
    context: AgentContext,
    box: Toolbox,
    *,
    max_steps: int,
    reply_expected: bool = False,
) -> Turned:
    """Let the agent act until it yields, fails three times in a row, or has had its steps.

    `reply_expected`: it does not yield before it has said something to the person. Calls a model:
    call outside any transaction. Raises nothing: a model that fails ends the turn (`broken`).
    """
    turned, messages, failures = Turned(), list(context.messages), 0
    for number in range(1, max_steps + 1):
        try:
            step = engine.agent_step(replace(context, messages=messages))
        except EngineError as error:
            turned.ended, turned.trouble = "broken", error.message
            return turned
        done = _done(step, box, turned)
        turned.steps.append(done)
        messages += _shown(step, done, f"call-{number}", box.now)
        failures = 0 if done.ok else failures + 1
        if failures == MOST_FAILURES:
            turned.ended = "failures"
            return turned
        if turned.paused_minutes:
            turned.ended = "paused"
            return turned
        if done.ok and not _goes_on(done) and (turned.said or not reply_expected):
            return turned
    turned.ended = "steps"
    return turned


def perform(box: Toolbox, tool: str, arguments: str) -> tuple[Step, Turned]:
    """One call of a tool by an agent that runs elsewhere, and what it said or how long it rests.

    `arguments` are JSON as a model gives them. Raises nothing that is the call's own fault: that
    is a failed step, to be shown to the agent.
    """
    turned = Turned()
    return _done(AgentStep(tool=tool, arguments=arguments), box, turned), turned


def _goes_on(step: Step) -> bool:
    asked = isinstance(step.arguments, dict) and bool(step.arguments.get("heartbeat"))
    return asked or step.tool in LOOKING


def _done(step: AgentStep, box: Toolbox, turned: Turned) -> Step:
    if not step.tool:
        return _text(step, turned)
    if step.tool not in TOOLS:
        known = ", ".join(TOOLS)
        return Step(
            step.tool, step.arguments, step.text, False, f"no such tool; there are: {known}"
        )
    try:
        given = TOOLS[step.tool][0].model_validate(_parsed(step.arguments))
    except (ValueError, ValidationError) as error:
        return Step(step.tool, step.arguments, step.text, False, _fault(error))
    arguments = given.model_dump(mode="json", exclude_defaults=True)
    try:
        with as_kept():  # a model reads why it was refused
            if box.space.paused_at and step.tool in KEEPING:
                raise Conflict(PAUSED, code="memory_paused")
            result = capped(_perform(given, box, turned))
    except MemoryHubError as error:
        return Step(step.tool, arguments, step.text, False, capped(_refusal(error, box)))
    return Step(step.tool, arguments, step.text, True, result)


def _text(step: AgentStep, turned: Turned) -> Step:
    """Words without a tool are said to the person."""
    if not step.text:
        return Step("", {}, "", False, "neither a tool nor a text: use one")
    turned.said.append(step.text)
    return Step("", {}, "", True, step.text)


def _parsed(arguments: str) -> dict[str, Any]:
    made = json.loads(arguments or "{}", strict=False)
    if not isinstance(made, dict):
        raise ValueError("the arguments are no JSON object")
    return {name: value for name, value in made.items() if value is not None}


def _fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        return f"the arguments do not fit: {'; '.join(faults)}"
    return f"the arguments are not readable: {error}"


def _refusal(error: MemoryHubError, box: Toolbox) -> str:
    if isinstance(error, Conflict) and "value" in error.extra:
        return f"{error.message}. It says now:\n{error.extra['value']}"
    return error.message


def _perform(given: Arguments, box: Toolbox, turned: Turned) -> str:
    match given:
        case tools.SendMessage(text=text):
            turned.said.append(text)
            return "sent"
        case tools.PauseHeartbeats(minutes=minutes):
            turned.paused_minutes = minutes
            return f"resting for {minutes} minutes"
        case tools.RecallSearch(query=query, page=page):
            return told(box.memory.recall(query, page))
        case tools.RecallSearchDates(start=start, end=end, page=page):
            return told(box.memory.recall_dates(start, end, page))
        case tools.ArchivalInsert(text=text, tags=tags):
            box.memory.archive(text, tags)
            return "kept in archival memory"
        case tools.ArchivalSearch():
            return told(
                box.memory.archival(
                    given.query, given.page, given.tags, given.tag_mode, given.start, given.end
                )
            )
        case _:
            return _edited(given, box)


def _edited(given: Arguments, box: Toolbox) -> str:
    with tenant_scope(box.space.tenant_id):
        block = blocks.labelled(box.space, given.label, box.agent)  # type: ignore[attr-defined]  # every block tool has one
        version = box.seen.get(block.id, block.version)
        # The agent has been shown this version by now, in its context or by the refusal.
        box.seen[block.id] = block.version
        changed = _edit(given, box.writer, block, version)
        box.seen[block.id] = changed.version
    size = f"{len(changed.value)} of {changed.char_limit} characters"
    return f"block {changed.label!r}, {size}, says now:\n{changed.value}"


def _edit(given: Arguments, writer: Writer, block: CoreBlock, version: int) -> CoreBlock:
    match given:
        case tools.CoreAppend(text=text):
            return blocks.append(writer, block.id, text, version)
        case tools.CoreReplace(old=old, new=new):
            return blocks.replace(writer, block.id, old, new, version)
        case tools.CoreInsert(text=text, line=line):
            return blocks.insert(writer, block.id, text, line, version)
        case tools.CoreRethink(text=text):
            return blocks.rethink(writer, block.id, text, version)
    raise ValueError(f"{type(given).__name__} edits no block")


def _shown(step: AgentStep, done: Step, call: str, now: datetime) -> list[AgentMessage]:
    """The call and its result as the agent sees them in its next step."""
    status = "OK" if done.ok else "Failed"
    result = f"{status} ({now:%Y-%m-%d %H:%M}): {done.result}"
    return [
        AgentMessage("assistant", step.text, call, step.tool, step.arguments),
        AgentMessage("tool", result, call, step.tool),
    ]
