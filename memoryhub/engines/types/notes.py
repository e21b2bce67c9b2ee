"""Notes, their links and their evolution (A-Mem, spec §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

LinkKind = Literal["related", "elaborates", "continues", "contradicts", "causes"]


@dataclass(frozen=True, slots=True)
class NoteState:
    """A note under a handle, with its present descriptors."""

    handle: str
    content: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A new note and those nearest to it, nearest first.

    `similar`: their cosines; empty where the embedder can't read the language.
    """

    note: NoteState
    neighbours: Sequence[NoteState]
    similar: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """An undirected link between two offered handles."""

    a: str
    b: str
    kind: LinkKind
    reason: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class NoteEvolution:
    """New descriptors of an offered note; None or empty leaves a descriptor as it is (A15)."""

    handle: str
    keywords: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    context: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Association:
    """What `link_evolve` found for a batch of new notes."""

    links: tuple[LinkDraft, ...] = ()
    evolutions: tuple[NoteEvolution, ...] = ()
