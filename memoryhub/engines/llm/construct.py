"""Reading exchanges: facts, entities, relations, descriptors and speech acts in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.llm.asking import TOO_MUCH, Asking
from memoryhub.engines.llm.prompting import Purpose
from memoryhub.engines.llm.reading import MOST_FACTS, Reading
from memoryhub.engines.llm.replies import (
    ConstructReply,
    EntitiesReply,
    FactsReply,
    RelationsReply,
)
from memoryhub.engines.types import (
    Construction,
    Exchange,
    FactCandidate,
    RelationCandidate,
    Utterance,
    Wanted,
)
from memoryhub.errors import EngineError

_WINDOW = 6000  # tokens read in one call (spec E4)
_OVERLAP = 600  # characters two halves of one text share
_SMALLEST = 1500  # characters; a shorter text is not split any further
_READ = frozenset({"user", "assistant"})


class Constructing(Asking):
    def construct(
        self, exchanges: Sequence[Exchange], wanted: Wanted | None = None
    ) -> list[Construction]:
        """One construction per exchange; up to `wanted.batch` of them are read in one call.

        Raises EngineError when a reply stays unusable.
        """
        wanted = wanted or Wanted()
        ready = [_readable(exchange) for exchange in exchanges]
        whole = {u.handle: u for exchange in ready for u in exchange.utterances}
        silent = [_silent(exchange) for exchange in ready]
        spoken = [e for e, nothing in zip(ready, silent, strict=True) if nothing is None]
        groups = _groups(spoken, wanted.batch)
        read = iter([built for group in groups for built in self._read(group, whole, wanted)])
        return [nothing or next(read) for nothing in silent]

    def _read(
        self, group: Sequence[Exchange], whole: Mapping[str, Utterance], wanted: Wanted
    ) -> list[Construction]:
        """`whole` are the utterances uncut: facts point into them, not into the parts read."""
        fits = len(group) > 1 or _size(group) <= _WINDOW
        if fits or not _halves(group[0]):
            try:
                return self._asked(group, whole, wanted)
            except EngineError as error:
                if error.code not in TOO_MUCH or not (len(group) > 1 or _halves(group[0])):
                    raise
        if len(group) > 1:
            middle = len(group) // 2
            first, second = group[:middle], _following(group[:middle], group[middle:])
            return [*self._read(first, whole, wanted), *self._read(second, whole, wanted)]
        parts = [self._read([part], whole, wanted)[0] for part in _halves(group[0])]
        return [_joined(parts)]

    def _asked(
        self, group: Sequence[Exchange], whole: Mapping[str, Utterance], wanted: Wanted
    ) -> list[Construction]:
        uncut = [
            replace(each, utterances=[whole[u.handle] for u in each.utterances]) for each in group
        ]
        alone = not wanted.combine
        purpose: Purpose = "extract_facts" if alone else "construct"
        earlier = {u.handle for u in group[0].history}
        reading = Reading(uncut, earlier, self.prompts.text(purpose))
        if alone:
            reply = self._separately(group, wanted)
        else:
            reply = self.ask("construct", _data(group), ConstructReply)
        constructions = reading.constructions(reply)
        self.reject(purpose, reading.rejected)
        return constructions

    def _separately(self, group: Sequence[Exchange], wanted: Wanted) -> ConstructReply:
        """Facts, entities and relations by a call each, as Mem0 and Mem0g do."""
        data = _data(group)
        found = self.ask("extract_facts", data, FactsReply)
        reply = ConstructReply(facts=found.facts, speech_acts=found.speech_acts)
        if not (wanted.graph and found.facts):
            return reply
        entities = self.ask("graph_entities", _graph_data(data), EntitiesReply).entities
        if len(entities) < 2:
            return reply.model_copy(update={"entities": entities})
        told = {
            "entities": [{"name": e.name, "type": e.type} for e in entities],
            "facts": [{"fact": n, "text": fact.text} for n, fact in enumerate(found.facts)],
        }
        relations = self.ask("graph_relations", told, RelationsReply).relations
        return reply.model_copy(update={"entities": entities, "relations": relations})


def _graph_data(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in ("subject", "participants", "messages")}


def _silent(exchange: Exchange) -> Construction | None:
    """What there is to an exchange without a word: nothing is asked of a model."""
    if any(re.search(r"\w", u.text) for u in exchange.utterances):
        return None
    return Construction(speech_acts={u.handle: "chitchat" for u in exchange.utterances})


def _groups(exchanges: Sequence[Exchange], most: int) -> list[list[Exchange]]:
    """Neighbouring exchanges, at most `most` and a window's tokens together."""
    groups: list[list[Exchange]] = []
    for exchange in exchanges:
        last = groups[-1] if groups else []
        if last and len(last) < most and _size([*last, exchange]) <= _WINDOW:
            last.append(exchange)
        else:
            groups.append([exchange])
    return groups


def _following(first: Sequence[Exchange], second: Sequence[Exchange]) -> list[Exchange]:
    """The second part with the first as what went before, if its own history is not there."""
    said = [u for exchange in first for u in exchange.utterances]
    history = second[0].history or said
    return [replace(second[0], history=history), *second[1:]]


def _readable(exchange: Exchange) -> Exchange:
    """Without documents and tool output: they are not anyone's word (spec E24)."""
    kept = [u for u in exchange.utterances if u.role in _READ]
    return replace(exchange, utterances=kept)


def _size(group: Sequence[Exchange]) -> int:
    return sum(count_tokens([u.text for exchange in group for u in exchange.utterances]))


def _halves(exchange: Exchange) -> tuple[Exchange, ...]:
    """The exchange in two: between utterances, or inside the only one; () if it is small."""
    utterances = list(exchange.utterances)
    if len(utterances) > 1:
        middle = len(utterances) // 2
        first, second = utterances[:middle], utterances[middle:]
        history = [*exchange.history, *first][-max(len(exchange.history), len(first)) :]
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
        continues=parts[0].continues,
        related=tuple(dict.fromkeys(handle for part in parts for handle in part.related)),
    )


def _data(group: Sequence[Exchange]) -> dict[str, Any]:
    first = group[0]
    messages = [
        {"handle": u.handle, "exchange": f"e{at}"} | _said(u)
        for at, exchange in enumerate(group, 1)
        for u in exchange.utterances
    ]
    data: dict[str, Any] = {
        "subject": first.subject,
        "participants": list(first.participants),
        "observed": group[-1].utterances[-1].at.date().isoformat(),
        "history": [{"handle": u.handle} | _said(u) for u in first.history],
        "messages": messages,
    }
    return data | ({"summary": first.summary} if first.summary else {})


def _said(utterance: Utterance) -> dict[str, str]:
    return {
        "speaker": utterance.speaker,
        "role": utterance.role,
        "at": utterance.at.isoformat(timespec="minutes"),
        "text": utterance.text,
    }
