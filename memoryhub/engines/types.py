"""The values that go into an engine and come out of it. Plain and frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Role = Literal["user", "assistant", "system", "tool"]
SpeechAct = Literal["assertion", "question", "request", "forget", "chitchat", "hypothetical"]
Pattern = Literal["SV", "SVO", "SVC", "SVOO", "SVOC"]
Cardinality = Literal["single", "multi"]
Granularity = Literal["minute", "hour", "day", "week", "month", "season", "year", "decade"]
# What a fact says of its predicate: it holds, it never held or holds no longer, or it is about
# something still to come.
Polarity = Literal["holds", "denied", "ended", "planned"]
FactKind = Literal["state", "event", "preference", "plan", "attribute", "recommendation"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn as an engine sees it. `at` is aware: the date of the conversation."""

    handle: str
    speaker: str
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Characters [start, end) of the text of the utterance with this handle."""

    handle: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A resolved time expression: the half-open interval [start, end), aware.

    `text` is the expression as written, found at characters [at, at + len(text)).
    """

    start: datetime
    end: datetime
    granularity: Granularity
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A claim found in an exchange (spec §7.1, §11.2). Slots follow AMA's five patterns.

    `owner` is whom the fact is about and `speaker` who said it, both by name; "I" is the
    speaker (spec E25). `predicate_key` is a normalised predicate such as `lives_in`.
    """

    text: str
    owner: str
    speaker: str
    pattern: Pattern
    s: str
    v: str
    o: str = ""
    o2: str = ""
    c: str = ""
    predicate_key: str = ""
    cardinality: Cardinality = "multi"
    kind: FactKind = "state"
    polarity: Polarity = "holds"
    event: TimeSpan | None = None
    confidence: float = 1.0
    correction: bool = False
    sources: tuple[SourceSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityMention:
    name: str
    type: str  # person, place, organisation, event, object, concept, date


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
class Construction:
    """What one exchange yields. `topic_cue`: the exchange opens a new topic."""

    facts: tuple[FactCandidate, ...] = ()
    entities: tuple[EntityMention, ...] = ()
    relations: tuple[RelationCandidate, ...] = ()
    note: NoteDraft | None = None
    speech_acts: Mapping[str, SpeechAct] = field(default_factory=dict)
    times: Mapping[str, tuple[TimeSpan, ...]] = field(default_factory=dict)
    topic_cue: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """Input of `construct`: the utterances to read, and what went before as context only.

    `history` (oldest first, at most the last 10 turns) resolves references and pairs
    answers with questions; nothing is extracted from it. `participants` are the known
    speakers' names, `subject` the person the space is about.
    """

    utterances: Sequence[Utterance]
    history: Sequence[Utterance] = ()
    participants: Sequence[str] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A recalled memory handed to `answer`: text, when it was said, what it is about."""

    text: str
    said_at: datetime | None
    event: TimeSpan | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    quoted: bool  # True: put together from memories word by word, no model wrote it
    used: tuple[int, ...] = ()  # indices into the quotes


class Engine(Protocol):
    """A reader of dialogue. Raises EngineError; never returns a guess for a failure."""

    name: str
    version: str

    def construct(self, exchanges: Sequence[Exchange]) -> list[Construction]:
        """One construction per exchange, in order. Batched: parse all texts together."""

    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """An extractive or written summary of facts' texts, in their language."""

    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """Answer from the quotes (best first) and nothing else; abstain when they are silent."""


class Embedder(Protocol):
    """Texts to unit vectors."""

    name: str  # names the vectors: rows of different names are never compared
    dimension: int
    max_tokens: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimension) float32, each row of length 1. Longer texts are cut."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens and without cutting."""
