"""Candidates that wait for a person: kept whole in a proposal, and made rows of again.

The payload of a `conflict`, `overwrite` or `quarantine` proposal:
`op` what the candidate would do to the proposal's row (an `ResolutionOp`), `fact_id` the
candidate's own row where it was stored beside the other (conflict only), `candidate` its values,
`sources` its support, `relations` its triples.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memoryhub.tenants.models import Space
from notes.facts.resolve import OverruledCandidate
from notes.graph.build import Triple
from notes.history.change_set import TurnEvidence, serialize_row
from notes.models import Derivation, Proposal
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
