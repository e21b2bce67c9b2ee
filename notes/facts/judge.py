"""What a model's verdict on a new claim comes to, once code has had its say (spec §11.7).

A model is asked only about claims that code leaves open, and only about claims it was offered.
Each guard here holds whatever the model says: speaker, occasion, cardinality, order in time.
"""

from __future__ import annotations

from typing import Literal

from memoryhub.engines.types import VerdictOp
from notes.facts.decide import (
    Claim,
    ClaimDecision,
    ClaimT,
    ResolutionOp,
    may_change_claim,
    normalise_value,
)

ContradictionPolicy = Literal["supersede", "retract", "keep_both"]


def decide_by_verdict(
    op: VerdictOp,
    new: ClaimT,
    old: ClaimT | None,
    *,
    text: str = "",
    sure: bool = True,
    trusted: bool = True,
    correction: bool = False,
) -> ClaimDecision[ClaimT]:
    """The decision that follows from `op` on `old`, which is held and open or was until now.

    `sure` False: the engine only suspects; a person decides. `text`: merged words of an augment.
    """
    if old is None or op in ("add", "forget") or not _is_comparable(new, old):
        return ClaimDecision(ResolutionOp.ADD, "new")
    if not sure:
        return ClaimDecision(ResolutionOp.REVIEW, "may contradict what is held", old)
    if op == "same":
        return _decide_same(new, old)
    if op == "augment":
        return _decide_augment(new, old, trusted, text)
    return _decide_contradiction(new, old, trusted, correction, denies=op == "deny")


def _is_comparable(new: Claim, old: Claim) -> bool:
    """Of one owner, of things that are and not of plans, and not over before the other began."""
    over = old.valid_to is not None and old.valid_to <= new.valid_from
    plans = (new.polarity == "planned") != (old.polarity == "planned")
    return new.owner.casefold() == old.owner.casefold() and not over and not plans


def _is_opposed(new: Claim, old: Claim) -> bool:
    return (new.polarity in ("denied", "ended")) != (old.polarity in ("denied", "ended"))


def _is_other_occasion(new: Claim, old: Claim) -> bool:
    events = "event" in (new.kind, old.kind)
    return (
        events
        and None not in (new.event_from, old.event_from)
        and (new.event_from != old.event_from)
    )


def _decide_same(new: ClaimT, old: ClaimT) -> ClaimDecision[ClaimT]:
    if _is_opposed(new, old):
        return ClaimDecision(
            ResolutionOp.REVIEW, "says the opposite, and was taken for the same", old
        )
    if _is_other_occasion(new, old):
        return ClaimDecision(ResolutionOp.ADD, "the same on another occasion")
    return ClaimDecision(ResolutionOp.SAME, "says the same in other words", old)


def _decide_augment(new: ClaimT, old: ClaimT, trusted: bool, text: str) -> ClaimDecision[ClaimT]:
    if _is_opposed(new, old):
        return ClaimDecision(
            ResolutionOp.REVIEW, "says the opposite, and was taken for more of the same", old
        )
    if _is_other_occasion(new, old):
        return ClaimDecision(ResolutionOp.ADD, "the same on another occasion")
    if not may_change_claim(new, old, trusted):
        return ClaimDecision(ResolutionOp.REVIEW, "adds to what a person said", old)
    return ClaimDecision(
        ResolutionOp.AUGMENT, "says more of the same", old, old.valid_to, text.strip()
    )


def _decide_contradiction(
    new: ClaimT, old: ClaimT, trusted: bool, correction: bool, *, denies: bool
) -> ClaimDecision[ClaimT]:
    if not denies and _may_coexist(new, old):
        return ClaimDecision(ResolutionOp.ADD, "both can be so")
    if not may_change_claim(new, old, trusted):
        return ClaimDecision(ResolutionOp.REVIEW, "contradicts what a person said", old)
    if denies:
        return _decide_denial(new, old, correction)
    if correction:
        return ClaimDecision(ResolutionOp.CORRECT, "the speaker corrected it", old, old.valid_to)
    if new.valid_from < old.valid_from:
        return ClaimDecision(
            ResolutionOp.HISTORY, "was so before what is known since", None, old.valid_from
        )
    if new.valid_from == old.valid_from:
        return ClaimDecision(ResolutionOp.CORRECT, "said later of the same time", old, old.valid_to)
    return ClaimDecision(ResolutionOp.SUPERSEDE, "contradicts what was held, and is newer", old)


def _decide_denial(new: ClaimT, old: ClaimT, correction: bool) -> ClaimDecision[ClaimT]:
    if correction:
        return ClaimDecision(ResolutionOp.RETRACT, "taken back: it was never so", old)
    if new.valid_from < old.valid_from:
        return ClaimDecision(
            ResolutionOp.HISTORY, "was denied before it came to be so", None, old.valid_from
        )
    return ClaimDecision(ResolutionOp.END, "no longer so", old)


def _may_coexist(new: Claim, old: Claim) -> bool:
    """One predicate of many values, and other values: pizza and burgers (spec R9)."""
    one = new.predicate_key == old.predicate_key
    if not one or (not new.predicate_key and new.verb != old.verb) or _is_opposed(new, old):
        return False
    many = "single" not in (new.cardinality, old.cardinality)
    return (
        many
        and normalise_value(new) != normalise_value(old)
        and bool(normalise_value(new) and normalise_value(old))
    )


def apply_contradiction_policy(
    decision: ClaimDecision[ClaimT], contradiction: ContradictionPolicy, *, store: bool
) -> ClaimDecision[ClaimT]:
    """The decision as the policy on contradictions has it (Mem0's literal mode among them).

    Corrections are none: what was never so is not kept.
    """
    if decision.op not in (ResolutionOp.SUPERSEDE, ResolutionOp.END) or decision.target is None:
        return decision
    if contradiction == "keep_both":
        return ClaimDecision(
            ResolutionOp.ADD, "contradicts what is held: both are kept", decision.target
        )
    if contradiction == "supersede" and store:
        return decision
    if contradiction == "retract":
        op = ResolutionOp.CORRECT if store else ResolutionOp.RETRACT
        return ClaimDecision(op, "contradicted: taken out", decision.target, decision.until)
    return ClaimDecision(
        ResolutionOp.CLOSE, "contradicted: closed, and nothing put in its place", decision.target
    )
