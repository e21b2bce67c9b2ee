"""What the hub holds after a dialogue, against what is true in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memoryhub.dialogues.models import Turn
from memoryhub.lab.truth.dialogues import Match, TruthChange, TruthDialogue, is_matching
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import is_fact_current
from notes.models import Fact, Proposal

_ENDED = ("ended", "denied")
_CHANGES_OF_HELD = frozenset({"replace", "end", "wrong"})
TRUTH_CHECKS = (
    *("settled", "closed", "kept", "current", "asserted"),
    *("forgotten", "erased", "spared", "once", "as_of"),
)


@dataclass(slots=True)
class TruthScore:
    """Right of how many, by check; why contradictions were missed; and each failure in words."""

    right: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def count(self, check: str, is_right: bool, failure: str) -> None:
        self.asked[check] += 1
        self.right[check] += is_right
        if not is_right:
            self.failures.append(f"{check}: {failure}")

    def add(self, other: TruthScore) -> None:
        self.right += other.right
        self.asked += other.asked
        self.causes += other.causes
        self.failures += other.failures

    def rate(self, check: str) -> float:
        """The share that is right; 1 where nothing was asked."""
        return self.right[check] / self.asked[check] if self.asked[check] else 1.0


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of a space at the end of a dialogue."""

    current: Sequence[Fact]  # whatever they say: that something is so, is planned, or is over
    over: Sequence[Fact]
    proposed: frozenset[str]  # texts of claims that wait for a person's word
    words: Sequence[str]  # of turns, as far as they are kept

    @property
    def facts(self) -> list[Fact]:
        return [*self.current, *self.over]


def _find(rows: Sequence[Fact], match: Match) -> list[Fact]:
    return [row for row in rows if is_matching(match, row.text)]


def measure_dialogue(space: Space, dialogue: TruthDialogue, at: datetime) -> TruthScore:
    """`settled`: contradictions closed rightly or before a person; `closed`: closed rightly;
    `kept`: what is true and not closed wrongly; `current`: what must be current and is;
    `asserted`: what was said and not claimed, and is not held; `forgotten`: wishes honoured;
    `erased`: also in the turns' own words; `spared`: what is true in dialogues with such a wish,
    and is still known or said; `once`: what was said again, and is held once; `as_of`: what held
    at a date. Opens its own scope.
    """
    held, score, claims = _load_held(space, at), TruthScore(), dialogue.claims
    for change in (each for told in dialogue.changes.values() for each in told):
        if change.do in _CHANGES_OF_HELD:
            _check_contradiction(held, score, dialogue, change)
        if change.do == "same":
            _check_repetition(held, score, dialogue, change)
    for at_id in sorted(dialogue.current):
        match = claims[at_id].match
        finer = [c.match for c in claims.values() if c.do == "refine" and at_id in c.targets]
        is_held = any(_find(held.current, each) for each in (match, *finer))
        where = f"{dialogue.id}/{at_id} {claims[at_id].text!r}"
        score.count("current", is_held, where)
        score.count("kept", is_held or not _find(held.over, match), where)
        if dialogue.gone:
            left = is_held or any(is_matching(match, words) for words in held.words)
            was_said = any(is_matching(match, turn.text) for turn in dialogue.turns)
            score.count("spared", left or not was_said, where)
    for said in dialogue.not_asserted:
        wrong = [f for f in _find(held.current, said.match) if f.polarity == "holds"]
        wrong = [fact for fact in wrong if fact.kind != "plan"]
        score.count("asserted", not wrong, f"{dialogue.id}/{said.ref} {said.kind}: {wrong[:1]}")
    for at_id in sorted(dialogue.gone):
        match = claims[at_id].match
        is_gone = not _find(held.facts, match)
        left_words = [words for words in held.words if is_matching(match, words)]
        score.count("forgotten", is_gone, f"{dialogue.id}/{at_id} {claims[at_id].text!r}")
        score.count("erased", is_gone and not left_words, f"{dialogue.id}/{at_id} {left_words}")
    for then in dialogue.as_of:
        valid = [fact for fact in held.facts if is_fact_current(fact, then.at)]
        holds = all(_find(valid, claims[each].match) for each in then.holds)
        # What was told by then of something else may name it: what is planned, what is over.
        others = [c for c in claims.values() if c.match and c.id not in then.excludes]
        stale = [
            fact.text
            for each in then.excludes
            for fact in _find(valid, claims[each].match)
            if fact.polarity not in _ENDED
            and (
                fact.asserted_at > then.at
                or not any(is_matching(c.match, fact.text) for c in others)
            )
        ]
        where = f"{dialogue.id} {then.at:%Y-%m-%d} {then.holds} held: {stale}"
        score.count("as_of", holds and not stale, where)
    return score


def _check_contradiction(
    held: _Held, score: TruthScore, dialogue: TruthDialogue, change: TruthChange
) -> None:
    claims = dialogue.claims
    for target in change.targets:
        old = claims[target]
        if target in dialogue.current or {target, change.id} & dialogue.gone:
            continue  # who has the ending forgotten gets back what it ended
        # What tells of the old value may say that it is over, or be news since.
        later = [c for c in list(claims.values())[list(claims).index(target) + 1 :] if c.match]
        left = [
            fact
            for fact in _find(held.current, old.match)
            if fact.polarity not in _ENDED
            and not any(is_matching(c.match, fact.text) for c in later)
        ]
        told = _find(held.facts, old.match)
        found = [fact.text for fact in left]
        where = f"{dialogue.id}/{change.ref} {change.do} {target} {old.text!r}, held: {found}"
        asks = any(fact.text in held.proposed for fact in left)
        is_closed = not left and bool(told) | (change.do == "wrong")
        # What was never held needs no closing, where what holds instead is held.
        is_replaced = not left and bool(change.match and _find(held.current, change.match))
        score.count("closed", is_closed, where)
        score.count("settled", is_closed or asks or is_replaced, where)
        if not is_closed:
            score.causes["not decided" if told else "not extracted"] += 1


def _check_repetition(
    held: _Held, score: TruthScore, dialogue: TruthDialogue, change: TruthChange
) -> None:
    said_at = next(turn.at for turn in dialogue.turns if turn.ref == change.ref)
    for target in change.targets:
        found = _find(held.current, dialogue.claims[target].match)
        again = [fact for fact in found if fact.asserted_at >= said_at]
        where = f"{dialogue.id}/{change.ref} {[fact.text for fact in found]}"
        score.count("once", not again or len(found) == len(again) == 1, where)


def _load_held(space: Space, at: datetime) -> _Held:
    with tenant_scope(space.tenant_id):
        rows = list(Fact.objects.filter(space=space, retired_at=None))
        kept = [fact for fact in rows if fact.status != Fact.Status.RETRACTED]
        current = [fact for fact in kept if is_fact_current(fact, at)]
        waiting = Proposal.objects.filter(space=space, state=Proposal.State.OPEN)
        ids = set(waiting.values_list("row_id", flat=True))
        turns = Turn.objects.filter(space=space).exclude(state=Turn.State.REDACTED)
        return _Held(
            current,
            [fact for fact in kept if fact not in current],
            frozenset(fact.text for fact in kept if fact.id in ids),
            list(turns.values_list("text", flat=True)),
        )
