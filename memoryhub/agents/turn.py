"""A turn of an agent at its window: step by step, each of them kept (MemGPT, spec §3.2).

What it calls and what its tools answer is part of its queue and of recall storage, so that the
window is looked at before every step: it may be warned, or flushed, in the middle of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.agents.lease import WindowLease
from memoryhub.agents.sessions import AgentSession
from memoryhub.agents.wake import WindowTimer
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import LOOKUP, RESTS_ON, Turn
from memoryhub.dialogues.services import append_inner_turns
from memoryhub.dialogues.tool_calls import ToolCall, build_call_message, build_result_message
from memoryhub.engines.types import AgentMessage, AgentStep
from memoryhub.errors import Conflict
from memoryhub.inference.ledger import open_ledger
from memoryhub.recall.agent_memory import SpaceMemory
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.scope import tenant_scope
from notes.models import Receipt
from personas import blocks
from personas.agent.executor import (
    AgentTurn,
    StepOutcome,
    Toolbox,
    format_result,
    run_agent_turn,
)
from personas.agent.tools import SEARCH_TOOLS

# Characters: what is kept beside a turn is bounded, and so much of a text is in the archive anyway.
_MAX_KEPT_ARGUMENTS = 16_000


@dataclass(frozen=True, slots=True)
class BlockChange:
    """A block the agent wrote: what it said before and after. "" before: it is new."""

    id: UUID
    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """A turn as it went: what the agent said and did, the turns in which it said it, and the
    blocks it wrote on the way."""

    turned: AgentTurn
    replies: Sequence[Turn]
    blocks: Sequence[BlockChange]


def take_agent_turn(
    seat: AgentSession,
    now: datetime,
    *,
    messages: Sequence[Message] = (),
    asked: Turn | None = None,
    told: Sequence[AgentMessage] = (),
    max_steps: int | None = None,
) -> AgentAnswer:
    """Let the agent act on what is in its window until it yields.

    `messages` are said first. `asked`: the message that it is to answer, else the last of the
    user's among these; without one it need not say anything. `told`: what it is handed beside that
    message, and not kept. Calls a model: no scope may be open.

    Raises nothing of the model's: see `AgentTurn.ending`. Raises Conflict while another turn is
    taken at the window (`window_busy`), in a session without a name, and as appending does.
    """
    seat.check_named()
    with WindowLease(seat.window) as lease:
        if messages:
            said = seat.append_messages(messages, now, follows_window=False).turns
            asked = next((turn for turn in reversed(said) if turn.role == Turn.Role.USER), asked)
        try:
            return _take_turn(seat, lease, now, asked, told, max_steps)
        finally:
            seat.follow_append(now)


def _take_turn(
    seat: AgentSession,
    lease: WindowLease,
    now: datetime,
    asked: Turn | None,
    told: Sequence[AgentMessage],
    max_steps: int | None,
) -> AgentAnswer:
    space, policy = seat.space, seat.effective.policy
    with tenant_scope(space.tenant_id):
        held = blocks.ensure_default_blocks(space, seat.agent, policy.core.char_limit, now)
    before = {block.id: block.value for block in held}
    turn_id = asked.id if asked else None
    memory, timer = SpaceMemory(space, seat.agent, now, turn_id), WindowTimer(seat.window, now)
    box = Toolbox(space, seat.agent, memory, now, turn_id, timer=timer)
    queue = WindowQueue(seat, lease, box, now, told, seat.build_head(now))
    with open_ledger(seat.tenant.id, space_id=space.id):
        turned = run_agent_turn(
            seat.engine,
            queue,
            box,
            max_steps=min(max_steps or policy.core.max_steps, policy.core.max_steps),
            reply_expected=asked is not None,
        )
    _note_tools(space.tenant_id, turned, queue.replies)
    return AgentAnswer(turned, queue.replies, _list_written_blocks(seat, before))


@dataclass
class WindowQueue:
    """The queue of a window (`personas.agent.executor.AgentQueue`). A step is stored as it is
    taken, by the way in of all that is said."""

    seat: AgentSession
    lease: WindowLease
    box: Toolbox
    now: datetime
    told: Sequence[AgentMessage]
    head: Sequence[str]
    replies: list[Turn] = field(default_factory=list)

    def load_messages(self) -> Sequence[AgentMessage]:
        composed = self.seat.compose_window(self.now, self.head)
        self.box.seen_versions |= {block.id: block.version for block in composed.blocks}
        messages = composed.messages
        asked = [at for at, each in enumerate(messages) if each.role == "user"]
        place = asked[-1] + 1 if asked else len(messages)
        return [*messages[:place], *self.told, *messages[place:]]

    def add_step(self, step: AgentStep, done: StepOutcome) -> None:
        """Raises Conflict where something was erased meanwhile: the step may say it again; and
        where the turn took so long that another has begun."""
        self.lease.extend()
        with tenant_scope(self.seat.tenant.id):
            if Receipt.objects.filter(created_at__gte=self.now).exists():
                message = gettext("something was erased meanwhile")
                raise Conflict(message, code="erased_meanwhile")
        if done.ok and done.tool in ("", "send_message"):
            self._add_reply(done)
        else:
            self._add_inner_turns(step, done)

    def _add_reply(self, done: StepOutcome) -> None:
        said = done.arguments.get("text") if isinstance(done.arguments, dict) else None
        text = str(said) if done.tool and said else done.result
        reply = Message("assistant", text, external_id=_build_id(), metadata={"quoted": False})
        stored = self.seat.append_messages(
            [reply], self.now, agent=self.seat.agent, follows_window=False
        )
        self.replies += stored.turns

    def _add_inner_turns(self, step: AgentStep, done: StepOutcome) -> None:
        result = format_result(done, self.now)
        about: dict[str, Any] = {RESTS_ON: self._list_sources()}
        about |= {LOOKUP: True} if done.tool in SEARCH_TOOLS else {}
        if step.tool:
            kept = step.arguments if len(step.arguments) <= _MAX_KEPT_ARGUMENTS else "{}"
            call, name = ToolCall(_build_id(), step.tool, kept), step.tool[:120]
            more = {"speaker": name, "external_id": _build_id(), "metadata": about}
            made = [
                build_call_message([call], step.text, external_id=call.id, metadata=about),
                build_result_message(call.id, result, **more),
            ]
        else:
            made = [Message("system", result, "system", None, _build_id(), about)]
        with tenant_scope(self.seat.tenant.id):
            append_inner_turns(
                self.seat.window.session, made, received=self.now, agent=self.seat.agent
            )

    def _list_sources(self) -> list[int]:
        """`seq` of the turns that the step is about: the one it answers, and those that its tool
        has shown. Numbers stay what they are where the space goes, ids need not."""
        shown, self.box.shown_turn_ids = self.box.shown_turn_ids, set()
        asked = {self.box.turn_id} if self.box.turn_id else set()
        with tenant_scope(self.seat.tenant.id):
            rows = Turn.objects.filter(space=self.seat.space, id__in=shown | asked)
            return sorted(rows.values_list("seq", flat=True))


def _build_id() -> str:
    return f"agent-{new_id().hex}"


def _note_tools(tenant_id: UUID, turned: AgentTurn, replies: Sequence[Turn]) -> None:
    """With its last reply, which tools the turn used."""
    if not replies:
        return
    last = replies[-1]
    last.metadata = last.metadata | {"tools": [step.tool for step in turned.steps]}
    with tenant_scope(tenant_id):
        last.save(update_fields=["metadata"])


def _list_written_blocks(seat: AgentSession, before: Mapping[UUID, str]) -> list[BlockChange]:
    with tenant_scope(seat.space.tenant_id):
        after = blocks.load_visible_blocks(seat.space, seat.agent)
    return [
        BlockChange(block.id, block.label, before.get(block.id, ""), block.value)
        for block in after
        if block.value != before.get(block.id, "")
    ]
