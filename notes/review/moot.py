"""Cases that nobody has to answer any more: the claim that they are about has ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from memoryhub.background.news import News, notify_listeners
from memoryhub.tenants.models import Space
from notes.models import Fact, Proposal

# What would end a claim that holds: nothing is left to be asked once it has ended.
_ENDING_OPS = ("supersede", "end", "close")
MOOT = "the hub: nothing left to decide"  # who answered, where nobody had to


def is_moot(op: str, held: Fact | None) -> bool:
    """Whether the claim that was held, and that a new one may end, has ended. That the new one has
    ended since leaves the question open: what was held may be over all the same."""
    return op in _ENDING_OPS and held is not None and not _is_open(held)


def _is_open(fact: Fact) -> bool:
    return fact.status == Fact.Status.ACTIVE and fact.retired_at is None


def settle_moot_conflicts(space: Space, changed: Iterable[Fact], now: datetime) -> None:
    """Close the open conflicts about claims that have ended, and open those again that were
    closed so and whose claim holds again. Call inside the tenant's scope, once the claims are
    written."""
    ended = {fact.id for fact in changed if not _is_open(fact)}
    reopened = {fact.id for fact in changed if _is_open(fact)}
    if ended:
        open_ones = _select_conflicts(space, ended).filter(state=Proposal.State.OPEN)
        _set_states(space, open_ones, now, Proposal.State.REJECTED, decided_at=now, decided_by=MOOT)
    if reopened:
        settled = _select_conflicts(space, reopened).filter(decided_by=MOOT)
        _set_states(space, settled, now, Proposal.State.OPEN, decided_at=None, decided_by="")


def _select_conflicts(space: Space, held: Collection[UUID]) -> QuerySet[Proposal]:
    return Proposal.objects.filter(
        space=space, kind=Proposal.Kind.CONFLICT, row_id__in=held, payload__op__in=_ENDING_OPS
    )


def _set_states(
    space: Space, rows: QuerySet[Proposal], now: datetime, state: str, **decision: Any
) -> None:
    found = list(rows)
    Proposal.objects.filter(id__in=[each.id for each in found]).update(state=state, **decision)
    kind = "conflict.opened" if state == Proposal.State.OPEN else "conflict.resolved"
    for each in found:
        each.state = state
        notify_listeners(space.tenant_id, partial(_list_news, each, kind, now))


def _list_news(proposal: Proposal, kind: str, now: datetime) -> list[News]:
    return [build_proposal_news(proposal, kind, now)]


def build_proposal_news(proposal: Proposal, kind: str, at: datetime) -> News:
    """That it waits, or was decided."""
    data = {"id": str(proposal.id), "about": proposal.kind, "state": str(proposal.state)}
    if proposal.row_id:
        data |= {"row_type": proposal.row_type, "row_id": str(proposal.row_id)}
    return News(kind, at, data, proposal.space_id)
