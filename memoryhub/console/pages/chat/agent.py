"""The chat's agent: it sees its window and its blocks, and looks after its memory itself.

Its tools write as they go (MemGPT); what was said is read by the pipeline as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import load_turns_before
from memoryhub.engines.types import AgentContext, AgentMessage, Engine
from memoryhub.errors import EngineError
from memoryhub.inference.selection import select_engine
from memoryhub.pipeline.steps.episodes.windows import compose_window
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.recall.agent_memory import SpaceMemory
from memoryhub.recall.render.prompt import choose_prompt_words, format_block
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from personas import blocks
from personas.agent import tools
from personas.agent.executor import StepOutcome, Toolbox, run_agent_turn
from personas.models import CoreBlock
from personas.window import render_block

AGENT_NAME = "MemoryHub"
AGENT_INSTRUCTIONS = (
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
class AgentAnswer:
    """What the agent said in the end, how it got there, and the blocks it wrote on the way."""

    text: str
    steps: Sequence[StepOutcome]
    trouble: str = ""
    blocks: Sequence[BlockChange] = ()


def has_acting_agent(tenant: Tenant, space: Space) -> bool:
    """Whether messages of this space are answered by an agent with tools."""
    with tenant_scope(tenant.id):
        return tenant.engine == Tenant.Engine.LLM and load_effective_policy(space).policy.core.tools


def answer_with_agent(
    tenant: Tenant,
    space: Space,
    turn: Turn,
    memories: Sequence[tuple[str, Sequence[MemoryItem]]],
    now: datetime,
) -> AgentAnswer:
    """Let the agent answer the turn, with `memories` by section. Calls a model: no scope may be
    open.

    Raises EngineError when it failed before it said anything.
    """
    with tenant_scope(tenant.id):
        effective = load_effective_policy(space)
        limit = effective.policy.core.char_limit
        held = blocks.ensure_default_blocks(space, AGENT_NAME, limit, now)
    engine = select_engine(tenant, effective.policy)
    window = _build_window_messages(engine, effective, space, turn, held, now)
    told = [*window, *_build_memory_messages(memories, held)]
    context = AgentContext(told, tools.list_offered_tools())
    memory = SpaceMemory(space, AGENT_NAME, now, turn.id)
    versions = {block.id: block.version for block in held}
    box = Toolbox(space, AGENT_NAME, memory, now, turn.id, versions)
    steps = effective.policy.core.max_steps
    before = {block.id: block.value for block in held}
    turned = run_agent_turn(engine, context, box, max_steps=steps, reply_expected=True)
    written = _list_written_blocks(space, before)
    if not turned.messages:
        raise EngineError(turned.trouble or gettext(_SILENCE_REASONS[turned.ending]))
    return AgentAnswer("\n\n".join(turned.messages), turned.steps, turned.trouble, written)


def _list_written_blocks(space: Space, before: Mapping[UUID, str]) -> list[BlockChange]:
    with tenant_scope(space.tenant_id):
        after = blocks.load_visible_blocks(space, AGENT_NAME)
    return [
        BlockChange(block.id, block.label, before.get(block.id, ""), block.value)
        for block in after
        if block.value != before.get(block.id, "")
    ]


_SILENCE_REASONS = {
    "yielded": _("the agent said nothing"),
    "paused": _("the agent rests and said nothing"),
    "failures": _("the agent's tools failed three times in a row"),
    "steps": _("the agent used up its steps and said nothing"),
    "broken": _("the model failed"),
}


def _build_window_messages(
    engine: Engine,
    effective: EffectivePolicy,
    space: Space,
    turn: Turn,
    held: Sequence[CoreBlock],
    now: datetime,
) -> list[AgentMessage]:
    """The window of the conversation; without windows, its last turns."""
    who = AGENT_INSTRUCTIONS.format(
        name=space.name or space.subject, now=f"{now:%Y-%m-%d %H:%M} UTC"
    )
    if effective.policy.window.mode != "off":
        return compose_window(
            turn.session, effective, engine, now, head=[who], agent=AGENT_NAME
        ).messages
    with tenant_scope(space.tenant_id):
        before = load_turns_before(turn, effective.policy.derive.context_turns)
    head = [AgentMessage("system", text) for text in (who, *map(render_block, held))]
    said = [AgentMessage(t.role, t.text) for t in (*before, turn)]  # type: ignore[arg-type]  # a checked choice
    return [*head, *said]


def _build_memory_messages(
    memories: Sequence[tuple[str, Sequence[MemoryItem]]], held: Sequence[CoreBlock]
) -> list[AgentMessage]:
    """What there is for the message, as a tool's result: data, and no instruction. Blocks and the
    window stand before it already."""
    blocks_shown = {block.id for block in held}
    told = [
        (name, [item for item in items if item.id not in blocks_shown])
        for name, items in memories
        if name != "window"
    ]
    told = [(name, items) for name, items in told if items]
    if not told:
        return []
    words = choose_prompt_words(item.text for _, items in told for item in items)
    text = format_block(told, {}, words)
    return [AgentMessage("tool", tools.cap_text(text), tool="recall_search")]
