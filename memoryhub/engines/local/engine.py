"""The engine without a model server: rules over a dependency parse, one batch at a time."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import cast

from memoryhub.engines.local.abstraction import Abstracting
from memoryhub.engines.local.associations import Associating
from memoryhub.engines.local.attention import Attending
from memoryhub.engines.local.claims import Deciding
from memoryhub.engines.local.corrections import corrected
from memoryhub.engines.local.dates import find_times
from memoryhub.engines.local.entities import entities_of, relations_of
from memoryhub.engines.local.facts import facts_of
from memoryhub.engines.local.keywords import note_of
from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.moves import moved_out
from memoryhub.engines.local.pairing import Completed, completed
from memoryhub.engines.local.parsing import Piece, parse
from memoryhub.engines.local.people import mentions_somebody
from memoryhub.engines.local.recalling import Recalling
from memoryhub.engines.local.scene import scene_of
from memoryhub.engines.local.speech import is_correction, is_question, overall
from memoryhub.engines.local.topics import opens_topic
from memoryhub.engines.local.turns import Turn
from memoryhub.engines.local.values import with_employers
from memoryhub.engines.types import (
    Construction,
    Exchange,
    FactCandidate,
    SourceSpan,
    SpeechAct,
    TimeSpan,
    Utterance,
    Wanted,
)

_MOST = 20  # facts of an exchange (spec §16)
_READ = frozenset({"user", "assistant"})  # documents and tool output are data (spec E24)
ChineseReader = Callable[[Exchange], Construction]


class LocalEngine(Deciding, Associating, Abstracting, Attending, Recalling):
    """Implements `Engine` for English, and for Chinese by `memoryhub.engines.local.chinese`.

    Other languages yield speech acts and nothing else. Nothing here calls out or waits.
    """

    name = "local"
    version = "1"

    def construct(
        self, exchanges: Sequence[Exchange], wanted: Wanted | None = None
    ) -> list[Construction]:
        """One construction per exchange; all English texts are parsed in one batch."""
        readings = _turns(exchanges)
        _complete(readings)
        return [_with_chinese(reading.exchange, _english(reading)) for reading in readings]


@dataclass(slots=True)
class _Reading:
    """An exchange on its way: `asked` is the question before it, when it ended in one."""

    exchange: Exchange
    turns: list[Turn]
    asked: Turn | None
    statements: list[tuple[Completed, Turn]] = field(default_factory=list)


def _turns(exchanges: Sequence[Exchange]) -> list[_Reading]:
    english = [[u for u in e.utterances if _is_english(u)] for e in exchanges]
    before = [_wanted_before(e) for e in exchanges]
    wanted = [[*([b] if b else []), *us] for us, b in zip(english, before, strict=True)]
    parsed = iter(parse([u.text for us in wanted for u in us]))
    readings = []
    for exchange, us, earlier in zip(exchanges, wanted, before, strict=True):
        turns = _in_context([_turn(exchange, u, next(parsed)) for u in us])
        first = turns.pop(0) if earlier else None
        asked = first if first and is_question(first.utterance.text) else None
        readings.append(_Reading(exchange, turns, asked))
    return readings


def _in_context(turns: Sequence[Turn]) -> list[Turn]:
    earlier: list[tuple[Piece, ...]] = [(), *(turn.pieces for turn in turns)]
    return [replace(turn, before=b) for turn, b in zip(turns, earlier, strict=False)]


def _turn(exchange: Exchange, utterance: Utterance, pieces: tuple[Piece, ...]) -> Turn:
    times = find_times(utterance.text, utterance.at)
    return Turn(utterance, pieces, times, scene_of(exchange, utterance))


def _is_english(utterance: Utterance) -> bool:
    return utterance.role in _READ and language_of(utterance.text) == "en"


def _wanted_before(exchange: Exchange) -> Utterance | None:
    """The utterance before, if it asks something or may say who "she" is."""
    before = exchange.history[-1] if exchange.history else None
    if before is None or not exchange.utterances or not _is_english(before):
        return None
    open_ended = mentions_somebody(exchange.utterances[0].text)
    return before if open_ended or is_question(before.text) else None


def _complete(readings: Sequence[_Reading]) -> None:
    """Statements made of short answers, parsed in a second batch."""
    pairs = ((reading, pair) for reading in readings for pair in _completions(reading))
    found = [(reading, *pair) for reading, pair in pairs]
    parsed = parse([statement.text for _, _, statement in found])
    for (reading, turn, statement), pieces in zip(found, parsed, strict=True):
        said = replace(turn.utterance, text=statement.text)
        reading.statements.append((statement, _turn(reading.exchange, said, pieces)))


def _completions(reading: _Reading) -> list[tuple[Turn, Completed]]:
    return [*_answers(reading), *_corrections(reading)]


def _corrections(reading: _Reading) -> list[tuple[Turn, Completed]]:
    said = [*reading.exchange.history, *(turn.utterance for turn in reading.turns)]
    made = []
    for turn in reading.turns:
        before = said[: said.index(turn.utterance)]
        statement = corrected(turn.utterance, before[::-1])
        made += [(turn, statement)] if statement else []
    return made


def _answers(reading: _Reading) -> list[tuple[Turn, Completed]]:
    turns = [*([reading.asked] if reading.asked else []), *reading.turns]
    pairs = pairwise(turns)
    made = ((b, completed(a, b)) for a, b in pairs if a.scene.speaker != b.scene.speaker)
    return [(turn, statement) for turn, statement in made if statement]


def _english(reading: _Reading) -> Construction:
    read = [facts_of(turn) for turn in reading.turns]
    told = [*_from_answers(reading), *(fact for found, _ in read for fact in found)]
    told = [moved_out(fact) for fact in with_employers(told)]
    facts = _in_order(told, reading.exchange)[:_MOST]
    acts = {t.utterance.handle: overall(a) for t, (_, a) in zip(reading.turns, read, strict=True)}
    told_in = {fact.sources[0].handle for fact in facts}
    # A wish to forget stays one, whatever else is said beside it.
    acts |= {handle: "assertion" for handle in told_in if acts.get(handle) != "forget"}
    relations, ends = relations_of(facts)
    docs = [piece.doc for turn in reading.turns for piece in turn.pieces]
    scenes = [turn.scene for turn in reading.turns]
    names = scenes[0].first_names() if scenes else frozenset()
    texts = [u.text for u in reading.exchange.utterances]
    return Construction(
        facts=tuple(facts),
        entities=entities_of(docs, scenes, ends),
        relations=relations,
        note=note_of(docs, facts, names),
        speech_acts=_all_acts(reading.exchange, acts),
        times={t.utterance.handle: t.times for t in reading.turns if t.times},
        topic_cue=bool(texts) and opens_topic(texts[0]),
    )


def _in_order(facts: list[FactCandidate], exchange: Exchange) -> list[FactCandidate]:
    place = {u.handle: i for i, u in enumerate(exchange.utterances)}
    return sorted(facts, key=lambda f: (place[f.sources[0].handle], f.sources[0].start))


def _all_acts(exchange: Exchange, acts: dict[str, SpeechAct]) -> dict[str, SpeechAct]:
    return {u.handle: acts.get(u.handle, "chitchat") for u in exchange.utterances}


def _from_answers(reading: _Reading) -> list[FactCandidate]:
    return [
        _placed(fact, statement, reading.exchange)
        for statement, turn in reading.statements
        for fact in facts_of(turn)[0]
    ]


def _placed(fact: FactCandidate, statement: Completed, exchange: Exchange) -> FactCandidate:
    """The fact with its sources moved from the statement to the answer as it was given."""
    handle = fact.sources[0].handle
    text = next(u.text for u in exchange.utterances if u.handle == handle)
    event = _found_in(fact.event, text) if fact.event else None
    source = SourceSpan(handle, statement.start, statement.end)
    correction = fact.correction or is_correction(text[statement.start : statement.end])
    confidence = min(fact.confidence, 0.8)
    moved = replace(
        fact, event=event, sources=(source,), confidence=confidence, correction=correction
    )
    return _denied(moved) if statement.denied else moved


def _denied(fact: FactCandidate) -> FactCandidate:
    """What the speaker says they never said."""
    return replace(fact, text=f"{fact.speaker} never said: {fact.text}", polarity="denied")


def _found_in(event: TimeSpan, text: str) -> TimeSpan:
    return replace(event, at=max(0, text.find(event.text)))


def _with_chinese(exchange: Exchange, english: Construction) -> Construction:
    """The construction joined with what the Chinese rules read of the Chinese utterances."""
    spoken = [u for u in exchange.utterances if u.role in _READ and language_of(u.text) == "zh"]
    read = _chinese() if spoken else None
    if read is None:
        return english
    found = read(replace(exchange, utterances=spoken))
    if len(spoken) == len(exchange.utterances):
        return found
    return _joined(english, found)


def _joined(first: Construction, second: Construction) -> Construction:
    shift = len(first.facts)
    relations = tuple(replace(r, fact=r.fact + shift) for r in second.relations)
    return Construction(
        facts=first.facts + second.facts,
        entities=tuple(dict.fromkeys(first.entities + second.entities)),
        relations=first.relations + relations,
        note=first.note or second.note,
        speech_acts={**first.speech_acts, **second.speech_acts},
        times={**first.times, **second.times},
        topic_cue=first.topic_cue or second.topic_cue,
    )


@cache
def _chinese() -> ChineseReader | None:
    try:
        module = importlib.import_module("memoryhub.engines.local.chinese")
    except ModuleNotFoundError:
        return None
    return cast("ChineseReader", module.construct)
