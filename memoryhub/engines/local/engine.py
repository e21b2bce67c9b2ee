"""The engine without a model server: rules over a dependency parse, one batch at a time."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import cast

from memoryhub.engines.local.answers.questions import RecallRules
from memoryhub.engines.local.attribution.made_texts import Span, find_made_spans
from memoryhub.engines.local.attribution.told import (
    RestatedText,
    lead_back,
    quote_told,
    restate_exchange,
)
from memoryhub.engines.local.bounds import bound_exchange
from memoryhub.engines.local.chinese.name_corrections import (
    find_name_corrections as find_chinese_name_corrections,
)
from memoryhub.engines.local.claims.changes import read_changes
from memoryhub.engines.local.claims.corrections import apply_correction
from memoryhub.engines.local.claims.entities import extract_entities, extract_relations
from memoryhub.engines.local.claims.extract import extract_facts
from memoryhub.engines.local.claims.fragments import CONFIDENCE_OF_WHOLE
from memoryhub.engines.local.claims.judgements import (
    build_statement,
    judge_statements,
    load_decider,
)
from memoryhub.engines.local.claims.name_corrections import find_name_corrections
from memoryhub.engines.local.claims.predicates import is_single_valued
from memoryhub.engines.local.claims.short_answers import CompletedStatement, complete_answer
from memoryhub.engines.local.claims.values import (
    add_employer_facts,
    end_left_home,
    mark_ended,
    part_shared_homes,
)
from memoryhub.engines.local.comparison.resolve import ClaimRules
from memoryhub.engines.local.dates.english import find_times
from memoryhub.engines.local.grammar.antecedents import may_point_back
from memoryhub.engines.local.grammar.parse import ParsedPiece, parse_texts
from memoryhub.engines.local.grammar.scene import ParsedTurn, build_scene, find_known_names
from memoryhub.engines.local.grammar.speech import choose_overall_act, is_correction, is_question
from memoryhub.engines.local.language import LanguageCode, detect_language
from memoryhub.engines.local.notes.describe import build_note_draft
from memoryhub.engines.local.notes.link import NoteRules
from memoryhub.engines.local.personas.traits import PersonaRules
from memoryhub.engines.local.topics.cues import opens_topic
from memoryhub.engines.local.topics.episodes import EpisodeRules
from memoryhub.engines.local.topics.segments import TopicRules
from memoryhub.engines.types import (
    Exchange,
    Extraction,
    ExtractionOptions,
    FactCandidate,
    NameCorrection,
    SourceSpan,
    SpeechAct,
    TimeSpan,
    Utterance,
)

_MAX_FACTS = 20  # facts of an exchange (spec §16)
# From this chance on a sentence that no rule reads is worth keeping as it was said.
_WORTH_OF_WHOLE = 0.5
# What says so is not over: "still has it", "have had it since March", "closed until August".
_LASTS = re.compile(
    r"\b(?:still|ha(?:s|ve) had|until|til|till)\b|['’]ve had\b| now\.$"
    r"|\b(?:came|come|gone|went) through\b|\bback (?:on|at|in|with|to)\b"
    r"|\b(?:moved|switched|transferred) (?:my|our|their|his|her) \w+ (?:over )?to\b"
    r"|\b(?:now|these days|nowadays),? (?:and )?(?:not|no longer|rather than|instead of)\b"
    r"|\b(?:nearly|almost) (?:quit|left|gave|sold|lost|broke|split|\w{2,}ed)\b"
    r"|\bwent (?:really |very |so )?(?:well|fine|ok(?:ay)?|great|badly|smoothly)\b"
    r"|\b(?:broke|sprained|twisted|fractured) (?:his|her|their|my) \w+|\b(?:unpacked|settled in)\b"
    r"|\b(?:kept|(?:is|are|am) keeping|got accepted|booked|put (?:me|us|him|her|them) on)\b"
    r"|\b(?:is|are|am|been)(?: \w+){0,2} since\b|['’](?:m|s|re)(?: \w+){0,2} since\b",
    re.I,
)
_MAX_CONTEXT = 300  # characters of the turn before
_READ_ROLES = frozenset({"user", "assistant"})  # documents and tool output are data (spec E24)
ChineseExtractor = Callable[[Exchange, Mapping[str, RestatedText]], Extraction]


class LocalEngine(ClaimRules, NoteRules, TopicRules, EpisodeRules, PersonaRules, RecallRules):
    """Implements `Engine` for English, and for Chinese by `local.chinese.extract`.

    Other languages yield speech acts and nothing else. Nothing here calls out or waits.
    """

    name = "local"
    reads_by_rules = True
    version = "1"

    def __init__(self, *, judges: bool = True) -> None:
        """`judges` False: what was read is not judged by what was learned (for learning it)."""
        self._judges = judges

    def extract_memories(
        self, exchanges: Sequence[Exchange], wanted: ExtractionOptions | None = None
    ) -> list[Extraction]:
        """One construction per exchange, of its first words where there are very many; all English
        texts are parsed in one batch."""
        readings = _prepare_readings([bound_exchange(exchange) for exchange in exchanges])
        _complete_statements(readings)
        for reading in readings:
            _read_facts(reading)
        if self._judges:
            _judge_facts(readings)
        return [_finish_extraction(reading) for reading in readings]


@dataclass(slots=True)
class _ExchangeReading:
    """An exchange on its way: `asked` is the question before it, when it ended in one.

    `sent` is the exchange as it came in, `restated` what is read of it, by handles; `made` where
    nobody speaks for themselves.
    """

    sent: Exchange
    exchange: Exchange
    restated: Mapping[str, RestatedText]
    made: Mapping[str, Sequence[Span]]
    turns: list[ParsedTurn]
    question: ParsedTurn | None
    statements: list[tuple[CompletedStatement, ParsedTurn]] = field(default_factory=list)
    facts: list[FactCandidate] = field(default_factory=list)
    acts: dict[str, SpeechAct] = field(default_factory=dict)

    @property
    def assisted(self) -> frozenset[str]:
        """Handles of what is told to an assistant."""
        return frozenset(t.utterance.handle for t in self.turns if t.scene.assisted)

    def is_told(self, fact: FactCandidate) -> bool:
        """It was written down to be kept."""
        source = fact.sources[0]
        restated = self.restated.get(source.handle)
        return restated is not None and restated.is_kept(source.start)

    def is_claimed(self, fact: FactCandidate) -> bool:
        """Somebody says it of themselves, and not in a text that was made."""
        source = self._find_sent_span(fact.sources[0])
        spans = self.made.get(source.handle, ())
        return not any(start <= source.start < end for start, end in spans)

    def lead_back(self, found: Extraction) -> Extraction:
        """What was read with its places as they were sent."""
        if not self.restated:
            return found
        facts = tuple(lead_back(fact, self.sent, self.restated) for fact in found.facts)
        return replace(found, facts=facts, times=dict(map(self._move_times, found.times.items())))

    def _find_sent_span(self, span: SourceSpan) -> SourceSpan:
        restated = self.restated.get(span.handle)
        return restated.find_sent_span(span) if restated else span

    def _move_times(
        self, found: tuple[str, tuple[TimeSpan, ...]]
    ) -> tuple[str, tuple[TimeSpan, ...]]:
        handle, times = found
        restated = self.restated.get(handle)
        if restated is None:
            return found
        return handle, tuple(replace(t, at=restated.find_sent_place(t.at)) for t in times)


def _prepare_readings(sent: Sequence[Exchange]) -> list[_ExchangeReading]:
    restated = [restate_exchange(exchange) for exchange in sent]
    exchanges = [exchange for exchange, _ in restated]
    english = [[u for u in e.utterances if _is_read_in(u, "en")] for e in exchanges]
    before = [_find_needed_context(e) for e in exchanges]
    wanted = [[*b, *us] for us, b in zip(english, before, strict=True)]
    called = [find_known_names(e) for e, us in zip(exchanges, wanted, strict=True) for _ in us]
    parsed = iter(parse_texts([u.text for us in wanted for u in us], called))
    readings = []
    for (exchange, texts), came, us, earlier in zip(restated, sent, wanted, before, strict=True):
        every = _link_turns([_prepare_turn(exchange, u, next(parsed)) for u in us])
        turns, last = every[len(earlier) :], every[len(earlier) - 1] if earlier else None
        if len(earlier) > 1 and turns:
            said_before = tuple(piece for turn in every[: len(earlier)] for piece in turn.pieces)
            turns[0] = replace(turns[0], before=said_before)
        asked = last if last and is_question(last.utterance.text) else None
        made = find_made_spans(came)
        readings.append(_ExchangeReading(came, exchange, texts, made, turns, asked))
    return readings


def _link_turns(turns: Sequence[ParsedTurn]) -> list[ParsedTurn]:
    linked = list(turns)
    for at, (turn, last) in enumerate(zip(turns[1:], turns, strict=False), 1):
        answers = last.utterance.role == "assistant"
        linked[at] = replace(turn, before=last.pieces, answers=answers)
    return linked


def _prepare_turn(
    exchange: Exchange, utterance: Utterance, pieces: tuple[ParsedPiece, ...]
) -> ParsedTurn:
    times = find_times(utterance.text, utterance.at)
    return ParsedTurn(utterance, pieces, times, build_scene(exchange, utterance))


def _is_read_in(utterance: Utterance, language: LanguageCode) -> bool:
    return utterance.role in _READ_ROLES and detect_language(utterance.text) == language


def _find_needed_context(exchange: Exchange) -> list[Utterance]:
    """The utterance before, if it asks something or may say who "she" is; where that is somebody
    else's, or has a "she" too, who she is may stand in what the speaker said before it."""
    before = exchange.history[-1] if exchange.history else None
    if before is None or not exchange.utterances or not _is_read_in(before, "en"):
        return []
    first = exchange.utterances[0]
    if not (may_point_back(first.text) or is_question(before.text)):
        return []
    own = (u for u in reversed(exchange.history[:-1]) if u.speaker == first.speaker)
    further = before.speaker != first.speaker or may_point_back(before.text)
    told = next(own, None) if further else None
    pointing = may_point_back(first.text) or may_point_back(before.text)
    found = [told] if told and _is_read_in(told, "en") and pointing else []
    return [replace(each, text=_cut_end(each.text)) for each in (*found, before)]


def _cut_end(text: str) -> str:
    """The last sentences of a text: what is pointed back to stands there."""
    if len(text) <= _MAX_CONTEXT:
        return text
    end = text[-_MAX_CONTEXT:].rstrip()
    found = [at + len(mark) for mark in (". ", "! ", "? ", "\n") if (at := end.find(mark)) >= 0]
    return end[min(found, default=0) :]


def _complete_statements(readings: Sequence[_ExchangeReading]) -> None:
    """Statements made of short answers, parsed in a second batch."""
    pairs = ((reading, pair) for reading in readings for pair in _list_completions(reading))
    found = [(reading, *pair) for reading, pair in pairs]
    parsed = parse_texts([statement.text for _, _, statement in found])
    for (reading, turn, statement), pieces in zip(found, parsed, strict=True):
        said = replace(turn.utterance, text=statement.text)
        made = _prepare_turn(reading.exchange, said, pieces)
        # Whom "she" of the question means was said before it.
        reading.statements.append((statement, replace(made, before=turn.before[:-1])))


def _list_completions(reading: _ExchangeReading) -> list[tuple[ParsedTurn, CompletedStatement]]:
    changes = [(turn, told) for turn in reading.turns for told in read_changes(turn)]
    return [*_complete_short_answers(reading), *_complete_corrections(reading), *changes]


def _complete_corrections(reading: _ExchangeReading) -> list[tuple[ParsedTurn, CompletedStatement]]:
    said = [*reading.exchange.history, *(turn.utterance for turn in reading.turns)]
    made = []
    for turn in reading.turns:
        before = said[: said.index(turn.utterance)]
        statement = apply_correction(turn.utterance, before[::-1])
        made += [(turn, statement)] if statement else []
    return made


def _complete_short_answers(
    reading: _ExchangeReading,
) -> list[tuple[ParsedTurn, CompletedStatement]]:
    turns = [*([reading.question] if reading.question else []), *reading.turns]
    pairs = pairwise(turns)
    answers = [(a, b) for a, b in pairs if a.scene.speaker != b.scene.speaker]
    return [(turn, told) for asked, turn in answers for told in complete_answer(asked, turn)]


def _read_facts(reading: _ExchangeReading) -> None:
    stated = _extract_from_statements(reading)
    completed = {(fact.sources[0].handle, fact.sources[0].start) for fact in stated}
    read = [extract_facts(turn, completed) for turn in reading.turns]
    once = {_identify(fact) for fact in stated}
    told = [*stated, *(f for found, _ in read for f in found if _identify(f) not in once)]
    # "Is allergic to prawns so none of that" says no more than what was made of it.
    told = [f for f in told if not any(f.text.startswith(f"{s.text[:-1]} so ") for s in stated)]
    told += [fact for turn in reading.turns for fact in _quote_told(reading, turn, told)]
    told = [fact for fact in told if reading.is_claimed(fact)]
    told = [end_left_home(fact) for fact in part_shared_homes(add_employer_facts(told))]
    reading.facts = _sort_facts(told, reading.exchange)
    turns = zip(reading.turns, read, strict=True)
    reading.acts = {turn.utterance.handle: choose_overall_act(found) for turn, (_, found) in turns}


def _identify(fact: FactCandidate) -> tuple[str, str]:
    return fact.sources[0].handle, fact.text


def _quote_told(
    reading: _ExchangeReading, turn: ParsedTurn, facts: Sequence[FactCandidate]
) -> list[FactCandidate]:
    handle = turn.utterance.handle
    if handle not in reading.restated:
        return []
    own = [fact for fact in facts if fact.sources[0].handle == handle]
    return quote_told(turn, reading.restated[handle], own)


def _judge_facts(readings: Sequence[_ExchangeReading]) -> None:
    """Leaves out what is not worth keeping, and marks what says that something is over, of what
    is told to an assistant: that is what the deciders learned from."""
    said = [{u.handle: u.text for u in reading.exchange.utterances} for reading in readings]
    asked = [
        (reading, at, build_statement(fact, texts[fact.sources[0].handle]))
        for reading, texts in zip(readings, said, strict=True)
        for at, fact in enumerate(reading.facts)
        if fact.sources[0].handle in reading.assisted
        and not is_single_valued(fact.predicate_key)  # these are sure
    ]
    worth, ended = load_decider("worth").bar, load_decider("ended").bar
    dropped = set[tuple[int, int]]()
    judged = judge_statements([statement for _, _, statement in asked]) if asked else []
    for (reading, at, (fact, words)), chances in zip(asked, judged, strict=True):
        if chances.ended >= ended and not _LASTS.search(f"{words} {fact.text}"):
            reading.facts[at] = mark_ended(fact)
        bar = _WORTH_OF_WHOLE if fact.confidence <= CONFIDENCE_OF_WHOLE else worth
        if not fact.predicate_key and chances.worth < bar and not reading.is_told(fact):
            dropped.add((id(reading), at))
    for reading in readings:
        told = enumerate(reading.facts)
        reading.facts = [fact for at, fact in told if (id(reading), at) not in dropped]


def _extract_english(reading: _ExchangeReading) -> Extraction:
    facts, acts = reading.facts[:_MAX_FACTS], reading.acts
    told_in = {fact.sources[0].handle for fact in facts}
    # A wish to forget stays one, whatever else is said beside it.
    acts |= {handle: "assertion" for handle in told_in if acts.get(handle) != "forget"}
    relations, ends = extract_relations(facts)
    docs = [piece.doc for turn in reading.turns for piece in turn.pieces]
    scenes = [turn.scene for turn in reading.turns]
    names = scenes[0].list_first_names() if scenes else frozenset()
    texts = [u.text for u in reading.exchange.utterances]
    return Extraction(
        facts=tuple(facts),
        entities=extract_entities(docs, scenes, ends, facts),
        relations=relations,
        note=build_note_draft(docs, facts, names),
        speech_acts=_fill_acts(reading.exchange, acts),
        times={t.utterance.handle: t.times for t in reading.turns if t.times},
        topic_cue=bool(texts) and opens_topic(texts[0]),
    )


def _sort_facts(facts: list[FactCandidate], exchange: Exchange) -> list[FactCandidate]:
    place = {u.handle: i for i, u in enumerate(exchange.utterances)}
    return sorted(facts, key=lambda f: (place[f.sources[0].handle], f.sources[0].start))


def _fill_acts(exchange: Exchange, acts: dict[str, SpeechAct]) -> dict[str, SpeechAct]:
    return {u.handle: acts.get(u.handle, "chitchat") for u in exchange.utterances}


def _extract_from_statements(reading: _ExchangeReading) -> list[FactCandidate]:
    return [
        _relocate_fact(fact, statement, reading.exchange)
        for statement, turn in reading.statements
        for fact in extract_facts(turn)[0]
    ]


def _relocate_fact(
    fact: FactCandidate, statement: CompletedStatement, exchange: Exchange
) -> FactCandidate:
    """The fact with its sources moved from the statement to the answer as it was given."""
    handle = fact.sources[0].handle
    text = next(u.text for u in exchange.utterances if u.handle == handle)
    event = fact.event and replace(fact.event, at=max(0, text.find(fact.event.text)))
    source = SourceSpan(handle, statement.start, statement.end)
    correction = fact.correction or is_correction(text[statement.start : statement.end])
    moved = replace(fact, event=event, sources=(source,), correction=correction)
    moved = replace(moved, confidence=min(fact.confidence, 0.8))
    if not statement.denied:
        return mark_ended(moved) if statement.over else moved
    return replace(moved, text=f"{fact.speaker} never said: {fact.text}", polarity="denied")


def _finish_extraction(reading: _ExchangeReading) -> Extraction:
    found = reading.lead_back(_add_chinese(reading, _extract_english(reading)))
    return replace(found, name_corrections=_find_name_corrections(reading.sent))


def _find_name_corrections(exchange: Exchange) -> tuple[NameCorrection, ...]:
    """What is put right in the exchange as it came in; read in each utterance's language."""
    said = [*exchange.history, *exchange.utterances]
    found: list[NameCorrection] = []
    for at, utterance in enumerate(said[len(exchange.history) :], len(exchange.history)):
        if utterance.role != "user":
            continue
        chinese = detect_language(utterance.text) == "zh"
        read = find_chinese_name_corrections if chinese else find_name_corrections
        found += read(utterance, said[:at][::-1], exchange.names)
    return tuple(found)


def _add_chinese(reading: _ExchangeReading, english: Extraction) -> Extraction:
    """The construction joined with what the Chinese rules read of the Chinese utterances."""
    exchange = reading.exchange
    spoken = [u for u in exchange.utterances if _is_read_in(u, "zh")]
    read = _load_chinese_extractor() if spoken else None
    if read is None:
        return english
    found = read(replace(exchange, utterances=spoken), reading.restated)
    claimed = tuple(fact for fact in found.facts if reading.is_claimed(fact))
    found = replace(found, facts=claimed)
    if len(spoken) == len(exchange.utterances):
        return found
    return _join_extractions(english, found)


def _join_extractions(first: Extraction, second: Extraction) -> Extraction:
    shift = len(first.facts)
    relations = tuple(replace(r, fact=r.fact + shift) for r in second.relations)
    return Extraction(
        facts=first.facts + second.facts,
        entities=tuple(dict.fromkeys(first.entities + second.entities)),
        relations=first.relations + relations,
        note=first.note or second.note,
        speech_acts={**first.speech_acts, **second.speech_acts},
        times={**first.times, **second.times},
        topic_cue=first.topic_cue or second.topic_cue,
    )


@cache
def _load_chinese_extractor() -> ChineseExtractor | None:
    try:
        module = importlib.import_module("memoryhub.engines.local.chinese.extract")
    except ModuleNotFoundError:
        return None
    return cast("ChineseExtractor", module.extract_from_exchange)
