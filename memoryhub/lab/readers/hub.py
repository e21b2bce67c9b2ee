"""The hub's own ways: the context that its API hands out, and what an agent's tools do."""

from __future__ import annotations

from datetime import datetime

from memoryhub.dialogues.models import Session
from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_item, build_result
from memoryhub.pipeline.steps.episodes.windows import compose_window
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.context import MemoryContext, build_context
from memoryhub.recall.render.pack import MOST_TOKENS
from memoryhub.recall.render.results import MemoryItem
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import find_rolling_summary


class HubReader:
    """What was found comes first, by score; then what is there whatever is asked.

    With `whole` all that the policy finds is handed over, however much it is (BL1).
    """

    def __init__(self, place: ReaderInputs) -> None:
        self._space = place.space
        self._budget = MOST_TOKENS if place.options.get("whole") else place.budget

    def recall(self, question: str, now: datetime) -> ReaderResult:
        found = build_context(
            self._space, question, budget_tokens=self._budget, now=now, reinforce=False
        )
        return ReaderResult(order_by_rank(found), found.tokens, found.insufficient, found.degraded)


def order_by_rank(found: MemoryContext) -> list[MemoryItem]:
    """A context in the order of its worth: what was found, then what is there whatever is asked."""
    items = {item.id: item for item in found.items()}
    best = [items.pop(at) for at in found.ranked]
    return [*best, *items.values()]


class AgentReader:
    """MemGPT: the summary so far, one search of everything said, and the queue of messages.

    The search is the one an agent's tool makes; how often an agent would search is its model's
    choice and not measured here. Option: `k` results of the search.
    """

    def __init__(self, place: ReaderInputs) -> None:
        self._place, self._k = place, int(place.options["k"])
        with tenant_scope(place.space.tenant_id):
            sessions = Session.objects.filter(space=place.space).select_related("space")
            self._session = sessions.order_by("-ordinal").first()

    def recall(self, question: str, now: datetime) -> ReaderResult:
        space = self._place.space
        if self._session is not None:  # as an agent that talks on would have it
            with tenant_scope(space.tenant_id):
                effective = load_effective_policy(space)
            compose_window(self._session, effective, self._place.engine, now)
        found = search_memories(
            space, question, limit=self._k, kinds=("turn",), now=now, reinforce=False
        )
        shown = build_context(
            space,
            question,
            session_id=self._session.id if self._session else None,
            budget_tokens=self._place.budget,
            now=now,
            reinforce=False,
        )
        there = {item.id for item in found.items}
        window = [item for item in order_by_rank(shown) if item.id not in there]
        with tenant_scope(space.tenant_id):
            summary = find_rolling_summary(space)
        so_far = [build_item("core", f"So far: {summary.text}", 0, now)] if summary else []
        degraded = [*found.degraded, *shown.degraded]
        made = build_result([*found.items, *so_far, *window])
        return ReaderResult(made.items, made.tokens, found.insufficient, degraded)
