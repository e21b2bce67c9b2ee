"""Themes, segments, episodes: summaries of spans (MemoryBank, AMA, MemoryOS; spec §2, §7, §8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DigestKind = Literal["day", "session", "global", "persona", "global_persona"]
EpisodeGateCause = Literal["shift", "request", "full", "none"]


@dataclass(frozen=True, slots=True)
class ChainJudgement:
    """Whether each page goes on from the one before it, and each chain's summary so far.

    `continues` is aligned with the pages given; None: not judged. `summaries` hold, for each
    page, the summary of its chain up to that page, "" for none.
    """

    continues: tuple[bool | None, ...]
    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """What some of the pages are about; `pages` are their handles."""

    name: str
    keywords: tuple[str, ...]
    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SegmentText:
    text: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpisodeGate:
    """Whether an episode ends before the newest exchange."""

    open: bool
    cause: EpisodeGateCause


@dataclass(frozen=True, slots=True)
class EpisodeText:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class DigestText:
    """A digest; the persona kinds also give `traits`, `mood` and a `reply_strategy`."""

    text: str
    title: str = ""
    points: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    mood: str = ""
    reply_strategy: str = ""
