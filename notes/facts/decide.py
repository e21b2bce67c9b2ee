"""What a new claim does to the claims already held. Pure decisions (spec §11.7).

A similarity never decides anything here: the same words, a denial with the same object, or a
predicate that can only have one value do. Everything else is added, unless a model says more:
see `notes.facts.judge`, which checks what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from memoryhub.dialogues.messages import normalise_text
from notes.facts.words import (
    is_about_same_thing,
    is_small_correction,
    names_one_of_several,
)


class ResolutionOp(StrEnum):
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


_NOT_STORED_OPS = frozenset(
    {
        ResolutionOp.SAME,
        ResolutionOp.RETRACT,
        ResolutionOp.CLOSE,
        ResolutionOp.OVERWRITE,
        ResolutionOp.QUARANTINE,
        ResolutionOp.FORGET,
    }
)
_MUTATING_OPS = frozenset(
    {
        ResolutionOp.AUGMENT,
        ResolutionOp.SUPERSEDE,
        ResolutionOp.CORRECT,
        ResolutionOp.RETRACT,
        ResolutionOp.END,
        ResolutionOp.CLOSE,
    }
)


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
    def verb(self) -> str: ...

    @property
    def object(self) -> str: ...

    @property
    def complement(self) -> str: ...

    @property
    def valid_from(self) -> datetime: ...

    @property
    def valid_to(self) -> datetime | None: ...

    @property
    def event_from(self) -> datetime | None: ...

    @property
    def asserted_at(self) -> datetime: ...


ClaimT = TypeVar("ClaimT", bound=Claim)


@dataclass(frozen=True, slots=True)
class ClaimDecision(Generic[ClaimT]):
    """`target`: the claim corroborated, reworded, closed or retracted. `until`: where the new one
    ends. `text`: the merged words of an augment. `renames`: these have another name in them, of
    which the owner may be one."""

    op: ResolutionOp
    reason: str
    target: ClaimT | None = None
    until: datetime | None = None
    text: str = ""
    renames: bool = False

    @property
    def inserts(self) -> bool:
        return self.op not in _NOT_STORED_OPS

    @property
    def mutates(self) -> bool:
        """Whether it ends or rewords what is held."""
        return self.op in _MUTATING_OPS and self.target is not None

    @property
    def is_open(self) -> bool:
        """Whether code found nothing to compare with, so that a model may be asked."""
        return self.op is ResolutionOp.ADD


def decide_claim(
    new: ClaimT, held: Sequence[ClaimT], *, trusted: bool = True, correction: bool = False
) -> ClaimDecision[ClaimT]:
    """Resolve `new` against the claims currently held by the same owner.

    `held`: neither retracted nor retired, closed intervals included. `trusted`: said by a
    person and not by an assistant, a tool or a document, which may not change what people
    said (E24). `correction`: the speaker takes back what was said.
    """
    same = _find_same_claim(new, held)
    if new.polarity in ("denied", "ended"):
        return _decide_denial(new, held, trusted, correction, same)
    if same is not None:
        return _decide_repetition(same)
    wrong = _find_corrected_claim(new, held) if correction and trusted else None
    if wrong is not None and not _is_single_valued(new):
        return ClaimDecision(
            ResolutionOp.CORRECT, "the speaker corrected it", wrong, wrong.valid_to
        )
    if _is_single_valued(new):
        decision = _decide_single_valued(new, held, trusted, correction)
    else:
        decision = ClaimDecision(ResolutionOp.ADD, "new")
    denial = _find_open_denial(new, held) if decision.op is ResolutionOp.ADD and trusted else None
    return ClaimDecision(ResolutionOp.SUPERSEDE, "so again", denial) if denial else decision


def _decide_repetition(same: ClaimT) -> ClaimDecision[ClaimT]:
    return ClaimDecision(ResolutionOp.SAME, "said before in the same words", same)


def _find_same_claim(new: ClaimT, held: Sequence[ClaimT]) -> ClaimT | None:
    alike = (c for c in held if c.text_key == new.text_key and c.owner == new.owner)
    known = (c for c in alike if c.valid_to is None or new.valid_to is not None)
    return next((c for c in known if _is_same_occasion(new, c)), None)


def _is_same_occasion(new: Claim, old: Claim) -> bool:
    """A state stays the same state; an event on another day is another event."""
    return new.kind != "event" or new.event_from == old.event_from


def normalise_value(claim: Claim) -> str:
    """What the predicate says of its owner, for comparison."""
    return normalise_text(claim.object or claim.complement)


def _find_rivals(
    new: ClaimT, held: Sequence[ClaimT], polarities: tuple[str, ...] = ("holds",)
) -> list[ClaimT]:
    return [
        claim
        for claim in held
        if claim.owner == new.owner
        and claim.predicate_key == new.predicate_key != ""
        and claim.polarity in polarities
    ]


def _is_single_valued(claim: Claim) -> bool:
    return claim.cardinality == "single" and claim.polarity == "holds"


def may_change_claim(new: Claim, old: Claim, trusted: bool) -> bool:
    """Whether the speaker's word can end what is held: a person's, or their own (E24)."""
    return trusted or (new.speaker == old.speaker != "")


def _find_corrected_claim(new: ClaimT, held: Sequence[ClaimT]) -> ClaimT | None:
    """The one claim of which a correction is another wording ("it was Tuesday, not Monday")."""
    open_ones = [
        c for c in held if c.valid_to is None and c.owner == new.owner and c.verb == new.verb
    ]
    wrong = [c for c in open_ones if is_small_correction(new.text, c.text)]
    return wrong[0] if len(wrong) == 1 else None


def _decide_denial(
    new: ClaimT, held: Sequence[ClaimT], trusted: bool, correction: bool, same: ClaimT | None
) -> ClaimDecision[ClaimT]:
    targets = _find_denied_claims(new, held)
    # What is told in one breath with it tells of the ending, where something of before ends; and
    # what happened then is no state that it could end.
    targets = [each for each in targets if each.valid_from < new.valid_from] or [
        each for each in targets if each.asserted_at != new.asserted_at or each.kind != "event"
    ]
    if not targets:
        return (
            _decide_repetition(same)
            if same
            else ClaimDecision(ResolutionOp.ADD, "denies something not held")
        )
    target = targets[0]
    if correction and may_change_claim(new, target, trusted):
        return ClaimDecision(ResolutionOp.RETRACT, "taken back: it was never so", target)
    if target.valid_from > new.valid_from and not _overtakes(new, target):
        return ClaimDecision(
            ResolutionOp.HISTORY, "was denied before it came to be so", None, target.valid_from
        )
    if not may_change_claim(new, target, trusted):
        return ClaimDecision(
            ResolutionOp.REVIEW, "denied by someone whose word can't end this", target
        )
    if len(targets) > 1:
        return ClaimDecision(ResolutionOp.REVIEW, "it may end one of several claims", target)
    return ClaimDecision(ResolutionOp.END, "no longer so", target)


def _find_denied_claims(new: ClaimT, held: Sequence[ClaimT]) -> list[ClaimT]:
    """What a denial is about: by predicate and object, or by its words without a predicate."""
    if new.predicate_key:
        rivals = [c for c in _find_rivals(new, held) if c.valid_to is None]
        meant = [c for c in rivals if _is_denial_of(new, c)]
        named = [c for c in rivals if _names_ended_job(new, c)]
        return (
            meant[:1]
            or (named if len(named) == 1 else [])
            or find_ended_job_claims(new, None, held)[:1]
        )
    return [
        claim
        for claim in held
        if claim.owner == new.owner
        and claim.valid_to is None
        and claim.polarity == "holds"
        and not _is_told_beside(new, claim)
        and not names_one_of_several(new.object, claim.object)
        and is_about_same_thing(new.text, new.owner, claim.text)
    ]


def _is_told_beside(new: Claim, old: Claim) -> bool:
    """What is over with what was told at once, and not the end of that: "my wife Edna passed away"
    and that she was the wife, "takes the 16 instead of the 49"."""
    told = old.kind == "event" or " instead of " in old.text
    return told and old.asserted_at == new.asserted_at


_JOB_PREDICATES = ("works_as", "works_at")


def list_reachable_predicates(new: Claim) -> tuple[str, ...]:
    """Predicates of the claims it may change: a job left without saying which is both."""
    if _is_job_departure(new):
        return _JOB_PREDICATES
    return (new.predicate_key,) if new.predicate_key else ()


def _is_job_departure(new: Claim) -> bool:
    return (
        new.polarity == "ended"
        and new.predicate_key in _JOB_PREDICATES
        and not normalise_value(new)
    )


def find_ended_job_claims(
    new: ClaimT, target: ClaimT | None, held: Sequence[ClaimT]
) -> list[ClaimT]:
    """With a job that is left without saying which, both what one was and where end."""
    if not _is_job_departure(new):
        return []
    return [
        claim
        for claim in held
        if claim is not target
        and claim.owner == new.owner
        and claim.predicate_key in _JOB_PREDICATES
        and claim.polarity == "holds"
        and claim.valid_to is None
        and (claim.valid_from <= new.valid_from or _overtakes(new, claim))
    ]


def find_roles_at_left_firm(
    new: ClaimT, target: ClaimT | None, held: Sequence[ClaimT]
) -> list[ClaimT]:
    """What somebody was at the firm that they have left, where it was told with it: "Mia is a
    barista at Blue Door" ends when she works at the library, a promotion there does not end it."""
    if target is None or target.predicate_key != "works_at" or not normalise_value(target):
        return []
    firm = f" {normalise_value(target)} "
    return [
        claim
        for claim in held
        if claim is not target
        and claim.owner == target.owner
        and claim.predicate_key == "works_as"
        and claim.polarity == "holds"
        and claim.valid_to is None
        and (claim.valid_from <= new.valid_from or _overtakes(new, claim))
        and claim.text_key != new.text_key
        and firm in f" {normalise_text(claim.text).rstrip('.')} ".replace(",", " ")
    ]


def _find_open_denial(new: ClaimT, held: Sequence[ClaimT]) -> ClaimT | None:
    """An open denial that the new claim puts an end to."""
    if new.polarity != "holds":
        return None
    denials = _find_rivals(new, held, ("denied", "ended"))
    open_ones = (c for c in denials if c.valid_to is None and c.valid_from <= new.valid_from)
    return next((c for c in open_ones if normalise_value(c) == normalise_value(new)), None)


def _is_denial_of(new: Claim, old: Claim) -> bool:
    return not normalise_value(new) or normalise_value(new) == normalise_value(old)


def _names_ended_job(new: Claim, old: Claim) -> bool:
    """Whether a job that was left is told by some of its words: "the pub" of "the Iron Pot pub"."""
    words = normalise_value(new).split()
    left = new.polarity == "ended" and new.predicate_key in _JOB_PREDICATES
    return left and bool(words) and {*words} <= {*normalise_value(old).split()}


def _decide_single_valued(
    new: ClaimT, held: Sequence[ClaimT], trusted: bool, correction: bool
) -> ClaimDecision[ClaimT]:
    """Place one value of a single-valued predicate among the intervals already known (I4)."""
    if _is_empty_interval(new):
        return ClaimDecision(ResolutionOp.ADD, "over already, since nobody says when")
    rivals = [
        c
        for c in _find_rivals(new, held)
        if c.cardinality == "single" and not _is_empty_interval(c)
    ]
    before = max(
        (c for c in rivals if c.valid_from <= new.valid_from), key=_get_valid_from, default=None
    )
    after = min(
        (c for c in rivals if c.valid_from > new.valid_from), key=_get_valid_from, default=None
    )
    covers = before is not None and (before.valid_to is None or before.valid_to > new.valid_from)
    if before is not None and covers and normalise_value(before) == normalise_value(new):
        return ClaimDecision(ResolutionOp.SAME, "already held", before)
    nearest = before or after
    if nearest is not None and not may_change_claim(new, nearest, trusted):
        return ClaimDecision(ResolutionOp.REVIEW, "contradicts what a person said", nearest)
    if correction and (wrong := before if covers else after):
        return ClaimDecision(
            ResolutionOp.CORRECT, "the speaker corrected it", wrong, wrong.valid_to
        )
    until = after.valid_from if after else None
    if before is not None and covers and before.valid_to is None and _was_over_when_told(new):
        return ClaimDecision(ResolutionOp.ADD, "over by now: it ended nothing that holds", before)
    if before is not None and covers:
        return _decide_replacement(new, before, until)
    if after is not None and after.valid_to is None and _overtakes(new, after):
        return ClaimDecision(
            ResolutionOp.SUPERSEDE, "only one can be so at a time, and this is newer", after
        )
    if after is not None:
        return ClaimDecision(ResolutionOp.HISTORY, "was so before what is known since", None, until)
    return ClaimDecision(ResolutionOp.ADD, "new")


def _decide_replacement(new: ClaimT, old: ClaimT, until: datetime | None) -> ClaimDecision[ClaimT]:
    if old.valid_from == new.valid_from:
        return ClaimDecision(ResolutionOp.CORRECT, "said later of the same time", old, until)
    return ClaimDecision(
        ResolutionOp.SUPERSEDE, "only one can be so at a time, and this is newer", old, until
    )


_LATELY = timedelta(days=92)


def _overtakes(new: Claim, old: Claim) -> bool:
    """Whether a change of late that was told after a state without a start of its own ends it,
    though it lies before the moment that was told: "I live in Leeds", and then "I moved to York
    last week". Nobody said since when the state was so: it began some time before."""
    told_later = new.asserted_at > old.asserted_at
    of_late = new.asserted_at - new.valid_from <= _LATELY
    differs = normalise_value(new) != normalise_value(old) or new.polarity != old.polarity
    undated = old.event_from is None and old.valid_from == old.asserted_at
    return undated and told_later and of_late and differs and not _was_over_when_told(new)


def _is_empty_interval(claim: Claim) -> bool:
    """Ended the moment it began: it holds at no time, and stands in nobody's way."""
    return claim.valid_to == claim.valid_from


def _was_over_when_told(claim: Claim) -> bool:
    """What was so until a time before it was told can't have put an end to what holds."""
    return claim.valid_to is not None and claim.valid_to <= claim.asserted_at


def _get_valid_from(claim: Claim) -> datetime:
    return claim.valid_from
