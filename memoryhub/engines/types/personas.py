"""Who it is about, and the agent that manages its own memory (MemoryOS, MemGPT; spec §3, §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

TraitLevel = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """Something to keep at hand; `evidence` are handles of pages."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """About the user, and about the agent in its dealings with this user."""

    user: tuple[KnowledgeItem, ...] = ()
    agent: tuple[KnowledgeItem, ...] = ()


@dataclass(frozen=True, slots=True)
class TraitState:
    key: str
    level: TraitLevel
    why: str


@dataclass(frozen=True, slots=True)
class TraitAssessment:
    key: str
    level: TraitLevel
    why: str
    evidence: tuple[str, ...]
    confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool an agent may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """One message of the agent's context. A tool's result carries the `call_id` it answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    call_id: str = ""
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class AgentContext:
    messages: Sequence[AgentMessage]
    tools: Sequence[AgentTool] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One tool call, or plain text when `tool` is "". `arguments` is the JSON text as sent."""

    tool: str = ""
    arguments: str = ""
    call_id: str = ""
    text: str = ""
