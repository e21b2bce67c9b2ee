"""MemGPT: the summary so far, one search of everything said, and the queue of messages.

The search is the one an agent's tool makes; how often an agent would search is its model's choice
and not measured here.
"""

from __future__ import annotations

from datetime import datetime

from memoryhub.dialogues.models import Session
from memoryhub.lab.readers.base import Handed, Place, handed, made_up
from memoryhub.lab.readers.hub import ranked
from memoryhub.pipeline.windows import composed
from memoryhub.policies.services import policy_of
from memoryhub.recall.context import context
from memoryhub.recall.services import search
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import rolling


class AgentReader:
    """Option: `k` results of the search."""

    def __init__(self, place: Place) -> None:
        self._place, self._k = place, int(place.options["k"])
        with tenant_scope(place.space.tenant_id):
            sessions = Session.objects.filter(space=place.space).select_related("space")
            self._session = sessions.order_by("-ordinal").first()

    def recall(self, question: str, now: datetime) -> Handed:
        space = self._place.space
        self._open(now)
        found = search(space, question, limit=self._k, kinds=("turn",), now=now, reinforce=False)
        shown = context(
            space,
            question,
            session_id=self._session.id if self._session else None,
            budget_tokens=self._place.budget,
            now=now,
            reinforce=False,
        )
        there = {item.id for item in found.items}
        window = [item for item in ranked(shown) if item.id not in there]
        with tenant_scope(space.tenant_id):
            summary = rolling(space)
        so_far = [made_up("core", f"So far: {summary.text}", 0, now)] if summary else []
        degraded = [*found.degraded, *shown.degraded]
        made = handed([*found.items, *so_far, *window])
        return Handed(made.items, made.tokens, found.insufficient, degraded)

    def _open(self, now: datetime) -> None:
        """The window of the last session, as an agent that talks on would have it."""
        if self._session is None:
            return
        with tenant_scope(self._place.space.tenant_id):
            effective = policy_of(self._place.space)
        composed(self._session, effective, self._place.engine, now)
