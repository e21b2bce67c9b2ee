"""The engine as a search asks it: what fails is named and done without (E16).

Every call runs with nothing open, and none of them is needed for an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import structlog

from memoryhub.engines.types import (
    Engine,
    JudgeEntry,
    Judgement,
    Reranker,
    RoutedQuestion,
    Utterance,
)
from memoryhub.errors import EngineError
from memoryhub.inference import selection
from memoryhub.inference.ledger import open_ledger
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space, Tenant

log = structlog.get_logger()
T = TypeVar("T")


@dataclass
class TolerantEngine:
    """A tenant's engine for one search. `degraded` names what it could not be asked for.

    `tenant` is None where the policy has it asked nothing.
    """

    space: Space
    policy: Policy
    tenant: Tenant | None
    now: datetime
    degraded: list[str] = field(default_factory=list)

    @property
    def answers_by_rules(self) -> bool:
        """Whether rules answer what it is asked, and no model."""
        if self.tenant is None:
            return True
        try:
            return selection.select_engine(self.tenant, self.policy).reads_by_rules
        except EngineError:
            return False  # told where it is asked

    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion | None:
        return self._call_engine("router", lambda engine: engine.route_question(question, window))

    def extract_names(self, question: str) -> list[str] | None:
        return self._call_engine("router", lambda engine: engine.extract_question_names(question))

    def extract_terms(self, question: str) -> list[str]:
        found = self._call_engine("router", lambda engine: engine.extract_question_terms(question))
        return found or []

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance]
    ) -> Judgement | None:
        return self._call_engine(
            "judge", lambda engine: engine.judge_entries(question, entries, window)
        )

    def order_entries(self, question: str, entries: Sequence[JudgeEntry]) -> Sequence[str] | None:
        return self._call_engine("reranker", lambda engine: engine.order_entries(question, entries))

    def score_texts(
        self, question: str, texts: Sequence[str], *, packaged: bool
    ) -> tuple[Reranker, Sequence[float]] | None:
        """By the packaged reranker or the hub's: (it, a score a text)."""

        def ask() -> tuple[Reranker, Sequence[float]]:
            reranker = selection.get_reranker(packaged=packaged)
            return reranker, reranker.score_texts(question, texts)

        return self._call("reranker", ask)

    def _call_engine(self, part: str, ask: Callable[[Engine], T]) -> T | None:
        if self.tenant is None:
            return None
        tenant = self.tenant
        return self._call(part, lambda: ask(selection.select_engine(tenant, self.policy)))

    def _call(self, part: str, ask: Callable[[], T]) -> T | None:
        if part in self.degraded:
            return None  # it has just failed: don't wait for it twice
        try:
            with open_ledger(self.space.tenant_id, space_id=self.space.id, at=self.now):
                return ask()
        except EngineError as error:
            log.warning("recall.degraded", part=part, error=error.message)
            self.degraded.append(part)
            return None
