"""What the pipeline would do and may not: proposals for a person (spec §11.7, E20, E24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model

from memoryhub.news import News, notify_listeners
from memoryhub.tenants.models import Space
from notes.facts import risk
from notes.facts.trust import is_instruction
from notes.models import Proposal

_opened_ids: ContextVar[list[UUID] | None] = ContextVar("opened", default=None)


@contextmanager
def collect_opened_proposals() -> Iterator[list[UUID]]:
    """The ids of the proposals that are opened within, also those of a write that failed."""
    opened: list[UUID] = []
    token = _opened_ids.set(opened)
    try:
        yield opened
    finally:
        _opened_ids.reset(token)


def propose_change(
    space: Space,
    kind: str,
    key: str,
    reason: str,
    now: datetime,
    *,
    payload: dict[str, Any] | None = None,
    row: Model | None = None,
    turn_ids: Iterable[UUID] = (),
    declined_by: str = "",
) -> Proposal:
    """Put a change before a person, once a `key`. Call inside the tenant's scope.

    `declined_by` already said no: it is kept so that nobody is asked again.
    """
    state = Proposal.State.REJECTED if declined_by else Proposal.State.OPEN
    proposal, fresh = Proposal.objects.get_or_create(
        space=space,
        dedupe_key=f"{kind}:{key}"[:120],
        defaults={
            "tenant_id": space.tenant_id,
            "kind": kind,
            "row_type": type(row).__name__.lower() if row is not None else "",
            "row_id": row.pk if row is not None else None,
            "payload": payload or {},
            "turn_ids": list(turn_ids),
            "reason": reason,
            "risk": _assess_risk(kind, payload or {}, row),
            "created_at": now,
            "state": state,
            "decided_at": now if declined_by else None,
            "decided_by": declined_by[:120],
        },
    )
    if fresh and state == Proposal.State.OPEN:
        if (opened := _opened_ids.get()) is not None:
            opened.append(proposal.id)
        notify_listeners(
            space.tenant_id, lambda: [build_proposal_news(proposal, "conflict.opened", now)]
        )
    return proposal


def _assess_risk(kind: str, payload: dict[str, Any], row: Model | None) -> risk.RiskLevel:
    said = (payload.get("candidate") or {}).get("text", "")
    mentions = getattr(row, "mention_count", 1)
    op = str(payload.get("op", ""))
    return risk.assess_proposal_risk(kind, op, mentions, order=is_instruction(said))


def build_proposal_news(proposal: Proposal, kind: str, at: datetime) -> News:
    """That it waits, or was decided."""
    data = {"id": str(proposal.id), "about": proposal.kind, "state": str(proposal.state)}
    if proposal.row_id:
        data |= {"row_type": proposal.row_type, "row_id": str(proposal.row_id)}
    return News(kind, at, data, proposal.space_id)


def build_merge_key(one: UUID, other: UUID) -> str:
    """The key of a pair of entities that may be one, whichever is named first."""
    return ":".join(sorted((str(one), str(other))))
