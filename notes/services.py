"""Every change to claims. Each writes its rows inside the caller's change-set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import text_hash
from memoryhub.tenants.models import Space
from notes import risk, shelving
from notes.judging import Contradiction, under
from notes.models import Derivation, Fact
from notes.recording import ChangeSet, Source, values_of
from notes.resolving import Decision, Op, decide, left_with, may_change, reached, value
from notes.wording import stems

# A Fact is a Claim, but mypy can't match a type variable's protocol with Django's fields.
Resolved = Decision[Any]
_WRITTEN = (
    "valid_to",
    "status",
    "mention_count",
    "version",
    "retired_at",
    "shelf",
    "shelved_at",
)
_MOVED = ("strength", "last_recall_at", "recall_count", "forget_at", "visibility")
_ENDING = ("denied", "ended")


def held_claims(
    space: Space,
    candidates: Sequence[Fact],
    *,
    corrections: Collection[Fact] = (),
    near: Collection[UUID] = (),
) -> list[Fact]:
    """The claims that candidates could touch: the same words, the same owner and predicate.

    Endings without a predicate reach what their words speak of, `corrections` what was said with
    the same verb. `near` are further rows wanted, by id.
    """
    wanted = Q(text_key__in={fact.text_key for fact in candidates}) | Q(id__in=near)
    claims: list[tuple[str, Any]] = [(fact.owner, fact) for fact in candidates]
    keys = {(owner, key) for owner, claim in claims for key in reached(claim)}
    if keys:
        wanted |= Q(
            owner__in={owner for owner, _ in keys}, predicate_key__in={key for _, key in keys}
        )
    for fact in corrections:
        wanted |= Q(owner=fact.owner, v=fact.v)
    for fact in candidates:
        wanted |= _spoken_of(fact)
    rows = Fact.objects.filter(wanted, space=space, retired_at=None)
    return list(rows.exclude(status=Fact.Status.RETRACTED).order_by("recorded_at", "id"))


def refuted_by_hand(space: Space, candidates: Sequence[Fact], held: Collection[Fact]) -> set[int]:
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
        if new.text_key not in held_keys and any(_says_the_same(new, old) for old in refuted)
    }


def _says_the_same(new: Fact, old: Fact) -> bool:
    claims: Any = (new, old)
    matter = [(c.owner, c.predicate_key, c.polarity, value(c)) for c in claims]
    same_value = bool(new.predicate_key and value(claims[0])) and matter[0] == matter[1]
    return new.text_key == old.text_key or same_value


def _spoken_of(fact: Fact) -> Q:
    """What an ending without a predicate may be about. Rough; `notes.resolving` looks closer."""
    words = stems(fact.text, fact.owner)
    if fact.polarity not in _ENDING or fact.predicate_key or not words:
        return Q()
    about = Q(owner=fact.owner, valid_to=None)
    for word in sorted(words)[:8]:
        about &= Q(text__icontains=word)
    return about


@dataclass(frozen=True, slots=True)
class Rules:
    """What a policy lets candidates do to claims (spec §13). `most_closures`: of one turn.
    `review_from`: the risk from which a person is asked first (see `notes.risk`)."""

    resolution: str = "resolve"
    contradiction: Contradiction = "supersede"
    store_after_contradiction: bool = True
    most_closures: int = 5
    review_from: str = "off"


@dataclass(frozen=True, slots=True)
class Overruled:
    """A candidate that may not have its way by itself: what is put before a person."""

    kind: str  # of Proposal
    new: Fact
    target: Fact | None
    op: Op  # what it would do to the target
    reason: str
    sources: Sequence[Source]


class Resolver:
    """Resolves candidates one after the other against the claims held, in memory.

    Nothing is written until `save`; then all of it, in a handful of statements.
    """

    def __init__(self, held: Sequence[Fact], now: datetime, rules: Rules | None = None) -> None:
        self.held = list(held)
        self.now = now
        self.rules = rules or Rules()
        self.inserted: list[Fact] = []
        self.overruled: list[Overruled] = []
        self.successors: dict[UUID, Fact] = {}  # what took the place of a claim, by its id
        self._supports: list[tuple[Fact, Sequence[Source]]] = []
        self._reworded: list[tuple[Fact, Fact]] = []
        self._closures: dict[UUID, int] = {}
        self._before: dict[UUID, dict[str, Any]] = {}
        self._touched: dict[UUID, Fact] = {}

    @property
    def changed(self) -> Collection[UUID]:
        """Claims ended or reworded so far."""
        return self.successors.keys()

    def resolve(
        self, new: Fact, sources: Sequence[Source], *, trusted: bool, correction: bool
    ) -> Resolved:
        """As code alone decides."""
        decision = self.by_code(new, trusted=trusted, correction=correction)
        return self.settle(decision, new, sources, trusted=trusted)

    def by_code(self, new: Fact, *, trusted: bool, correction: bool) -> Resolved:
        claim: Any = new
        if self.rules.resolution == "off":
            return Decision(Op.ADD, "kept as it came")
        decision: Resolved = decide(claim, self.held, trusted=trusted, correction=correction)
        if self.rules.resolution == "append_only" and decision.op is not Op.SAME:
            return Decision(Op.ADD, "kept beside what is held")
        return decision

    def settle(
        self, decision: Resolved, new: Fact, sources: Sequence[Source], *, trusted: bool
    ) -> Resolved:
        """Carry a decision out in memory, as far as policy and protection let it."""
        rules = self.rules
        decision = under(decision, rules.contradiction, store=rules.store_after_contradiction)
        decision = self._guarded(decision, new, sources)
        if decision.op is Op.SAME and decision.target is not None:
            self._corroborate(decision.target, sources)
            return decision
        self._leave(decision, new, sources, trusted)
        self._apply(decision, new, sources, trusted)
        if decision.inserts:
            self._insert(new, sources)
        return decision

    def _leave(
        self, decision: Resolved, new: Fact, sources: Sequence[Source], trusted: bool
    ) -> None:
        """What ends with the claim that a denial is about, each under the same guards."""
        if decision.op is not Op.END:
            return
        claim: Any = new
        for other in left_with(claim, decision.target, list(self.held)):
            also = self._guarded(Decision(Op.END, "left with it", other), new, sources)
            if also.op is Op.END and may_change(claim, other, trusted):
                self._apply(also, new, sources, trusted)

    def hold_back(self, new: Fact, sources: Sequence[Source], reason: str) -> Resolved:
        """Quarantine: neither stored nor returned, until a person says so (X11)."""
        self.overruled.append(Overruled("quarantine", new, None, Op.ADD, reason, sources))
        return Decision(Op.QUARANTINE, reason)

    def _guarded(self, decision: Resolved, new: Fact, sources: Sequence[Source]) -> Resolved:
        """Without a person's leave, what a person corrected stays, and no turn ends too much."""
        target = decision.target
        if target is None:
            return decision
        if decision.op is Op.REVIEW:
            self._overrule("conflict", decision, new, sources, Op.SUPERSEDE)
            return decision
        if not decision.mutates:
            return decision
        if target.is_protected:
            self._overrule("overwrite", decision, new, sources, decision.op)
            return Decision(Op.OVERWRITE, "a person's word stands against it", target)
        at_stake = risk.of_decision(decision.op, target.mention_count)
        if risk.waits(at_stake, self.rules.review_from):
            return self._put_off(decision, f"of {at_stake} risk: {decision.reason}", new, sources)
        return self._capped(decision, new, sources)

    def _put_off(
        self, decision: Resolved, reason: str, new: Fact, sources: Sequence[Source]
    ) -> Resolved:
        """Keep both, and ask a person whether the new claim may have its way."""
        review: Resolved = Decision(Op.REVIEW, reason, decision.target)
        self._overrule("conflict", review, new, sources, decision.op)
        return review

    def _capped(self, decision: Resolved, new: Fact, sources: Sequence[Source]) -> Resolved:
        turn_id = sources[0].turn_id
        done = self._closures.get(turn_id, 0)
        if decision.op is not Op.AUGMENT and done >= self.rules.most_closures:
            return self._put_off(decision, "its turn ended too much already", new, sources)
        self._closures[turn_id] = done + (decision.op is not Op.AUGMENT)
        return decision

    def _overrule(
        self, kind: str, decision: Resolved, new: Fact, sources: Sequence[Source], op: Op
    ) -> None:
        found = Overruled(kind, new, decision.target, op, decision.reason, sources)
        self.overruled.append(found)

    def _corroborate(self, held: Fact, sources: Sequence[Source]) -> None:
        self._edit(held).mention_count += 1
        self._supports.append((held, sources))

    def _apply(
        self, decision: Resolved, new: Fact, sources: Sequence[Source], trusted: bool
    ) -> None:
        """Close, reword or retract what the new claim replaces, and bound the new one."""
        old = decision.target
        if decision.op is Op.REVIEW:
            new.cardinality = "multi"
            new.confidence = new.confidence if trusted else min(new.confidence, 0.3)
            return
        if decision.op is Op.ADD:
            is_rival = old is not None or self.rules.resolution != "resolve"
            new.cardinality = "multi" if is_rival else new.cardinality
            return
        if decision.until is not None:
            ends = [decision.until, *([new.valid_to] if new.valid_to else [])]
            new.valid_to, new.status = min(ends), Fact.Status.SUPERSEDED
        if old is None or not decision.mutates:
            return
        old = self._edit(old)
        self.successors[old.id] = new if decision.inserts else old
        if decision.op is Op.AUGMENT:
            self._reword(old, new, decision.text)
            return
        self._end(decision, old, new)
        against = [
            Source(s.turn_id, s.start, s.end, Derivation.Role.CONTRADICTION) for s in sources
        ]
        self._supports.append((old, against))

    def _end(self, decision: Resolved, old: Fact, new: Fact) -> None:
        if decision.op in (Op.CORRECT, Op.RETRACT):
            old.status, old.retired_at = Fact.Status.RETRACTED, self.now
            self.held.remove(old)
        else:
            old.valid_to, old.status = max(new.valid_from, old.valid_from), Fact.Status.SUPERSEDED
        if decision.inserts:
            new.supersedes = old
            if decision.op is not Op.END:
                _succeed(old, new)
        old.shelf, old.shelved_at = Fact.Shelf.NONE, None

    def _reword(self, old: Fact, new: Fact, text: str) -> None:
        """A new version of the same claim: its start, its supports, more words (spec §11.7)."""
        new.text = text[:2000] or new.text
        new.text_key = text_hash(f"{old.owner} {new.text}")
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1
        new.owner, new.predicate_key = old.owner, old.predicate_key
        new.cardinality, new.polarity = old.cardinality, old.polarity
        new.valid_from, new.valid_to, new.status = old.valid_from, old.valid_to, old.status
        new.mention_count = old.mention_count + 1
        shelving.succeed(old, new)
        for name in _MOVED:
            setattr(new, name, getattr(old, name))
        old.retired_at = self.now
        self.held.remove(old)
        self._reworded.append((old, new))

    def _edit(self, fact: Fact) -> Fact:
        """Remember what the row was, once, and raise its version. Fresh rows have no past."""
        if fact not in self.inserted and fact.id not in self._before:
            self._before[fact.id] = values_of(fact)
            self._touched[fact.id] = fact
            fact.version += 1
        return fact

    def _insert(self, new: Fact, sources: Sequence[Source]) -> None:
        self.inserted.append(new)
        self.held.append(new)
        self._supports.append((new, sources))

    def save(self, changes: ChangeSet) -> None:
        """Write what was decided, and its causes into `changes`."""
        self._unite()
        for fact_id, fact in self._touched.items():
            changes.changed(fact, self._before[fact_id])
        # Closed before opened: one claim of a single-valued predicate is open at a time.
        Fact.objects.bulk_update(self._touched.values(), _WRITTEN)
        Fact.objects.bulk_create(self.inserted, batch_size=500)
        for fact in self.inserted:
            changes.created(fact, [])
        for fact, sources in self._supports:
            changes.supported(fact, sources)

    def _unite(self) -> None:
        """Give a new version all that supported the one before."""
        if not self._reworded:
            return
        known = supports_of([old.id for old, _ in self._reworded])
        for old, new in self._reworded:
            fresh = [s for fact, found in self._supports if fact is old for s in found]
            own = [s for s in fresh if s.role == Derivation.Role.SUPPORT]
            self._supports.append((new, [*known.get(old.id, []), *own]))


def _succeed(old: Fact, new: Fact) -> None:
    """A successor takes the shelf's slot, and the lineage where it says the same of the same."""
    shelving.succeed(old, new)
    if new.predicate_key and (new.owner, new.predicate_key) == (old.owner, old.predicate_key):
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1


def supports_of(fact_ids: Iterable[UUID]) -> dict[UUID, list[Source]]:
    """What supports each fact, in one statement."""
    found: dict[UUID, list[Source]] = {}
    rows = Derivation.objects.filter(
        child_type="fact", child_id__in=list(fact_ids), role=Derivation.Role.SUPPORT
    )
    for row in rows:
        source = Source(
            row.turn_id, row.span_start, row.span_end, row.role, row.via_type, row.via_id
        )
        found.setdefault(row.child_id, []).append(source)
    return found
