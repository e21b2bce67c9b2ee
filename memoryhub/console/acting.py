"""The chat's agent: it sees its window and its blocks, and looks after its memory itself.

Its tools write as they go (MemGPT); what was said is read by the pipeline as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_before
from memoryhub.engines.types import AgentContext, AgentMessage, Engine
from memoryhub.errors import EngineError
from memoryhub.models_in_use import engine_for
from memoryhub.pipeline.windows import composed
from memoryhub.policies.services import Effective, policy_of
from memoryhub.recall.lookups import SpaceMemory
from memoryhub.recall.results import Item
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from personas import blocks, tools
from personas.executor import Step, Toolbox, Turned, run_turn
from personas.models import CoreBlock
from personas.windowing import shown_block

AGENT = "MemoryHub"
WHO = (
    "You talk with {name}. You are an assistant that remembers: your memory blocks are below, all"
    " that was ever said can be searched. The time is {now}."
)


@dataclass(frozen=True, slots=True)
class BlockChange:
    """A block the agent wrote: what it said before and after. "" before: it is new."""

    id: UUID
    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Acted:
    """What the agent said in the end, how it got there, and the blocks it wrote on the way."""

    text: str
    steps: Sequence[Step]
    trouble: str = ""
    blocks: Sequence[BlockChange] = ()


def is_acting(tenant: Tenant, space: Space) -> bool:
    """Whether messages of this space are answered by an agent with tools."""
    with tenant_scope(tenant.id):
        return tenant.engine == Tenant.Engine.LLM and policy_of(space).policy.core.tools


def act(tenant: Tenant, space: Space, turn: Turn, recalled: Sequence[Item], now: datetime) -> Acted:
    """Let the agent answer the turn. Calls a model: no scope may be open.

    Raises EngineError when it failed before it said anything.
    """
    with tenant_scope(tenant.id):
        effective = policy_of(space)
        limit = effective.policy.core.char_limit
        held = blocks.ensure_defaults(space, AGENT, limit, now)
    engine = engine_for(tenant, effective.policy)
    context = AgentContext(_messages(engine, effective, space, turn, held, now), tools.offered())
    context = replace(context, messages=[*context.messages, *_memories(recalled)])
    box = Toolbox(
        space,
        AGENT,
        SpaceMemory(space, AGENT, now, turn.id),
        now,
        turn.id,
        {block.id: block.version for block in held},
    )
    steps = effective.policy.core.max_steps
    before = {block.id: block.value for block in held}
    turned = run_turn(engine, context, box, max_steps=steps, reply_expected=True)
    return _acted(turned, _written(space, before))


def _acted(turned: Turned, written: Sequence[BlockChange]) -> Acted:
    if not turned.said:
        raise EngineError(turned.trouble or gettext(_SILENT[turned.ended]))
    return Acted("\n\n".join(turned.said), turned.steps, turned.trouble, written)


def _written(space: Space, before: Mapping[UUID, str]) -> list[BlockChange]:
    with tenant_scope(space.tenant_id):
        after = blocks.in_front_of(space, AGENT)
    return [
        BlockChange(block.id, block.label, before.get(block.id, ""), block.value)
        for block in after
        if block.value != before.get(block.id, "")
    ]


_SILENT = {
    "yielded": _("the agent said nothing"),
    "paused": _("the agent rests and said nothing"),
    "failures": _("the agent's tools failed three times in a row"),
    "steps": _("the agent used up its steps and said nothing"),
    "broken": _("the model failed"),
}


def _messages(
    engine: Engine,
    effective: Effective,
    space: Space,
    turn: Turn,
    held: Sequence[CoreBlock],
    now: datetime,
) -> list[AgentMessage]:
    """The window of the conversation; without windows, its last turns."""
    who = WHO.format(name=space.name or space.subject, now=f"{now:%Y-%m-%d %H:%M} UTC")
    if effective.policy.window.mode != "off":
        return composed(turn.session, effective, engine, now, head=[who], agent=AGENT).messages
    with tenant_scope(space.tenant_id):
        before = turns_before(turn, effective.policy.derive.context_turns)
    head = [AgentMessage("system", text) for text in (who, *map(shown_block, held))]
    said = [AgentMessage(t.role, t.text) for t in (*before, turn)]  # type: ignore[arg-type]  # a checked choice
    return [*head, *said]


def _memories(recalled: Sequence[Item]) -> list[AgentMessage]:
    """What a search for the message found, as a tool's result: data, and no instruction."""
    if not recalled:
        return []
    lines = [f"- [{item.occurred_at:%Y-%m-%d}] {item.text}" for item in recalled]
    text = "Memories that may bear on this:\n" + "\n".join(lines)
    return [AgentMessage("tool", tools.capped(text), tool="recall_search")]
