"""Short ways to put words into an exchange and read what comes out."""

from __future__ import annotations

from datetime import UTC, datetime

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.types import Exchange, Extraction, FactCandidate, Role, Utterance

AT = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
ENGINE = LocalEngine()


def make_utterances(
    *lines: tuple[str, str], role: Role = "user", first: int = 0
) -> list[Utterance]:
    """(speaker, text) lines as utterances with handles m0, m1, …"""
    return [Utterance(f"m{first + i}", who, role, text, AT) for i, (who, text) in enumerate(lines)]


def construct_lines(
    *lines: tuple[str, str], before: tuple[tuple[str, str], ...] = ()
) -> Extraction:
    """The construction of an exchange of Ana and Ben."""
    history = make_utterances(*before, first=100)
    return ENGINE.extract_memories(
        [Exchange(make_utterances(*lines), history, ("Ana", "Ben"), "Ana")]
    )[0]


def read_facts(text: str, speaker: str = "Ana") -> tuple[FactCandidate, ...]:
    return construct_lines((speaker, text)).facts


def read_only_fact(text: str, speaker: str = "Ana") -> FactCandidate:
    """The only fact of a text."""
    (only,) = read_facts(text, speaker)
    return only


def read_fact_texts(text: str, speaker: str = "Ana") -> list[str]:
    return [found.text for found in read_facts(text, speaker)]
