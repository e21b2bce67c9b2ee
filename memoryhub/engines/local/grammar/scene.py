"""Who is talking to whom: the names that "I", "you" and "we" stand for (spec E25)."""

from __future__ import annotations

from dataclasses import dataclass

from memoryhub.engines.types import Exchange, Utterance


@dataclass(frozen=True, slots=True)
class Scene:
    """`listener` is empty when more than one other person may be meant."""

    speaker: str
    listener: str = ""
    people: frozenset[str] = frozenset()

    def list_first_names(self) -> frozenset[str]:
        return frozenset(name.split()[0].lower() for name in self.people if name.split())


def build_scene(exchange: Exchange, utterance: Utterance) -> Scene:
    """The scene of an utterance of the exchange."""
    known = [*exchange.participants, *(u.speaker for u in exchange.utterances)]
    known += [u.speaker for u in exchange.history]
    people = frozenset(name for name in known if name)
    others = people - {utterance.speaker}
    listener = next(iter(others)) if len(others) == 1 else ""
    return Scene(utterance.speaker, listener, people)


def format_possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"
