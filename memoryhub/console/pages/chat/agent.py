"""The chat's agent: it sits at the window of the conversation, and looks after its memory itself.

Its tools write as they go (MemGPT); what was said is read by the pipeline as ever.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.agents.sessions import AgentSession, open_agent_session
from memoryhub.agents.turn import AgentAnswer, take_agent_turn
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import AgentMessage
from memoryhub.errors import EngineError
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.render.pack import pack_context
from memoryhub.recall.render.prompt import (
    SECTION_ORDER,
    choose_prompt_words,
    format_block,
    format_frame,
    format_heading,
    format_memory_line,
)
from memoryhub.recall.render.results import ContextSection, MemoryItem
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from personas import blocks
from personas.agent import tools
from personas.models import AGENT_NAME

_SILENCE_REASONS = {
    "yielded": _("the agent did not reply"),
    "paused": _("the agent is paused and did not reply"),
    "failures": _("the agent's tools failed three times in a row"),
    "steps": _("the agent reached its step limit without replying"),
    "broken": _("the model failed"),
}


def has_acting_agent(tenant: Tenant, space: Space) -> bool:
    """Whether messages of this space are answered by an agent with tools."""
    with tenant_scope(tenant.id):
        return AgentSession.can_act(tenant, load_effective_policy(space).policy)


def answer_with_agent(
    space: Space,
    turn: Turn,
    recalled: Sequence[MemoryItem],
    unasked: Sequence[ContextSection],
    now: datetime,
) -> AgentAnswer:
    """Let the agent answer the turn from what was recalled, best first, and what the policy hands
    over `unasked`, by section. Calls a model: no scope may be open.

    Raises EngineError when it failed before it said anything.
    """
    seat = open_agent_session(space, turn.session.external_id, AGENT_NAME, now)
    with tenant_scope(space.tenant_id):
        there = {block.id for block in blocks.load_visible_blocks(space, AGENT_NAME)}
    told = _build_memory_messages(recalled, unasked, there)
    answer = take_agent_turn(seat, now, asked=turn, told=told)
    if not answer.turned.messages:
        ending = answer.turned.ending
        raise EngineError(answer.turned.trouble or gettext(_SILENCE_REASONS[ending]))
    return answer


def _build_memory_messages(
    recalled: Sequence[MemoryItem],
    unasked: Sequence[ContextSection],
    block_ids: Collection[UUID],
) -> list[AgentMessage]:
    """What there is for the message, as a tool's result: data, and no instruction. Blocks and the
    window stand before it already. As much as a tool may give, packed as a context is."""
    always = {
        section.name: [item for item in section.items if item.id not in block_ids]
        for section in unasked
        if section.name != "window"
    }
    shown = [*recalled, *(item for items in always.values() for item in items)]
    words = choose_prompt_words(item.text for item in shown)
    packed = pack_context(
        always,
        recalled,
        tools.MAX_RESULT_CHARS - len("\n".join(format_frame(words))),
        lambda lines: [len(line) for line in lines],
        heading=max(len(format_heading(name, words)) for name in SECTION_ORDER) + len("\n\n"),
        line=lambda item: format_memory_line(item, words=words),
    )
    told = [(name, packed.parts[name]) for name in SECTION_ORDER if packed.parts.get(name)]
    if not told:
        return []
    return [AgentMessage("tool", format_block(told, {}, words), tool="recall_search")]
