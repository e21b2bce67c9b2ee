"""Questions: where to look, whether what was found suffices, and the answer (spec §7, §12.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryhub.engines.types.dialogue import TimeSpan


@dataclass(frozen=True, slots=True)
class Quote:
    """A recalled memory handed to `answer`: text, when it was said, what it is about.

    `speaker` said it, word by word; a memory in the hub's own words has none, and `owner` is whom
    it is about. `predicate` and `object` are a fact's slots. `until`: it holds no longer.
    """

    text: str
    said_at: datetime | None
    event: TimeSpan | None = None
    speaker: str = ""
    owner: str = ""
    predicate: str = ""
    object: str = ""
    until: datetime | None = None
    relevance: float | None = None

    def states_any_of(self, predicates: Collection[str]) -> bool:
        """Whether it is a fact of one of these kinds."""
        return bool(self.predicate) and self.predicate in predicates


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Characters `part` of an answer rest on characters `span` of the quote with this index.

    Both are half-open; `span` None: on all of it.
    """

    quote: int
    part: tuple[int, int]
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """Without a quote behind it, it says that nothing is known."""

    text: str
    quoted: bool  # True: put together from memories word by word, no model wrote it
    used: tuple[int, ...] = ()  # indices into the quotes
    supports: tuple[
        AnswerSupport, ...
    ] = ()  # where all of the answer rests on all of a quote: none

    @property
    def abstained(self) -> bool:
        return not self.used


@dataclass(frozen=True, slots=True)
class RoutedQuestion:
    """A self-contained rewrite, AMA's intent vector, and how many memories are wanted."""

    query: str
    fine: bool = False
    abstract: bool = False
    event: bool = False
    atomic: bool = True
    want: int = 0


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A recalled memory before the judge, under a handle."""

    handle: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    handles: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """`relevant` are offered handles. Code, not the model, derives what follows."""

    relevant: tuple[str, ...]
    conflicts: Sequence[MemoryConflict] = ()
    enough: bool = True
