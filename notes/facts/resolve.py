"""Every change to claims. Each writes its rows inside the caller's change-set."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import hash_text
from memoryhub.tenants.models import Space
from notes.facts import fact_shelf, risk
from notes.facts.decide import (
    ClaimDecision,
    ResolutionOp,
    decide_claim,
    find_ended_job_claims,
    find_roles_at_left_firm,
    list_reachable_predicates,
    may_change_claim,
    normalise_value,
)
from notes.facts.judge import ContradictionPolicy, apply_contradiction_policy
from notes.facts.words import extract_stems
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports
from notes.history.unit_of_work import UnitOfWork
from notes.models import Derivation, Fact

# A Fact is a Claim, but mypy can't match a type variable's protocol with Django's fields.
FactDecision = ClaimDecision[Any]
_CARRIED_COLUMNS = ("strength", "last_recall_at", "recall_count", "forget_at", "visibility")
_ENDING_POLARITIES = ("denied", "ended")


def load_held_claims(
    space: Space,
    candidates: Sequence[Fact],
    *,
    corrections: Collection[Fact] = (),
    near: Collection[UUID] = (),
    names: Mapping[str, Collection[str]] | None = None,
) -> list[Fact]:
    """The claims that candidates could touch: the same words, the same owner and predicate.
    `names`: under which an owner is known besides.

    Endings without a predicate reach what their words speak of, `corrections` what was said with
    the same verb. `near` are further rows wanted, by id.
    """
    wanted = Q(text_key__in={fact.text_key for fact in candidates}) | Q(id__in=near)
    claims: list[tuple[str, Any]] = [(fact.owner, fact) for fact in candidates]
    keys = {(owner, key) for owner, claim in claims for key in list_reachable_predicates(claim)}
    if keys:
        owners = {each for owner, _ in keys for each in (owner, *(names or {}).get(owner, ()))}
        wanted |= Q(owner__in=owners, predicate_key__in={key for _, key in keys})
    for fact in corrections:
        wanted |= Q(owner=fact.owner, verb=fact.verb)
    for fact in candidates:
        wanted |= _match_ending_words(fact)
    rows = Fact.objects.filter(wanted, space=space, retired_at=None)
    return list(rows.exclude(status=Fact.Status.RETRACTED).order_by("recorded_at", "id"))


def find_refuted_candidates(
    space: Space, candidates: Sequence[Fact], held: Collection[Fact]
) -> set[int]:
    """The places of candidates that say what a person has said was never so: the same words, or
    the same value of the same predicate. What reads them again may only propose them, unless
    they are `held` in these words after all.
    """
    said = Q(text_key__in={fact.text_key for fact in candidates})
    said |= Q(
        owner__in={fact.owner for fact in candidates},
        predicate_key__in={fact.predicate_key for fact in candidates} - {""},
    )
    rows = Fact.objects.filter(said, space=space, status=Fact.Status.RETRACTED)
    refuted = list(rows.exclude(corrected_by=""))
    held_keys = {fact.text_key for fact in held if fact.valid_to is None}
    return {
        place
        for place, new in enumerate(candidates)
        if new.text_key not in held_keys and any(_is_same_claim(new, old) for old in refuted)
    }


def _is_same_claim(new: Fact, old: Fact) -> bool:
    claims: Any = (new, old)
    matter = [(c.owner, c.predicate_key, c.polarity, normalise_value(c)) for c in claims]
    same_value = bool(new.predicate_key and normalise_value(claims[0])) and matter[0] == matter[1]
    return new.text_key == old.text_key or same_value


def _match_ending_words(fact: Fact) -> Q:
    """What an ending without a predicate may be about. Rough; `notes.facts.decide` looks closer."""
    words = extract_stems(fact.text, fact.owner)
    if fact.polarity not in _ENDING_POLARITIES or fact.predicate_key or not words:
        return Q()
    about = Q(owner=fact.owner, valid_to=None)
    for word in sorted(words)[:8]:
        about &= Q(text__icontains=word)
    return about


@dataclass(frozen=True, slots=True)
class ResolutionRules:
    """What a policy lets candidates do to claims (spec §13). `most_closures`: of one turn.
    `review_from`: the risk from which a person is asked first (see `notes.facts.risk`)."""

    resolution: str = "resolve"
    contradiction: ContradictionPolicy = "supersede"
    store_after_contradiction: bool = True
    most_closures: int = 5
    review_from: str = "off"


@dataclass(frozen=True, slots=True)
class OverruledCandidate:
    """A candidate that may not have its way by itself: what is put before a person."""

    kind: str  # of Proposal
    new: Fact
    target: Fact | None
    op: ResolutionOp  # what it would do to the target
    reason: str
    sources: Sequence[TurnEvidence]


class Resolver:
    """Resolves candidates one after the other against the claims held, in memory.

    Nothing is written until `save`; then all of it, in a handful of statements.
    """

    def __init__(
        self,
        space: Space,
        held: Sequence[Fact],
        now: datetime,
        rules: ResolutionRules | None = None,
    ) -> None:
        self.held = list(held)
        self.now = now
        self.rules = rules or ResolutionRules()
        self.inserted: list[Fact] = []
        self.overruled: list[OverruledCandidate] = []
        self.successors: dict[UUID, Fact] = {}  # what took the place of a claim, by its id
        self._supports: list[tuple[Fact, Sequence[TurnEvidence]]] = []
        # A claim and the version that says it in more words, by the claim's id.
        self._reworded: dict[UUID, tuple[Fact, Fact]] = {}
        self._closures: dict[UUID, int] = {}
        self._unit = UnitOfWork(space, "pipeline", now)

    @property
    def changed_fact_ids(self) -> Collection[UUID]:
        """Claims ended or reworded so far."""
        return self.successors.keys()

    def find_present_wording(self, fact: Fact) -> Fact:
        """The claim itself, or the version that says it in more words by now."""
        while fact.id in self._reworded:
            _, fact = self._reworded[fact.id]
        return fact

    def decide_by_rules(self, new: Fact, *, trusted: bool, correction: bool) -> FactDecision:
        claim: Any = new
        if self.rules.resolution == "off":
            return ClaimDecision(ResolutionOp.ADD, "kept as it came")
        decision: FactDecision = decide_claim(
            claim, self.held, trusted=trusted, correction=correction
        )
        if self.rules.resolution == "append_only" and decision.op is not ResolutionOp.SAME:
            return ClaimDecision(ResolutionOp.ADD, "kept beside what is held")
        return decision

    def apply_decision(
        self,
        decision: FactDecision,
        new: Fact,
        sources: Sequence[TurnEvidence],
        *,
        trusted: bool,
        also: Sequence[FactDecision] = (),
    ) -> FactDecision:
        """Carry a decision out in memory, as far as policy and protection let it, and what the same
        claim does to others: each under the same guards."""
        for other in also:
            self._apply_further_decision(other, new, sources, trusted)
        decision = self._guard_decision(self._apply_policy(decision), new, sources)
        if not decision.inserts:
            self._propose_endings_alone(new)
        if decision.op is ResolutionOp.SAME and decision.target is not None:
            self._corroborate_fact(decision.target, sources)
            return decision
        self._end_dependent_claims(decision, new, sources, trusted)
        self._change_target(decision, new, sources, trusted)
        if decision.inserts:
            self._insert_fact(new, sources)
        return decision

    def _apply_policy(self, decision: FactDecision) -> FactDecision:
        rules = self.rules
        return apply_contradiction_policy(
            decision, rules.contradiction, store=rules.store_after_contradiction
        )

    def _apply_further_decision(
        self, decision: FactDecision, new: Fact, sources: Sequence[TurnEvidence], trusted: bool
    ) -> None:
        """One news may end several claims: it is stored once, for the first of them."""
        decision = self._guard_decision(self._apply_policy(decision), new, sources)
        if decision.op is ResolutionOp.SAME and decision.target is not None:
            self._corroborate_fact(decision.target, sources)
        elif decision.mutates and decision.op is not ResolutionOp.AUGMENT:
            self._change_target(decision, new, sources, trusted)

    def _end_dependent_claims(
        self, decision: FactDecision, new: Fact, sources: Sequence[TurnEvidence], trusted: bool
    ) -> None:
        """What ends with the claim that is ended or replaced, each under the same guards."""
        if decision.op not in (ResolutionOp.END, ResolutionOp.SUPERSEDE):
            return
        claim: Any = new
        held, ended = list(self.held), decision.op is ResolutionOp.END
        others = find_ended_job_claims(claim, decision.target, held) if ended else []
        roles = find_roles_at_left_firm(claim, decision.target, held)
        for other in dict.fromkeys([*others, *roles]):
            also = self._guard_decision(
                ClaimDecision(ResolutionOp.END, "left with it", other), new, sources
            )
            if also.op is ResolutionOp.END and may_change_claim(claim, other, trusted):
                self._change_target(also, new, sources, trusted)

    def quarantine_candidate(
        self, new: Fact, sources: Sequence[TurnEvidence], reason: str
    ) -> FactDecision:
        """Quarantine: neither stored nor returned, until a person says so (X11)."""
        self.overruled.append(
            OverruledCandidate("quarantine", new, None, ResolutionOp.ADD, reason, sources)
        )
        return ClaimDecision(ResolutionOp.QUARANTINE, reason)

    def withhold_candidate(
        self,
        new: Fact,
        sources: Sequence[TurnEvidence],
        reason: str,
        decisions: Sequence[FactDecision],
    ) -> FactDecision:
        """What it would do to each claim held is put before a person, and nothing else comes of
        it."""
        for each in decisions:
            if each.mutates or each.op is ResolutionOp.REVIEW:
                op = each.op if each.mutates else ResolutionOp.SUPERSEDE
                self.overruled.append(
                    OverruledCandidate("overwrite", new, each.target, op, reason, sources)
                )
        return ClaimDecision(ResolutionOp.QUARANTINE, reason)

    def _guard_decision(
        self, decision: FactDecision, new: Fact, sources: Sequence[TurnEvidence]
    ) -> FactDecision:
        """Without a person's leave, what a person corrected stays, and no turn ends too much."""
        target = decision.target
        if target is None:
            return decision
        if decision.op is ResolutionOp.REVIEW:
            self._record_overruled("conflict", decision, new, sources, ResolutionOp.SUPERSEDE)
            return decision
        if not decision.mutates:
            return decision
        if target.is_protected:
            self._record_overruled("overwrite", decision, new, sources, decision.op)
            return ClaimDecision(
                ResolutionOp.OVERWRITE, "a person's word stands against it", target
            )
        at_stake = risk.assess_decision_risk(decision.op, target.mention_count)
        if risk.needs_review(at_stake, self.rules.review_from):
            return self._defer_to_review(
                decision, f"of {at_stake} risk: {decision.reason}", new, sources
            )
        return self._cap_closures(decision, new, sources)

    def _defer_to_review(
        self, decision: FactDecision, reason: str, new: Fact, sources: Sequence[TurnEvidence]
    ) -> FactDecision:
        """Keep both, and ask a person whether the new claim may have its way."""
        review: FactDecision = ClaimDecision(ResolutionOp.REVIEW, reason, decision.target)
        self._record_overruled("conflict", review, new, sources, decision.op)
        return review

    def _cap_closures(
        self, decision: FactDecision, new: Fact, sources: Sequence[TurnEvidence]
    ) -> FactDecision:
        turn_id = sources[0].turn_id
        done = self._closures.get(turn_id, 0)
        if decision.op is not ResolutionOp.AUGMENT and done >= self.rules.most_closures:
            return self._defer_to_review(decision, "its turn ended too much already", new, sources)
        self._closures[turn_id] = done + (decision.op is not ResolutionOp.AUGMENT)
        return decision

    def _record_overruled(
        self,
        kind: str,
        decision: FactDecision,
        new: Fact,
        sources: Sequence[TurnEvidence],
        op: ResolutionOp,
    ) -> None:
        found = OverruledCandidate(kind, new, decision.target, op, decision.reason, sources)
        self.overruled.append(found)

    def _propose_endings_alone(self, new: Fact) -> None:
        """What a claim would end besides, and may not unasked, where it is not stored itself: who
        accepts that ends it, and puts nothing in its place."""
        over, wrong = ResolutionOp.CLOSE, ResolutionOp.RETRACT
        retracting = (ResolutionOp.CORRECT, ResolutionOp.RETRACT)
        self.overruled = [
            replace(each, kind="overwrite", op=wrong if each.op in retracting else over)
            if each.new is new and each.kind == "conflict"
            else each
            for each in self.overruled
        ]

    def _corroborate_fact(self, held: Fact, sources: Sequence[TurnEvidence]) -> None:
        self._unit.track_row(held)
        held.mention_count += 1
        self._supports.append((held, sources))

    def _change_target(
        self, decision: FactDecision, new: Fact, sources: Sequence[TurnEvidence], trusted: bool
    ) -> None:
        """Close, reword or retract what the new claim replaces, and bound the new one."""
        old = decision.target
        if decision.op is ResolutionOp.REVIEW:
            new.cardinality = "multi"
            new.confidence = new.confidence if trusted else min(new.confidence, 0.3)
            return
        if decision.op is ResolutionOp.ADD:
            is_rival = old is not None or self.rules.resolution != "resolve"
            new.cardinality = "multi" if is_rival else new.cardinality
            return
        if decision.until is not None:
            ends = [decision.until, *([new.valid_to] if new.valid_to else [])]
            new.valid_to, new.status = min(ends), Fact.Status.SUPERSEDED
        if old is None or not decision.mutates:
            return
        self._unit.track_row(old)
        self.successors[old.id] = new if decision.inserts else old
        if decision.op is ResolutionOp.AUGMENT:
            new.text = decision.text[:2000] or new.text
            if _is_detail_of_later(new, old):
                self._end_target(decision, old, new)
                self._reworded[old.id] = (old, new)  # its words may be in the new one's
            else:
                self._reword_target(decision, old, new)
            return
        self._end_target(decision, old, new)
        against = [
            TurnEvidence(s.turn_id, s.start, s.end, Derivation.Role.CONTRADICTION) for s in sources
        ]
        self._supports.append((old, against))

    def _end_target(self, decision: FactDecision, old: Fact, new: Fact) -> None:
        if decision.op in (ResolutionOp.CORRECT, ResolutionOp.RETRACT):
            old.status, old.retired_at = Fact.Status.RETRACTED, self.now
            self.held.remove(old)
        else:
            old.valid_to, old.status = max(new.valid_from, old.valid_from), Fact.Status.SUPERSEDED
        if decision.inserts:
            new.supersedes = old
            if decision.op is not ResolutionOp.END:
                _hand_over_lineage(old, new)
        old.shelf, old.shelved_at = Fact.Shelf.NONE, None

    def _reword_target(self, decision: FactDecision, old: Fact, new: Fact) -> None:
        """A new version of the same claim: its start, its supports, more words (spec §11.7)."""
        new.owner = new.owner if decision.renames else old.owner
        new.text_key = hash_text(f"{new.owner} {new.text}")
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1
        new.predicate_key = old.predicate_key
        new.cardinality, new.polarity = old.cardinality, old.polarity
        new.valid_from, new.valid_to, new.status = old.valid_from, old.valid_to, old.status
        new.mention_count = old.mention_count + 1
        fact_shelf.hand_over_shelf_slot(old, new)
        for name in _CARRIED_COLUMNS:
            setattr(new, name, getattr(old, name))
        old.retired_at = self.now
        self.held.remove(old)
        self._reworded[old.id] = (old, new)

    def _insert_fact(self, new: Fact, sources: Sequence[TurnEvidence]) -> None:
        if _is_open_single(new) and any(_is_open_rival(new, old) for old in self.held):
            new.cardinality = "multi"  # what is left open was judged to stand beside it
        self._unit.track_row(new)
        self.inserted.append(new)
        self.held.append(new)
        self._supports.append((new, sources))

    def save(self, changes: ChangeSet) -> None:
        """Write what was decided, and its causes into `changes`."""
        self._merge_supports()
        self._unit.change_sets.append(changes)
        self._unit.write_rows()
        for fact, sources in self._supports:
            changes.record_support(fact, sources)

    def _merge_supports(self) -> None:
        """Give a new version all that supported the one before."""
        if not self._reworded:
            return
        known = load_supports("fact", list(self._reworded))
        for old, new in self._reworded.values():
            fresh = [s for fact, found in self._supports if fact is old for s in found]
            own = [s for s in fresh if s.role == Derivation.Role.SUPPORT]
            self._supports.append((new, [*known.get(old.id, []), *own]))


def _is_detail_of_later(new: Fact, old: Fact) -> bool:
    """Whether what is added is told to have begun after the claim did: before, only the former
    words held ("in Leeds", and since May "in a flat in Leeds")."""
    is_state = new.polarity == old.polarity == "holds" and "event" not in (new.kind, old.kind)
    known_since = max(old.valid_from, old.asserted_at)
    return is_state and new.event_from is not None and new.event_from > known_since


def _is_open_single(fact: Fact) -> bool:
    return (fact.cardinality, fact.polarity, fact.valid_to) == ("single", "holds", None)


def _is_open_rival(new: Fact, old: Fact) -> bool:
    """Whether both would be the one value that the owner has of the predicate."""
    return (
        _is_open_single(old)
        and new.predicate_key != ""
        and ((old.owner, old.predicate_key) == (new.owner, new.predicate_key))
    )


def _hand_over_lineage(old: Fact, new: Fact) -> None:
    """A successor takes the shelf's slot, and the lineage where it says the same of the same."""
    fact_shelf.hand_over_shelf_slot(old, new)
    if new.predicate_key and (new.owner, new.predicate_key) == (old.owner, old.predicate_key):
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1
