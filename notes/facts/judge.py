"""What a model's verdict on a new claim comes to, once code has had its say (spec §11.7).

A model is believed about claims that it was offered only. Whatever it says, an assistant's words
change nothing that people said, another occasion is another event, and times are kept in order; how
much more it takes than its word is the policy's (`judge.trust`). What is not carried out is put
before a person.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.claims.predicates import is_many_valued
from memoryhub.engines.types import VerdictOp
from memoryhub.subject_names import is_same_name
from notes.facts.decide import (
    Claim,
    ClaimDecision,
    ClaimT,
    ResolutionOp,
    may_change_claim,
    normalise_value,
)
from notes.facts.words import names_one_of_several

ContradictionPolicy = Literal["supersede", "retract", "keep_both"]
JudgeTrust = Literal["confirm", "guarded", "trusted"]


def decide_by_verdict(
    op: VerdictOp,
    new: ClaimT,
    old: ClaimT | None,
    *,
    text: str = "",
    sure: bool = True,
    trusted: bool = True,
    correction: bool = False,
    trust: JudgeTrust = "guarded",
    quoted: bool = True,
    speakers: Collection[str] = (),
    tells_state: bool = False,
    is_model: bool = False,
    bears_exchange_out: bool = False,
    why: str = "",
) -> ClaimDecision[ClaimT]:
    """The decision that follows from `op` on `old`, which is held and open or was until now.

    `sure` False: the engine only suspects; a person decides. `text`: merged words of an augment.
    `trust`: how far the engine's word goes (policy `judge.trust`). `quoted`: the words that the new
    claim rests on were found. `speakers`: who talks here, by name, folded. `tells_state`: the
    engine said whether the new claim holds now, so that one which does is no late news. `is_model`:
    what it says is put before a person where it is not carried out. `bears_exchange_out`: the words
    state the new value, and do not say that the old one is so beside it. `why`: what the engine
    goes by, told with the reason where a claim is touched.
    """
    decision = _decide_by_verdict(
        op,
        new,
        old,
        text,
        sure,
        trusted,
        correction,
        trust,
        quoted,
        speakers,
        tells_state,
        is_model,
        bears_exchange_out,
    )
    told = why and decision.target is not None
    return replace(decision, reason=f"{decision.reason} ({why})") if told else decision


def _decide_by_verdict(
    op: VerdictOp,
    new: ClaimT,
    old: ClaimT | None,
    text: str,
    sure: bool,
    trusted: bool,
    correction: bool,
    trust: JudgeTrust,
    quoted: bool,
    speakers: Collection[str],
    tells_state: bool,
    is_model: bool,
    bears_exchange_out: bool,
) -> ClaimDecision[ClaimT]:
    if old is None or op in ("add", "forget") or _is_over(new, old):
        return ClaimDecision(ResolutionOp.ADD, "new")
    if not sure:
        return ClaimDecision(ResolutionOp.REVIEW, "may contradict what is held", old)
    if new.polarity == "planned" and old.polarity != "planned":
        if is_model and op in ("contradict", "deny"):
            return ClaimDecision(ResolutionOp.REVIEW, "a plan, said to change what is held", old)
        return ClaimDecision(ResolutionOp.ADD, "a plan changes nothing yet")
    if op == "deny" and not is_model and names_one_of_several(new.object, old.object):
        return ClaimDecision(ResolutionOp.ADD, "the rest of what is held may be so")
    if op == "same":
        decision = _decide_same(new, old)
    elif op == "augment":
        decision = _decide_augment(new, old, trusted, text)
    else:
        is_late = _is_late_news(new, old, tells_state)
        decision = _decide_contradiction(
            new, old, trusted, correction, denies=op == "deny", is_late=is_late
        )
    doubt = _find_doubt(decision, new, old, trust, quoted, speakers, bears_exchange_out)
    return ClaimDecision(ResolutionOp.REVIEW, doubt, old) if doubt else decision


def _find_doubt(
    decision: ClaimDecision[ClaimT],
    new: Claim,
    old: Claim,
    trust: JudgeTrust,
    quoted: bool,
    speakers: Collection[str],
    bears_exchange_out: bool,
) -> str:
    """Why a person is asked before the decision is carried out; "" where none has to be."""
    if not decision.mutates or trust == "trusted":
        return ""
    if trust == "confirm":
        return f"a model's word waits for a person: {decision.reason}"
    if not quoted:
        return f"the words it rests on were not found: {decision.reason}"
    owners = {new.owner.casefold(), old.owner.casefold()}
    if len(owners) == 2 and owners <= set(speakers):
        return f"said of somebody else: {decision.reason}"
    may_replace = bears_exchange_out and is_same_name(new.owner, old.owner)
    replaced = decision.op is ResolutionOp.SUPERSEDE and not may_replace
    if replaced and _are_kept_side_by_side(new, old):
        return f"both may be so: {decision.reason}"
    return ""


def _is_over(new: Claim, old: Claim) -> bool:
    return old.valid_to is not None and old.valid_to <= new.valid_from


def _is_late_news(new: Claim, old: Claim, tells_state: bool) -> bool:
    """Whether it is of a time before the old claim began. Where nobody said when that was, it is
    known to hold from when it was told: what is told later may still take its place."""
    if new.valid_from >= old.valid_from:
        return False
    is_over = new.valid_to is not None and new.valid_to <= new.asserted_at
    is_start_known = old.event_from == old.valid_from and not tells_state
    return is_over or is_start_known or new.asserted_at <= old.asserted_at


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
    new: ClaimT, old: ClaimT, trusted: bool, correction: bool, *, denies: bool, is_late: bool
) -> ClaimDecision[ClaimT]:
    if not may_change_claim(new, old, trusted):
        return ClaimDecision(ResolutionOp.REVIEW, "contradicts what a person said", old)
    if denies:
        return _decide_denial(new, old, correction, is_late)
    if correction:
        return ClaimDecision(ResolutionOp.CORRECT, "the speaker corrected it", old, old.valid_to)
    if is_late:
        return ClaimDecision(
            ResolutionOp.HISTORY, "was so before what is known since", None, old.valid_from
        )
    if new.valid_from == old.valid_from:
        return ClaimDecision(ResolutionOp.CORRECT, "said later of the same time", old, old.valid_to)
    return ClaimDecision(ResolutionOp.SUPERSEDE, "contradicts what was held, and is newer", old)


def _decide_denial(
    new: ClaimT, old: ClaimT, correction: bool, is_late: bool
) -> ClaimDecision[ClaimT]:
    if correction:
        return ClaimDecision(ResolutionOp.RETRACT, "taken back: it was never so", old)
    if is_late:
        return ClaimDecision(
            ResolutionOp.HISTORY, "was denied before it came to be so", None, old.valid_from
        )
    # Nothing is kept of an ending that says no more than what has ended.
    repeats = normalise_text(new.text) == normalise_text(old.text)
    return ClaimDecision(ResolutionOp.CLOSE if repeats else ResolutionOp.END, "no longer so", old)


def _are_kept_side_by_side(new: Claim, old: Claim) -> bool:
    """Other values of a predicate that is known to have many, pizza and burgers (spec R9): that
    one is so speaks against the other only where a model says so, and the words bear it out."""
    return (
        new.predicate_key == old.predicate_key
        and is_many_valued(new.predicate_key)
        and "single" not in (new.cardinality, old.cardinality)
        and normalise_value(new) != normalise_value(old)
        and not _is_opposed(new, old)
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
