"""Short ways to put words into an exchange and read what comes out."""

from __future__ import annotations

from datetime import UTC, datetime

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.types import Construction, Exchange, FactCandidate, Role, Utterance

AT = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
ENGINE = LocalEngine()


def said(*lines: tuple[str, str], role: Role = "user", first: int = 0) -> list[Utterance]:
    """(speaker, text) lines as utterances with handles m0, m1, …"""
    return [Utterance(f"m{first + i}", who, role, text, AT) for i, (who, text) in enumerate(lines)]


def read(*lines: tuple[str, str], before: tuple[tuple[str, str], ...] = ()) -> Construction:
    """The construction of an exchange of Ana and Ben."""
    history = said(*before, first=100)
    return ENGINE.construct([Exchange(said(*lines), history, ("Ana", "Ben"), "Ana")])[0]


def facts(text: str, speaker: str = "Ana") -> tuple[FactCandidate, ...]:
    return read((speaker, text)).facts


def fact(text: str, speaker: str = "Ana") -> FactCandidate:
    """The only fact of a text."""
    (only,) = facts(text, speaker)
    return only


def texts(text: str, speaker: str = "Ana") -> list[str]:
    return [found.text for found in facts(text, speaker)]
