"""What a model's verdict on a new claim comes to, once code has had its say (spec §11.7).

A model is asked only about claims that code leaves open, and only about claims it was offered.
Each guard here holds whatever the model says: speaker, occasion, cardinality, order in time.
"""

from __future__ import annotations

from typing import Literal

from memoryhub.engines.types import VerdictOp
from notes.resolving import C, Claim, Decision, Op, may_change, value

Contradiction = Literal["supersede", "retract", "keep_both"]


def judged(
    op: VerdictOp,
    new: C,
    old: C | None,
    *,
    text: str = "",
    sure: bool = True,
    trusted: bool = True,
    correction: bool = False,
) -> Decision[C]:
    """The decision that follows from `op` on `old`, which is held and open or was until now.

    `sure` False: the engine only suspects; a person decides. `text`: merged words of an augment.
    """
    if old is None or op in ("add", "forget") or not _comparable(new, old):
        return Decision(Op.ADD, "new")
    if not sure:
        return Decision(Op.REVIEW, "may contradict what is held", old)
    if op == "same":
        return _same(new, old)
    if op == "augment":
        return _augment(new, old, trusted, text)
    return _contradiction(new, old, trusted, correction, denies=op == "deny")


def _comparable(new: Claim, old: Claim) -> bool:
    """Of one owner, of things that are and not of plans, and not over before the other began."""
    over = old.valid_to is not None and old.valid_to <= new.valid_from
    plans = (new.polarity == "planned") != (old.polarity == "planned")
    return new.owner.casefold() == old.owner.casefold() and not over and not plans


def _opposed(new: Claim, old: Claim) -> bool:
    return (new.polarity in ("denied", "ended")) != (old.polarity in ("denied", "ended"))


def _other_occasion(new: Claim, old: Claim) -> bool:
    events = "event" in (new.kind, old.kind)
    return (
        events
        and None not in (new.event_from, old.event_from)
        and (new.event_from != old.event_from)
    )


def _same(new: C, old: C) -> Decision[C]:
    if _opposed(new, old):
        return Decision(Op.REVIEW, "says the opposite, and was taken for the same", old)
    if _other_occasion(new, old):
        return Decision(Op.ADD, "the same on another occasion")
    return Decision(Op.SAME, "says the same in other words", old)


def _augment(new: C, old: C, trusted: bool, text: str) -> Decision[C]:
    if _opposed(new, old):
        return Decision(Op.REVIEW, "says the opposite, and was taken for more of the same", old)
    if _other_occasion(new, old):
        return Decision(Op.ADD, "the same on another occasion")
    if not may_change(new, old, trusted):
        return Decision(Op.REVIEW, "adds to what a person said", old)
    return Decision(Op.AUGMENT, "says more of the same", old, old.valid_to, text.strip())


def _contradiction(new: C, old: C, trusted: bool, correction: bool, *, denies: bool) -> Decision[C]:
    if not denies and _both_may_be_so(new, old):
        return Decision(Op.ADD, "both can be so")
    if not may_change(new, old, trusted):
        return Decision(Op.REVIEW, "contradicts what a person said", old)
    if denies:
        return _denial(new, old, correction)
    if correction:
        return Decision(Op.CORRECT, "the speaker corrected it", old, old.valid_to)
    if new.valid_from < old.valid_from:
        return Decision(Op.HISTORY, "was so before what is known since", None, old.valid_from)
    if new.valid_from == old.valid_from:
        return Decision(Op.CORRECT, "said later of the same time", old, old.valid_to)
    return Decision(Op.SUPERSEDE, "contradicts what was held, and is newer", old)


def _denial(new: C, old: C, correction: bool) -> Decision[C]:
    if correction:
        return Decision(Op.RETRACT, "taken back: it was never so", old)
    if new.valid_from < old.valid_from:
        return Decision(Op.HISTORY, "was denied before it came to be so", None, old.valid_from)
    return Decision(Op.END, "no longer so", old)


def _both_may_be_so(new: Claim, old: Claim) -> bool:
    """One predicate of many values, and other values: pizza and burgers (spec R9)."""
    one = new.predicate_key == old.predicate_key
    if not one or (not new.predicate_key and new.v != old.v) or _opposed(new, old):
        return False
    many = "single" not in (new.cardinality, old.cardinality)
    return many and value(new) != value(old) and bool(value(new) and value(old))


def under(decision: Decision[C], contradiction: Contradiction, *, store: bool) -> Decision[C]:
    """The decision as the policy on contradictions has it (Mem0's literal mode among them).

    Corrections are none: what was never so is not kept.
    """
    if decision.op not in (Op.SUPERSEDE, Op.END) or decision.target is None:
        return decision
    if contradiction == "keep_both":
        return Decision(Op.ADD, "contradicts what is held: both are kept", decision.target)
    if contradiction == "supersede" and store:
        return decision
    if contradiction == "retract":
        op = Op.CORRECT if store else Op.RETRACT
        return Decision(op, "contradicted: taken out", decision.target, decision.until)
    return Decision(Op.CLOSE, "contradicted: closed, and nothing put in its place", decision.target)
