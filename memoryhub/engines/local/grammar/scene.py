"""Who is talking to whom: the names that "I", "you" and "we" stand for (spec E25); and an
utterance made ready for the rules: its parse, its times and who is who."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.parse import ParsedPiece
from memoryhub.engines.types import Exchange, TimeSpan, Utterance
from memoryhub.subject_names import get_first_name

if TYPE_CHECKING:
    from spacy.tokens import Span


@dataclass(frozen=True, slots=True)
class Scene:
    """`listener` is empty when more than one other person may be meant; `assisted`: an assistant
    is told, so what is spoken of is the speaker's own life. `names`: others known by name."""

    speaker: str
    listener: str = ""
    people: frozenset[str] = frozenset()
    assisted: bool = False
    names: frozenset[str] = frozenset()

    def find_full_name(self, first: str) -> str:
        """The name of somebody known whose first name it is, or ""."""
        return _index_by_first_name(self.people, self.names).get(first, "")

    def list_first_names(self) -> frozenset[str]:
        return frozenset(get_first_name(name).lower() for name in self.people if name.split())


@lru_cache(maxsize=64)
def _index_by_first_name(people: frozenset[str], names: frozenset[str]) -> Mapping[str, str]:
    """Of two with one first name, who speaks here comes before who is only spoken of."""
    known = (*sorted(people), *sorted(names))
    return {name.split()[0]: name for name in reversed(known) if name.split()}


def build_scene(exchange: Exchange, utterance: Utterance) -> Scene:
    """The scene of an utterance of the exchange."""
    said = [*exchange.utterances, *exchange.history]
    known = [*exchange.participants, *(u.speaker for u in said)]
    people = frozenset(name for name in known if name)
    others = people - {utterance.speaker}
    listener = next(iter(others)) if len(others) == 1 else ""
    helped = any(u.role == "assistant" for u in said) or others <= {"Assistant", "assistant"}
    assisted = utterance.role == "user" and helped
    return Scene(utterance.speaker, listener, people, assisted, frozenset(exchange.names))


_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,:] )[A-Z][a-z]{2,}\b")


def find_known_names(exchange: Exchange) -> frozenset[str]:
    """First names of who is known here, and what was written with a capital within a sentence:
    who wrote "my flatmate Fergus" types "fergus" the next time."""
    people = (*exchange.participants, *exchange.names)
    said = (*exchange.history, *exchange.utterances)
    written = (name for u in said for name in _CAPITAL_INSIDE.findall(u.text))
    return frozenset((*(get_first_name(name) for name in people if name.split()), *written))


def format_possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """`times` are of the whole text; a piece's offset leads from its characters to them."""

    utterance: Utterance
    pieces: tuple[ParsedPiece, ...]
    times: tuple[TimeSpan, ...]
    scene: Scene
    before: tuple[ParsedPiece, ...] = ()  # the utterance before, for what "it" and "she" are
    answers: bool = False  # whether that, the last of them, is an assistant's

    def iter_sentences(self) -> Iterator[tuple[int, Span]]:
        """(offset of the piece, sentence) in order."""
        for offset, doc in self.pieces:
            for span in doc.sents:
                yield offset, span
