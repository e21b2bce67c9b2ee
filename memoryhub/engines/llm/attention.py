"""What to keep in front of the model: knowledge, traits, and the agent's own steps."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.llm.asking import Asking
from memoryhub.engines.types import (
    AgentContext,
    AgentStep,
    Knowledge,
    Passage,
    TraitAssessment,
    TraitView,
)


class Attending(Asking):
    def kb_extract(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        raise NotImplementedError

    def trait_update(
        self, pages: Sequence[Passage], current: Sequence[TraitView], keys: Sequence[str]
    ) -> list[TraitAssessment]:
        raise NotImplementedError

    def agent_step(self, context: AgentContext) -> AgentStep:
        raise NotImplementedError
