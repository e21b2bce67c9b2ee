"""Candidates that wait for a person: kept whole in a proposal, and made rows of again.

The payload of a `conflict`, `overwrite` or `quarantine` proposal:
`op` what the candidate would do to the proposal's row (an `Op`), `fact_id` the candidate's own row
where it was stored beside the other (conflict only), `candidate` its values, `sources` its
support, `relations` its triples.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.facts.resolve import OverruledCandidate
from notes.graph.build import Triple
from notes.history.change_set import TurnEvidence, serialize_row
from notes.models import Derivation, Fact, Proposal
from notes.review.proposals import propose_change


def propose_candidate(
    space: Space, overruled: OverruledCandidate, relations: Sequence[Triple], now: datetime
) -> Proposal:
    """Propose what a candidate may not do by itself. Call inside the tenant's scope."""
    new, target = overruled.new, overruled.target
    stored = overruled.kind == Proposal.Kind.CONFLICT
    payload = {
        "op": overruled.op.value,
        "fact_id": str(new.id) if stored else None,
        "candidate": serialize_row(new),
        "sources": [
            _serialize_source(source)
            for source in overruled.sources
            if source.role == Derivation.Role.SUPPORT
        ],
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
    )


def _serialize_source(source: TurnEvidence) -> dict[str, Any]:
    return {"turn": str(source.turn_id), "start": source.start, "end": source.end}


def build_candidate(
    space: Space, payload: dict[str, Any]
) -> tuple[Fact, list[TurnEvidence], list[Triple]]:
    """A fresh row of a proposal's candidate, not saved, with its support and its triples."""
    fact = Fact(tenant_id=space.tenant_id, space=space)
    for column in Fact._meta.concrete_fields:
        if column.attname in payload["candidate"]:
            value = column.to_python(payload["candidate"][column.attname])
            setattr(fact, column.attname, value)
    fact.id, fact.lineage, fact.version, fact.supersedes_id = new_id(), new_id(), 1, None
    sources = [TurnEvidence(UUID(s["turn"]), s["start"], s["end"]) for s in payload["sources"]]
    triples: list[Triple] = [(src, label, dst) for src, label, dst in payload["relations"]]
    return fact, sources, triples
