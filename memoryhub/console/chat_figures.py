"""What an answer in the chat took: time by stage, and what models asked for it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings

from memoryhub.console import explained
from memoryhub.engines.ledger import Call
from memoryhub.inference.prices import cost


@dataclass(slots=True)
class Figures:
    """`took`: milliseconds by stage."""

    took: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    money: Decimal = Decimal(0)
    models: list[str] = field(default_factory=list)

    def count(self, calls: Iterable[Call]) -> None:
        for call in calls:
            self.calls += 1
            self.prompt += call.prompt_tokens
            self.completion += call.completion_tokens
            tokens = (call.prompt_tokens, call.completion_tokens)
            self.money += cost(settings.MODEL_PRICES, call.model, *tokens)
            self.models = list(dict.fromkeys([*self.models, call.model]))

    @property
    def stages(self) -> list[tuple[str, float]]:
        return explained.stages(self.took)

    @property
    def milliseconds(self) -> float:
        return sum(self.took.values())
