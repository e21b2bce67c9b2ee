"""What the pipeline would do and may not: proposals for a person (spec §11.7, E20, E24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model

from memoryhub.background.news import notify_listeners
from memoryhub.tenants.models import Space
from notes.facts import risk
from notes.facts.resolve import OverruledCandidate
from notes.facts.trust import is_instruction
from notes.history.change_set import serialize_row
from notes.models import Derivation, Proposal
from notes.review.moot import MOOT, build_proposal_news, is_moot

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


def propose_candidate(
    space: Space,
    overruled: OverruledCandidate,
    relations: Sequence[tuple[str, str, str]],
    now: datetime,
) -> Proposal:
    """Propose what a candidate may not do by itself. Call inside the tenant's scope.

    The payload: `op` what it would do to the proposal's row (a `ResolutionOp`), `fact_id` the
    candidate's own row where it was stored beside the other (conflict only), `candidate` its
    values, `sources` its support, `relations` its triples.
    """
    new, target = overruled.new, overruled.target
    moot = is_moot(overruled.op.value, target)
    support = [s for s in overruled.sources if s.role == Derivation.Role.SUPPORT]
    payload = {
        "op": overruled.op.value,
        "fact_id": str(new.id) if overruled.kind == Proposal.Kind.CONFLICT else None,
        "candidate": serialize_row(new),
        "sources": [{"turn": str(s.turn_id), "start": s.start, "end": s.end} for s in support],
        "relations": [list(triple) for triple in relations],
    }
    return propose_change(
        space,
        overruled.kind,
        f"{target.id if target else ''}:{new.text_key[:32]}",
        overruled.reason,
        now,
        payload=payload,
        row=target,
        turn_ids={source.turn_id for source in overruled.sources},
        declined_by=MOOT if overruled.kind == Proposal.Kind.CONFLICT and moot else "",
    )


def _assess_risk(kind: str, payload: dict[str, Any], row: Model | None) -> risk.RiskLevel:
    said = (payload.get("candidate") or {}).get("text", "")
    mentions = getattr(row, "mention_count", 1)
    op = str(payload.get("op", ""))
    return risk.assess_proposal_risk(kind, op, mentions, order=is_instruction(said))


def build_merge_key(one: UUID, other: UUID) -> str:
    """The key of a pair of entities that may be one, whichever is named first."""
    return ":".join(sorted((str(one), str(other))))
