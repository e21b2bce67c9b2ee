"""Wishes to be forgotten, said in the dialogue (spec E20, AA7).

Only the subject's own wish counts. What it means is found among the claims held and proposed for
erasure. Nothing is erased here: `reviewing` grants what is certain, a person answers the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.claims.predicates import find_question_predicates
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, Embedder, Engine
from memoryhub.inference.selection import embed_or_none
from memoryhub.pipeline.steps.derive.verdicts import build_held_claim
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.decide import ResolutionOp
from notes.facts.neighbours import find_nearest_facts
from notes.facts.trust import TRUSTED_ROLES
from notes.models import Fact
from notes.review.proposals import propose_change

MAX_REQUEST_CHARACTERS = 500  # characters of a wish that are compared


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A turn that asks for something to be forgotten, and the claims it means. `named`: who read
    the turn said which, and did not only find what comes near."""

    turn: Turn
    facts: Sequence[Fact] = field(default_factory=tuple)
    named: bool = False

    def render_decision(self) -> dict[str, Any]:
        """In the words of the API."""
        only = self.facts[0] if len(self.facts) == 1 else None
        return {
            "text": self.turn.text[:MAX_REQUEST_CHARACTERS],
            "op": ResolutionOp.FORGET.value,
            "reason": _describe_request(self),
            "fact_id": "",
            "target": {"id": str(only.id), "text": only.text} if only else None,
            "turns": [str(self.turn.id)],
        }


def _describe_request(wish: ForgetRequest) -> str:
    count = len(wish.facts)
    found = f"{count} {'memory' if count == 1 else 'memories'} found" if count else "nothing found"
    return f"asked to forget, {found} that it may mean"


def is_from_subject(space: Space, turn: Turn) -> bool:
    """Whether the subject says it. A person is taken for the subject who is called so, or, where
    nobody who spoke here is, any person: the subject's id may be no name."""
    names = {normalise_text(name) for name in (space.name, space.subject) if name}
    spoken = {normalise_text(name) for name in space.speakers}
    return turn.role in TRUSTED_ROLES and (
        normalise_text(turn.speaker) in names or not names & spoken
    )


def prepare_requests(
    space: Space,
    policy: Policy,
    turns: Sequence[Turn],
    engine: Engine,
    embedder: Embedder,
    meant: Mapping[UUID, Sequence[Fact]] | None = None,
) -> list[ForgetRequest]:
    """What the wishes among `turns` mean: what `meant` says by turn, else what the engine says.

    Call outside any scope. Raises EngineError.
    """
    said = meant or {}
    wished = [t for t in turns if t.speech_act == "forget" and is_from_subject(space, t)]
    known = [ForgetRequest(t, said[t.id], named=True) for t in wished if said.get(t.id)]
    asked = [turn for turn in wished if not said.get(turn.id)]
    return [*known, *_ask_about_requests(space, policy, asked, engine, embedder)]


def _ask_about_requests(
    space: Space, policy: Policy, asked: Sequence[Turn], engine: Engine, embedder: Embedder
) -> list[ForgetRequest]:
    if not asked:
        return []
    texts = [turn.words[:MAX_REQUEST_CHARACTERS] for turn in asked]
    vectors = embed_or_none(lambda: embedder.embed(texts))
    with tenant_scope(space.tenant_id):
        offered = [
            _load_offered_facts(
                space, policy, turn, None if vectors is None else vectors[at], embedder.name
            )
            for at, turn in enumerate(asked)
        ]
    meant = _ask_meant_facts(space, asked, offered, engine)
    return [ForgetRequest(turn, meant.get(at, [])) for at, turn in enumerate(asked)]


def _load_offered_facts(
    space: Space, policy: Policy, turn: Turn, vector: Any, model: str
) -> list[Fact]:
    """Claims about the speaker: of the predicate asked for, then those near in meaning."""
    most = policy.facts.neighbours
    keys = find_question_predicates(turn.text)
    open_ones = Fact.objects.filter(
        space=space, owner=turn.speaker, retired_at=None, valid_to=None
    ).exclude(status=Fact.Status.RETRACTED)
    found = list(open_ones.filter(Q(predicate_key__in=keys)).order_by("-asserted_at")[:most])
    if vector is None or len(found) >= most:
        return found
    floor = policy.facts.floor
    (near,) = find_nearest_facts(space, model, [(turn.speaker, vector)], floor=floor, most=most)
    rows = open_ones.in_bulk(near)
    known = {fact.id for fact in found}
    return [*found, *(rows[row] for row in near if row in rows and row not in known)][:most]


def _ask_meant_facts(
    space: Space, asked: Sequence[Turn], offered: Sequence[Sequence[Fact]], engine: Engine
) -> dict[int, list[Fact]]:
    rows = {fact.id: fact for facts in offered for fact in facts}
    handles = {row: f"m{number}" for number, row in enumerate(rows, 1)}
    candidates = [
        ClaimCandidate(
            handle=f"w{at}",
            text=turn.words[:MAX_REQUEST_CHARACTERS],
            owner=turn.speaker,
            speaker=turn.speaker,
            said_at=turn.occurred_at,
            offered=tuple(handles[fact.id] for fact in offered[at]),
            is_wish=True,
        )
        for at, turn in enumerate(asked)
        if offered[at]
    ]
    if not candidates:
        return {}
    held = [build_held_claim(handle, rows[row]) for row, handle in handles.items()]
    verdicts = engine.resolve_claims(ClaimComparison(candidates, held, space.name or space.subject))
    by_handle = {handle: rows[row] for row, handle in handles.items()}
    found: dict[int, list[Fact]] = {}
    for verdict in verdicts:
        if verdict.op == "forget" and verdict.target in by_handle:
            found.setdefault(int(verdict.candidate[1:]), []).append(by_handle[verdict.target])
    return found


def propose_erasures(
    space: Space, policy: Policy, wishes: Sequence[ForgetRequest], now: datetime
) -> None:
    """Propose the erasures. `auto` in the payload: the policy lets it be done without asking,
    since what is meant is certain: one claim, or no more than a turn may end, each named. Call
    inside the tenant's scope."""
    for wish in wishes:
        only = wish.facts[0] if len(wish.facts) == 1 else None
        few = len(wish.facts) <= policy.facts.most_closures
        certain = only or (wish.named and few and policy.judge.trust != "confirm")
        propose_change(
            space,
            "erase",
            str(wish.turn.id),
            _describe_request(wish),
            now,
            payload={
                "fact_ids": [str(fact.id) for fact in wish.facts],
                "auto": bool(certain) and policy.erase.on_request == "auto",
            },
            row=only,
            turn_ids=[wish.turn.id],
        )
