"""Claims read from dialogue, and what they do to the claims held (spec §5, §6, §7, §11.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memoryhub.engines.types.dialogue import SourceSpan, SpeechAct, TimeSpan, Utterance

ClausePattern = Literal["SV", "SVO", "SVC", "SVOO", "SVOC"]
Cardinality = Literal["single", "multi"]
# What a fact says of its predicate: it holds, it never held or holds no longer, or it is about
# something still to come.
Polarity = Literal["holds", "denied", "ended", "planned"]
FactKind = Literal["state", "event", "preference", "plan", "attribute", "recommendation"]
# What a model may say of a candidate (spec §12.3).
VerdictOp = Literal["add", "same", "augment", "contradict", "deny", "forget"]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """What a claim does to one that is held, `target`, a handle of `Exchange.held`."""

    op: VerdictOp
    target: str


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A claim found in an exchange (spec §7.1, §11.2). Slots follow AMA's five patterns.

    `owner` is whom the fact is about and `speaker` who said it, both by name; "I" is the
    speaker (spec E25). `predicate_key` is a normalised predicate such as `lives_in`. `changes`:
    what it does to claims held, as far as the engine has been shown any; None: not judged.
    `quoted`: the words it rests on were found to the letter.
    """

    text: str
    owner: str
    speaker: str
    pattern: ClausePattern
    subject: str
    verb: str
    object: str = ""
    indirect_object: str = ""
    complement: str = ""
    predicate_key: str = ""
    cardinality: Cardinality = "multi"
    kind: FactKind = "state"
    polarity: Polarity = "holds"
    event: TimeSpan | None = None
    confidence: float = 1.0
    correction: bool = False
    sources: tuple[SourceSpan, ...] = ()
    changes: tuple[ClaimChange, ...] | None = None
    quoted: bool = True


@dataclass(frozen=True, slots=True)
class EntityMention:
    name: str
    type: str  # person, place, organisation, event, object, concept, date
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationCandidate:
    """src -label-> dst, read off `facts[fact]` of the same construction."""

    src: str
    label: str
    dst: str
    fact: int


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A-Mem's descriptors (spec §4.1): keywords most salient first, no names or times."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str


@dataclass(frozen=True, slots=True)
class ForgetWish:
    """A wish that claims held be forgotten, `targets` by their handles, in the words of `source`."""

    source: SourceSpan
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one exchange yields. `topic_cue`: the exchange opens a new topic. `wishes`: what is to
    be forgotten, where the engine has been shown what is held."""

    facts: tuple[FactCandidate, ...] = ()
    entities: tuple[EntityMention, ...] = ()
    relations: tuple[RelationCandidate, ...] = ()
    note: NoteDraft | None = None
    speech_acts: Mapping[str, SpeechAct] = field(default_factory=dict)
    times: Mapping[str, tuple[TimeSpan, ...]] = field(default_factory=dict)
    topic_cue: bool = False
    # Whether it goes on from the exchange before (MemoryOS' chain); None: not judged.
    continues: bool | None = None
    # References of earlier turns it bears on (AMA's R_t), by the handles of the history.
    related: tuple[str, ...] = ()
    wishes: tuple[ForgetWish, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Input of `construct`: the utterances to read, and what went before as context only.

    `history` (oldest first, at most the last 10 turns of the session) resolves references and
    pairs answers with questions; nothing is extracted from it. `earlier` are the last turns of
    other sessions, for a model. `participants` are the known speakers' names, `subject` the person
    the space is about. `held`: open claims that the messages may be about, with the names of
    relations in use, for an engine that judges while it reads; None: it is not to judge.
    """

    utterances: Sequence[Utterance]
    history: Sequence[Utterance] = ()
    participants: Sequence[str] = ()
    subject: str = ""
    summary: str = ""  # S, the rolling summary of the space (Mem0); context only
    earlier: Sequence[Utterance] = ()
    held: Sequence[HeldClaim] | None = None
    relations: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """What a construction is to yield, and how it is asked for.

    `combine`: in one call where that can be; else each purpose in a call of its own. `batch`:
    exchanges of one session a call may hold.
    """

    facts: bool = True
    graph: bool = True
    notes: bool = True
    chain: bool = True
    combine: bool = True
    batch: int = 1


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim already held, offered for comparison under a handle."""

    handle: str
    text: str
    owner: str
    predicate_key: str
    valid_from: datetime
    valid_to: datetime | None = None
    polarity: Polarity = "holds"


@dataclass(frozen=True, slots=True)
class ClaimCandidate:
    """A claim to be decided. `offered` are the handles it may be compared with.

    `is_wish`: not a claim but a wish to forget; every `forget` verdict names one held claim.
    """

    handle: str
    text: str
    owner: str
    speaker: str
    said_at: datetime
    event_from: datetime | None = None
    offered: tuple[str, ...] = ()
    polarity: Polarity = "holds"
    is_wish: bool = False


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """Input of `resolve`: several candidates, and the union of what is held near them."""

    candidates: Sequence[ClaimCandidate]
    held: Sequence[HeldClaim]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What to do with a candidate. `target` is an offered handle or "", `text` the merged text
    of an `augment`. Code checks it before anything follows from it (spec §11.7).

    `sure` False: a suspicion, which only a person turns into a decision.
    """

    candidate: str
    op: VerdictOp
    target: str = ""
    text: str = ""
    reason: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names that may be one entity's, with what is said of each (Mem0g, spec R3)."""

    handle: str
    left: str
    right: str
    left_facts: tuple[str, ...] = ()
    right_facts: tuple[str, ...] = ()
