"""What was said, as an engine sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant", "system", "tool"]
SpeechAct = Literal["assertion", "question", "request", "forget", "chitchat", "hypothetical"]
Granularity = Literal["minute", "hour", "day", "week", "month", "season", "year", "decade"]


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
class Passage:
    """A stretch of dialogue already stored, under a handle: a page, an episode, a summary.

    `claims` are what was read from it before, one sentence each; rules choose from them.
    """

    handle: str
    text: str
    at: datetime
    keywords: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
