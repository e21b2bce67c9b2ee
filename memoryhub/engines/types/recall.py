"""Questions: where to look, whether what was found suffices, and the answer (spec §7, §12.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryhub.engines.types.dialogue import TimeSpan


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
class Entry:
    """A recalled memory before the judge, under a handle."""

    handle: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    handles: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """`relevant` are offered handles. Code, not the model, derives what follows."""

    relevant: tuple[str, ...]
    conflicts: Sequence[Conflict] = ()
    enough: bool = True
