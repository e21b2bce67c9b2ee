"""What a new claim does to the claims already held. Pure decisions (spec §11.7).

A similarity never decides anything here: the same words, a denial with the same object, or a
predicate that can only have one value do. Everything else is added, unless a model says more:
see `notes.judging`, which checks what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from memoryhub.dialogues.messages import match_text
from notes.wording import differs_in_a_word, names


class Op(StrEnum):
    """What happens to a candidate, in the words of the API."""

    ADD = "add"
    SAME = "same"
    AUGMENT = "augment"  # said again with more: a new version of what is held
    SUPERSEDE = "supersede"
    HISTORY = "history"  # late news: true in an earlier interval
    CORRECT = "correct"  # the old claim was never true, the new one is
    RETRACT = "retract"  # the old claim was never true, and nothing takes its place
    END = "end"  # denied: what was held is no longer so
    CLOSE = "close"  # the same, and the denial itself is not kept
    REVIEW = "review"
    OVERWRITE = "overwrite"  # would change what a person corrected or pinned: only proposed
    QUARANTINE = "quarantine"  # held back: not trusted
    FORGET = "forget"


_STORED_NOT = frozenset({Op.SAME, Op.RETRACT, Op.CLOSE, Op.OVERWRITE, Op.QUARANTINE, Op.FORGET})
_MUTATING = frozenset({Op.AUGMENT, Op.SUPERSEDE, Op.CORRECT, Op.RETRACT, Op.END, Op.CLOSE})


class Claim(Protocol):
    """The part of a fact that decisions look at."""

    @property
    def text(self) -> str: ...

    @property
    def owner(self) -> str: ...

    @property
    def speaker(self) -> str: ...

    @property
    def predicate_key(self) -> str: ...

    @property
    def cardinality(self) -> str: ...

    @property
    def polarity(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def text_key(self) -> str: ...

    @property
    def v(self) -> str: ...

    @property
    def o(self) -> str: ...

    @property
    def c(self) -> str: ...

    @property
    def valid_from(self) -> datetime: ...

    @property
    def valid_to(self) -> datetime | None: ...

    @property
    def event_from(self) -> datetime | None: ...


C = TypeVar("C", bound=Claim)


@dataclass(frozen=True, slots=True)
class Decision(Generic[C]):
    """`target`: the claim corroborated, reworded, closed or retracted. `until`: where the new one
    ends. `text`: the merged words of an augment."""

    op: Op
    reason: str
    target: C | None = None
    until: datetime | None = None
    text: str = ""

    @property
    def inserts(self) -> bool:
        return self.op not in _STORED_NOT

    @property
    def mutates(self) -> bool:
        """Whether it ends or rewords what is held."""
        return self.op in _MUTATING and self.target is not None

    @property
    def is_open(self) -> bool:
        """Whether code found nothing to compare with, so that a model may be asked."""
        return self.op is Op.ADD


def decide(
    new: C, held: Sequence[C], *, trusted: bool = True, correction: bool = False
) -> Decision[C]:
    """Resolve `new` against the claims currently held by the same owner.

    `held`: neither retracted nor retired, closed intervals included. `trusted`: said by a
    person and not by an assistant, a tool or a document, which may not change what people
    said (E24). `correction`: the speaker takes back what was said.
    """
    same = _same(new, held)
    if new.polarity in ("denied", "ended"):
        return _denial(new, held, trusted, correction, same)
    if same is not None:
        return _repeated(same)
    wrong = _put_right(new, held) if correction and trusted else None
    if wrong is not None and not _is_single(new):
        return Decision(Op.CORRECT, "the speaker corrected it", wrong, wrong.valid_to)
    if _is_single(new):
        decision = _single(new, held, trusted, correction)
    else:
        decision = Decision(Op.ADD, "new")
    denial = _denial_of(new, held) if decision.op is Op.ADD and trusted else None
    return Decision(Op.SUPERSEDE, "so again", denial) if denial else decision


def _repeated(same: C) -> Decision[C]:
    return Decision(Op.SAME, "said before in the same words", same)


def _same(new: C, held: Sequence[C]) -> C | None:
    alike = (c for c in held if c.text_key == new.text_key and c.owner == new.owner)
    return next((c for c in alike if c.valid_to is None and _one_occasion(new, c)), None)


def _one_occasion(new: Claim, old: Claim) -> bool:
    """A state stays the same state; an event on another day is another event."""
    return new.kind != "event" or new.event_from == old.event_from


def value(claim: Claim) -> str:
    """What the predicate says of its owner, for comparison."""
    return match_text(claim.o or claim.c)


def _rivals(new: C, held: Sequence[C], polarities: tuple[str, ...] = ("holds",)) -> list[C]:
    return [
        claim
        for claim in held
        if claim.owner == new.owner
        and claim.predicate_key == new.predicate_key != ""
        and claim.polarity in polarities
    ]


def _is_single(claim: Claim) -> bool:
    return claim.cardinality == "single" and claim.polarity == "holds"


def may_change(new: Claim, old: Claim, trusted: bool) -> bool:
    """Whether the speaker's word can end what is held: a person's, or their own (E24)."""
    return trusted or (new.speaker == old.speaker != "")


def _put_right(new: C, held: Sequence[C]) -> C | None:
    """The one claim of which a correction is another wording ("it was Tuesday, not Monday")."""
    open_ones = [c for c in held if c.valid_to is None and c.owner == new.owner and c.v == new.v]
    wrong = [c for c in open_ones if differs_in_a_word(new.text, c.text)]
    return wrong[0] if len(wrong) == 1 else None


def _denial(
    new: C, held: Sequence[C], trusted: bool, correction: bool, same: C | None
) -> Decision[C]:
    targets = _denied_claims(new, held)
    if not targets:
        return _repeated(same) if same else Decision(Op.ADD, "denies something not held")
    target = targets[0]
    if correction and may_change(new, target, trusted):
        return Decision(Op.RETRACT, "taken back: it was never so", target)
    if target.valid_from > new.valid_from:
        return Decision(Op.HISTORY, "was denied before it came to be so", None, target.valid_from)
    if not may_change(new, target, trusted):
        return Decision(Op.REVIEW, "denied by someone whose word can't end this", target)
    if len(targets) > 1:
        return Decision(Op.REVIEW, "it may end one of several claims", target)
    return Decision(Op.END, "no longer so", target)


def _denied_claims(new: C, held: Sequence[C]) -> list[C]:
    """What a denial is about: by predicate and object, or by its words without a predicate."""
    if new.predicate_key:
        rivals = (c for c in _rivals(new, held) if c.valid_to is None and _denies(new, c))
        return list(rivals)[:1] or left_with(new, None, held)[:1]
    return [
        claim
        for claim in held
        if claim.owner == new.owner
        and claim.valid_to is None
        and claim.polarity == "holds"
        and names(new.text, new.owner, claim.text)
    ]


_JOB = ("works_as", "works_at")


def reached(new: Claim) -> tuple[str, ...]:
    """Predicates of the claims it may change: a job left without saying which is both."""
    if _leaves_a_job(new):
        return _JOB
    return (new.predicate_key,) if new.predicate_key else ()


def _leaves_a_job(new: Claim) -> bool:
    return new.polarity == "ended" and new.predicate_key in _JOB and not value(new)


def left_with(new: C, target: C | None, held: Sequence[C]) -> list[C]:
    """With a job that is left without saying which, both what one was and where end."""
    if not _leaves_a_job(new):
        return []
    return [
        claim
        for claim in held
        if claim is not target
        and claim.owner == new.owner
        and claim.predicate_key in _JOB
        and claim.polarity == "holds"
        and claim.valid_to is None
        and claim.valid_from <= new.valid_from
    ]


def _denial_of(new: C, held: Sequence[C]) -> C | None:
    """An open denial that the new claim puts an end to."""
    if new.polarity != "holds":
        return None
    denials = _rivals(new, held, ("denied", "ended"))
    open_ones = (c for c in denials if c.valid_to is None and c.valid_from <= new.valid_from)
    return next((c for c in open_ones if value(c) == value(new)), None)


def _denies(new: Claim, old: Claim) -> bool:
    return not value(new) or value(new) == value(old)


def _single(new: C, held: Sequence[C], trusted: bool, correction: bool) -> Decision[C]:
    """Place one value of a single-valued predicate among the intervals already known (I4)."""
    rivals = [c for c in _rivals(new, held) if c.cardinality == "single" and not _is_empty(c)]
    before = max((c for c in rivals if c.valid_from <= new.valid_from), key=_start, default=None)
    after = min((c for c in rivals if c.valid_from > new.valid_from), key=_start, default=None)
    covers = before is not None and (before.valid_to is None or before.valid_to > new.valid_from)
    if before is not None and covers and value(before) == value(new):
        return Decision(Op.SAME, "already held", before)
    nearest = before or after
    if nearest is not None and not may_change(new, nearest, trusted):
        return Decision(Op.REVIEW, "contradicts what a person said", nearest)
    if correction and (wrong := before if covers else after):
        return Decision(Op.CORRECT, "the speaker corrected it", wrong, wrong.valid_to)
    until = after.valid_from if after else None
    if before is not None and covers:
        return _replace(new, before, until)
    if after is not None:
        return Decision(Op.HISTORY, "was so before what is known since", None, until)
    return Decision(Op.ADD, "new")


def _replace(new: C, old: C, until: datetime | None) -> Decision[C]:
    if old.valid_from == new.valid_from:
        return Decision(Op.CORRECT, "said later of the same time", old, until)
    return Decision(Op.SUPERSEDE, "only one can be so at a time, and this is newer", old, until)


def _is_empty(claim: Claim) -> bool:
    """Ended the moment it began: it holds at no time, and stands in nobody's way."""
    return claim.valid_to == claim.valid_from


def _start(claim: Claim) -> datetime:
    return claim.valid_from
