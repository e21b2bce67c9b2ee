"""What to keep in front of the model: knowledge, traits, and the agent's own steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Set
from functools import partial
from typing import Any

from memoryhub.engines.ledger import CallRecord
from memoryhub.engines.llm.client.chat import ChatClient
from memoryhub.engines.llm.client.ladder import account_for_call, record_usage, strip_thinking
from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    ModelPurposes,
    ask_in_halves,
    render_pages,
    select_offered,
)
from memoryhub.engines.llm.purposes.tool_protocol import (
    flatten_messages,
    render_protocol_messages,
    render_protocol_tool,
)
from memoryhub.engines.llm.replies import (
    MAX_TRAITS,
    CalibrationReply,
    KnowledgeReply,
    KnowledgeReplyItem,
    TraitReplyItem,
    TraitsReply,
    build_step_reply,
    serialize_arguments,
)
from memoryhub.engines.types import (
    AgentContext,
    AgentMessage,
    AgentStep,
    Knowledge,
    KnowledgeItem,
    Passage,
    TraitAssessment,
    TraitLevel,
    TraitScale,
    TraitState,
)
from memoryhub.errors import EngineError

MAX_ITEMS = 20  # of either side, a call
_FEW_DIMENSIONS = 30  # dimensions that a small model can have a word on each of in one reply
_LEVELS: dict[str, TraitLevel] = {"high": "high", "medium": "medium", "low": "low"}


class PersonaPurposes(ModelPurposes):
    def extract_knowledge(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """Only items that rest on offered pages; fewer pages a call when the model can't take
        them."""
        parts = ask_in_halves(partial(self._extract_from_pages, subject), pages) if pages else []
        return Knowledge(
            tuple(item for part in parts for item in part.user)[:MAX_ITEMS],
            tuple(item for part in parts for item in part.agent)[:MAX_ITEMS],
        )

    def _extract_from_pages(self, subject: str, pages: Sequence[Passage]) -> Knowledge:
        data = {"subject": subject, "pages": render_pages(pages)}
        reply = self.ask_purpose("kb_extract", data, KnowledgeReply)
        offered = {page.handle for page in pages}
        user, agent = _select_items(reply.user, offered), _select_items(reply.agent, offered)
        dropped = len(reply.user) + len(reply.agent) - len(user) - len(agent)
        self.count_rejected_items("kb_extract", dropped)
        return Knowledge(tuple(user), tuple(agent))

    def find_unpredicted(
        self, predicted: str, span: Sequence[Passage], *, subject: str
    ) -> list[KnowledgeItem]:
        """Only statements that rest on offered passages."""
        ask = partial(self._ask_for_gap, predicted, subject)
        return [item for part in ask_in_halves(ask, span) for item in part] if span else []

    def _ask_for_gap(
        self, predicted: str, subject: str, span: Sequence[Passage]
    ) -> list[KnowledgeItem]:
        data = {"subject": subject, "predicted": predicted, "passages": render_pages(span)}
        said = self.ask_purpose("calibrate", data, CalibrationReply).statements
        kept = _select_items(said, {passage.handle for passage in span})
        self.count_rejected_items("calibrate", len(said) - len(kept))
        return kept

    def assess_traits(
        self, pages: Sequence[Passage], current: Sequence[TraitState], scales: Sequence[TraitScale]
    ) -> list[TraitAssessment]:
        """Only registered keys and levels, on offered pages: the rest is dropped and counted.

        Fewer dimensions a call when the model can't take them, then fewer pages: a small one has
        a word on each dimension, whatever the pages say. What later ones say of a key stands.
        """
        if not pages or not scales:
            return []
        of_scales = ask_in_halves(partial(self._assess_scales, current, pages), scales)
        kept = {each.key: each for parts in of_scales for part in parts for each in part}
        return list(kept.values())[:MAX_TRAITS]

    def _assess_scales(
        self, current: Sequence[TraitState], pages: Sequence[Passage], scales: Sequence[TraitScale]
    ) -> list[list[TraitAssessment]]:
        """Pages give way only where few dimensions are asked for already."""
        ask = partial(self._ask_for_traits, current, scales)
        return [ask(pages)] if len(scales) > _FEW_DIMENSIONS else ask_in_halves(ask, pages)

    def _ask_for_traits(
        self, current: Sequence[TraitState], scales: Sequence[TraitScale], pages: Sequence[Passage]
    ) -> list[TraitAssessment]:
        keys = {each.key: {"high": each.high, "low": each.low} for each in scales}
        held = [{"key": t.key, "level": t.level, "why": t.why} for t in current if t.key in keys]
        data = {"keys": keys, "current": held, "pages": render_pages(pages)}
        reply = self.ask_purpose("trait_update", data, TraitsReply)
        offered = {page.handle for page in pages}
        found = [
            made for each in reply.traits if (made := _build_assessment(each, keys.keys(), offered))
        ]
        kept = list({each.key: each for each in reversed(found)}.values())[::-1][:MAX_TRAITS]
        self.count_rejected_items("trait_update", len(reply.traits) - len(kept))
        return kept

    def choose_agent_step(self, context: AgentContext) -> AgentStep:
        """By the endpoint's own tool calls, where a probe has found that it has them.

        Elsewhere, and where it refuses them after all, tools travel as data and come back as
        `tool` and `arguments`. Arguments are not judged here.
        """
        chat = self._chats.get("agent_step", self._chat)
        if isinstance(chat, ChatClient) and chat.calls_tools:
            try:
                return self._call_agent_tool(chat, context)
            except EngineError as error:
                if error.code != "endpoint_refused" or not error.permanent:
                    raise
                chat.calls_tools = False
        data: dict[str, Any] = {
            "tools": [
                {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}
                for t in context.tools
            ],
            "messages": [_render_message(each) for each in context.messages],
        }
        reply = self.ask_purpose("agent_step", data, build_step_reply(list(context.tools)))
        tool = reply.tool.strip()
        return AgentStep(
            tool="" if tool.casefold() in ("none", "null") else tool,
            arguments=serialize_arguments(reply.arguments) if tool else "",
            text=reply.text.strip(),
        )

    def _call_agent_tool(self, chat: ChatClient, context: AgentContext) -> AgentStep:
        instructions = {"role": "system", "content": self.prompts.get_text("agent_step")}
        sent = [instructions, *render_protocol_messages(context.messages)]
        version = self.prompts.get_version("agent_step")
        record = CallRecord("agent_step", version, chat.model, flatten_messages(sent))
        with account_for_call(record) as call:
            call.attempts += 1
            made = chat.choose_tool(sent, [render_protocol_tool(tool) for tool in context.tools])
            record_usage(call, made.completion)
            call.output += f"{made.tool}({made.arguments})" if made.tool else ""
        self.count_rejected_items("agent_step", made.dropped)
        text = strip_thinking(made.completion.text).strip()
        return AgentStep(tool=made.tool, arguments=made.arguments, text=text)


def _select_items(said: Iterable[KnowledgeReplyItem], offered: set[str]) -> list[KnowledgeItem]:
    found: dict[str, KnowledgeItem] = {}
    for each in said:
        text = each.text.strip()[:MOST_CHARACTERS]
        evidence = select_offered(each.evidence, offered)
        if text and evidence:
            found.setdefault(text.casefold(), KnowledgeItem(text, evidence))
    return list(found.values())[:MAX_ITEMS]


def _build_assessment(
    said: TraitReplyItem, keys: Set[str], offered: set[str]
) -> TraitAssessment | None:
    key, level = said.key.strip().lower(), _LEVELS.get(said.level.strip().lower())
    evidence = select_offered(said.evidence, offered)
    if key not in keys or level is None or not evidence:
        return None
    return TraitAssessment(
        key, level, said.why.strip()[:MOST_CHARACTERS], evidence, said.confidence
    )


def _render_message(message: AgentMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool:
        said["tool"] = message.tool
    if message.arguments:
        said["arguments"] = _parse_arguments(message.arguments)
    return said


def _parse_arguments(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
