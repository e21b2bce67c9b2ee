"""Cases that nobody has to answer any more: the claims that they are about have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memoryhub.background.news import News, notify_listeners
from memoryhub.tenants.models import Space
from notes.models import Fact, Proposal

Kind = Proposal.Kind
# What would end a claim that holds: nothing is left to be asked once it has ended.
_ENDING_OPS = ("supersede", "end", "close")
MOOT = "the hub: nothing left to decide"  # who answered, where nobody had to


def is_moot(op: str, held: Fact | None) -> bool:
    """Whether the claim that was held, and that a new one may end, has ended. That the new one has
    ended since leaves the question open: what was held may be over all the same."""
    return op in _ENDING_OPS and held is not None and not _is_open(held)


def _is_open(fact: Fact) -> bool:
    return fact.status == Fact.Status.ACTIVE and fact.retired_at is None


def settle_moot_cases(space: Space, changed: Iterable[Fact], now: datetime) -> None:
    """Close the open cases in which nothing is left to decide since claims have ended, and open
    those again that were closed so and whose claims hold again. Call inside the tenant's scope,
    once the claims are written."""
    ended = {fact.id for fact in changed if not _is_open(fact)}
    reopened = {fact.id for fact in changed if _is_open(fact)}
    if ended:
        found = list(_select_cases(space, ended).filter(state=Proposal.State.OPEN))
        left = _find_open_renames(space, found)
        moot = [case for case in found if case.id not in left]
        _set_states(space, moot, now, Proposal.State.REJECTED, decided_at=now, decided_by=MOOT)
    if reopened:
        found = list(_select_cases(space, reopened).filter(decided_by=MOOT))
        left = _find_open_renames(space, found)
        asked = [case for case in found if case.kind == Kind.CONFLICT or case.id in left]
        _set_states(space, asked, now, Proposal.State.OPEN, decided_at=None, decided_by="")


def _select_cases(space: Space, changed: Collection[UUID]) -> QuerySet[Proposal]:
    """Conflicts about these claims, and all names put right: each may be in any claim."""
    conflicts = Q(kind=Kind.CONFLICT, row_id__in=changed, payload__op__in=_ENDING_OPS)
    return Proposal.objects.filter(conflicts | Q(kind=Kind.RENAME), space=space)


def _find_open_renames(space: Space, cases: Iterable[Proposal]) -> set[UUID]:
    """Those whose name is still right in the claim that a person put right, and wrong in another.
    One statement, none where names are not asked about."""
    renames = [case for case in cases if case.kind == Kind.RENAME]
    if not renames:
        return set()
    others = {UUID(each) for case in renames for each in case.payload["fact_ids"]}
    lineages = {UUID(case.payload["lineage"]) for case in renames}
    rows = Fact.objects.filter(Q(id__in=others) | Q(lineage__in=lineages), space=space)
    held = list(rows.filter(retired_at=None).exclude(status=Fact.Status.RETRACTED))
    return {
        case.id
        for case in renames
        if {str(fact.id) for fact in held} & {*case.payload["fact_ids"]}
        if any(
            str(fact.lineage) == case.payload["lineage"] and case.payload["new"] in fact.text
            for fact in held
        )
    }


def _set_states(
    space: Space, cases: Sequence[Proposal], now: datetime, state: str, **decision: Any
) -> None:
    Proposal.objects.filter(id__in=[each.id for each in cases]).update(state=state, **decision)
    kind = "conflict.opened" if state == Proposal.State.OPEN else "conflict.resolved"
    for each in cases:
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
