"""Reading exchanges: facts, entities, relations, descriptors and speech acts in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.llm.asking import TOO_MUCH, Asking
from memoryhub.engines.llm.reading import MOST_FACTS, Reading
from memoryhub.engines.llm.replies import ConstructReply
from memoryhub.engines.types import (
    Construction,
    Exchange,
    FactCandidate,
    RelationCandidate,
    Utterance,
)
from memoryhub.errors import EngineError

_WINDOW = 6000  # tokens read in one call (spec E4)
_OVERLAP = 600  # characters two halves of one text share
_SMALLEST = 1500  # characters; a shorter text is not split any further
_HISTORY = 10
_READ = frozenset({"user", "assistant"})


class Constructing(Asking):
    def construct(self, exchanges: Sequence[Exchange]) -> list[Construction]:
        """One construction per exchange. Raises EngineError when a reply stays unusable."""
        return [
            self._read(exchange, {u.handle: u for u in exchange.utterances})
            for exchange in map(_readable, exchanges)
        ]

    def _read(self, exchange: Exchange, whole: Mapping[str, Utterance]) -> Construction:
        """`whole` are the utterances uncut: facts point into them, not into the parts read."""
        if not any(re.search(r"\w", u.text) for u in exchange.utterances):
            return Construction(speech_acts={u.handle: "chitchat" for u in exchange.utterances})
        parts = _halves(exchange) if _size(exchange) > _WINDOW else ()
        if not parts:
            try:
                return self._asked(exchange, whole)
            except EngineError as error:
                parts = _halves(exchange) if error.code in TOO_MUCH else ()
                if not parts:
                    raise
        return _joined([self._read(part, whole) for part in parts])

    def _asked(self, exchange: Exchange, whole: Mapping[str, Utterance]) -> Construction:
        reply = self.ask("construct", _data(exchange), ConstructReply)
        reading = Reading({u.handle: whole[u.handle] for u in exchange.utterances})
        construction = reading.construction(reply)
        self.reject("construct", reading.rejected)
        return construction


def _readable(exchange: Exchange) -> Exchange:
    """Without documents and tool output: they are not anyone's word (spec E24)."""
    kept = [u for u in exchange.utterances if u.role in _READ]
    return replace(exchange, utterances=kept, history=exchange.history[-_HISTORY:])


def _size(exchange: Exchange) -> int:
    return sum(count_tokens([u.text for u in exchange.utterances]))


def _halves(exchange: Exchange) -> tuple[Exchange, ...]:
    """The exchange in two: between utterances, or inside the only one; () if it is small."""
    utterances = list(exchange.utterances)
    if len(utterances) > 1:
        middle = len(utterances) // 2
        first, second = utterances[:middle], utterances[middle:]
        history = [*exchange.history, *first][-_HISTORY:]
        return (
            replace(exchange, utterances=first),
            replace(exchange, utterances=second, history=history),
        )
    return tuple(replace(exchange, utterances=[part]) for part in _torn(utterances[0]))


def _torn(utterance: Utterance) -> tuple[Utterance, ...]:
    text = utterance.text
    if len(text) < _SMALLEST:
        return ()
    middle = len(text) // 2
    parts = text[: middle + _OVERLAP // 2], text[middle - _OVERLAP // 2 :]
    return tuple(replace(utterance, text=part) for part in parts)


def _joined(parts: Sequence[Construction]) -> Construction:
    """The parts of one exchange as one; a claim both halves make counts once."""
    facts: dict[str, FactCandidate] = {}
    relations: list[RelationCandidate] = []
    for part in parts:
        for fact in part.facts:
            facts.setdefault(fact.text.casefold(), fact)
        places = [list(facts).index(fact.text.casefold()) for fact in part.facts]
        relations += [replace(each, fact=places[each.fact]) for each in part.relations]
    return Construction(
        facts=tuple(facts.values())[:MOST_FACTS],
        entities=tuple(dict.fromkeys(e for part in parts for e in part.entities)),
        relations=tuple(dict.fromkeys(r for r in relations if r.fact < MOST_FACTS)),
        note=next((part.note for part in parts if part.note), None),
        speech_acts={h: act for part in parts for h, act in part.speech_acts.items()},
        times={h: times for part in parts for h, times in part.times.items()},
        topic_cue=parts[0].topic_cue,
    )


def _data(exchange: Exchange) -> dict[str, Any]:
    return {
        "subject": exchange.subject,
        "participants": list(exchange.participants),
        "history": [_said(u) for u in exchange.history],
        "messages": [{"handle": u.handle} | _said(u) for u in exchange.utterances],
    }


def _said(utterance: Utterance) -> dict[str, str]:
    return {
        "speaker": utterance.speaker,
        "role": utterance.role,
        "at": utterance.at.isoformat(timespec="minutes"),
        "text": utterance.text,
    }
