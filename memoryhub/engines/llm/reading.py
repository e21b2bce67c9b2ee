"""A model's reply as a Construction. Code decides what a model may claim.

Handles that were not offered, values outside the lists and claims the assistant makes about
a person are dropped and counted (spec E13, E24, E27); everything is capped (E14).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from memoryhub.engines.llm.asking import is_instruction
from memoryhub.engines.llm.replies import ConstructReply, FactReply, NoteReply
from memoryhub.engines.llm.times import time_of
from memoryhub.engines.local.predicates import is_single
from memoryhub.engines.types import (
    Construction,
    EntityMention,
    FactCandidate,
    FactKind,
    NoteDraft,
    Pattern,
    Polarity,
    RelationCandidate,
    SourceSpan,
    SpeechAct,
    TimeSpan,
    Utterance,
)

MOST_FACTS, MOST_WORDS, MOST_MENTIONS, MOST_CHARACTERS = 20, 12, 40, 500  # spec §16
_SELF = frozenset({"", "i", "me", "user", "speaker", "the user", "the speaker", "我", "用户"})
_TYPES = frozenset({"person", "place", "organisation", "event", "object", "concept", "date"})
_UNSURE = 0.6  # confidence of a claim whose quotation is nowhere


@dataclass
class Reading:
    """One reply being read against the utterances it is about, by their handles.

    `rejected` counts what was dropped.
    """

    offered: Mapping[str, Utterance]
    rejected: int = 0

    def construction(self, reply: ConstructReply) -> Construction:
        kept: dict[int, FactCandidate] = {}
        for index, each in enumerate(reply.facts):
            fact = self._fact(each) if len(kept) < MOST_FACTS else None
            if fact:
                kept[index] = fact
        self.rejected += len(reply.facts) - len(kept)
        facts = tuple(kept.values())
        entities = self._entities(reply)
        times: dict[str, tuple[TimeSpan, ...]] = {}
        for fact in facts:
            if fact.event and fact.event.text:
                handle = fact.sources[0].handle
                times[handle] = tuple(dict.fromkeys((*times.get(handle, ()), fact.event)))
        return Construction(
            facts=facts,
            entities=entities,
            relations=self._relations(reply, entities, list(kept)),
            note=_note(reply.note),
            speech_acts=self._acts(reply),
            times=times,
            topic_cue=reply.new_topic,
        )

    def _fact(self, reply: FactReply) -> FactCandidate | None:
        source = self._source(reply)
        kind = _one_of(FactKind, reply.kind)
        polarity = _one_of(Polarity, reply.polarity)
        if not (source and kind and polarity and reply.text.strip()):
            return None
        owner = source.speaker if reply.owner.strip().lower() in _SELF else reply.owner.strip()
        if not _may_claim(source, owner, kind):
            return None
        span, found = _span(source, reply.quote)
        if not found and is_instruction("construct", reply.text):
            return None  # the model copied its own prompt
        key = re.sub(r"\W+", "_", reply.predicate.strip().lower()).strip("_")[:64]
        return FactCandidate(
            text=reply.text.strip()[:MOST_CHARACTERS],
            owner=owner,
            speaker=source.speaker,
            pattern=_pattern(reply),
            s=reply.subject or owner,
            v=reply.verb,
            o=reply.object,
            o2=reply.second_object,
            c=reply.complement,
            predicate_key=key,
            cardinality="single" if is_single(key) else "multi",
            kind=kind,
            polarity=polarity,
            event=time_of(reply.first, reply.last, reply.when, source),
            confidence=reply.confidence if found else min(reply.confidence, _UNSURE),
            correction=reply.correction and source.role == "user",
            sources=(span,),
        )

    def _source(self, reply: FactReply) -> Utterance | None:
        """The utterance that says it, which is not always the one the reply names.

        Without a quotation to be found, the one that shares most words with the fact: a model
        that takes the assistant's words for the person's names the person's message.
        """
        named = self.offered.get(reply.source)
        if named is None or (reply.quote and reply.quote in named.text):
            return named
        others = [u for u in self.offered.values() if u is not named]
        quoted = [u for u in others if reply.quote and reply.quote in u.text]
        if quoted:
            return quoted[0]
        return max([named, *others], key=lambda u: len(_terms(reply.text) & _terms(u.text)))

    def _entities(self, reply: ConstructReply) -> tuple[EntityMention, ...]:
        known = [
            EntityMention(each.name.strip()[:200], each.type.strip().lower())
            for each in reply.entities
            if each.name.strip() and each.type.strip().lower() in _TYPES
        ]
        self.rejected += len(reply.entities) - len(known)
        return tuple(dict.fromkeys(known))[:MOST_MENTIONS]

    def _relations(
        self, reply: ConstructReply, entities: tuple[EntityMention, ...], kept: list[int]
    ) -> tuple[RelationCandidate, ...]:
        names = {entity.name for entity in entities}
        known = [
            RelationCandidate(each.source, each.label, each.target, kept.index(each.fact))
            for each in reply.relations
            if {each.source, each.target} <= names and each.label and each.fact in kept
        ]
        self.rejected += len(reply.relations) - len(known)
        return tuple(known)[:MOST_MENTIONS]

    def _acts(self, reply: ConstructReply) -> dict[str, SpeechAct]:
        acts: dict[str, SpeechAct] = {}
        for each in reply.speech_acts:
            act = _one_of(SpeechAct, each.act)
            if act and each.handle in self.offered:
                acts[each.handle] = act
            else:
                self.rejected += 1
        return acts


def _terms(text: str) -> frozenset[str]:
    """Words of four letters and more, and single Chinese characters."""
    return frozenset(re.findall(r"[^\W\u4e00-\u9fff]{4,}|[\u4e00-\u9fff]", text.lower()))


def _may_claim(source: Utterance, owner: str, kind: str) -> bool:
    """People speak of anyone; an assistant recommends and speaks of itself; others say nothing."""
    if source.role == "user":
        return True
    return source.role == "assistant" and (owner == source.speaker or kind == "recommendation")


def _span(source: Utterance, quote: str) -> tuple[SourceSpan, bool]:
    start = source.text.find(quote) if quote else -1
    if start < 0:
        return SourceSpan(source.handle, 0, len(source.text)), False
    return SourceSpan(source.handle, start, start + len(quote)), True


def _pattern(reply: FactReply) -> Pattern:
    if reply.object:
        return "SVOO" if reply.second_object else "SVOC" if reply.complement else "SVO"
    return "SVC" if reply.complement else "SV"


def _note(reply: NoteReply | None) -> NoteDraft | None:
    if reply is None or not (reply.keywords or reply.context):
        return None
    return NoteDraft(
        _words(reply.keywords), _words(reply.tags), reply.context.strip()[:MOST_CHARACTERS]
    )


def _words(found: list[str]) -> tuple[str, ...]:
    trimmed = (word.strip()[:64] for word in found)
    return tuple(dict.fromkeys(word for word in trimmed if word))[:MOST_WORDS]


def _one_of(choices: Any, value: str) -> Any:
    """`value` when the Literal has it, else None: never the nearest guess."""
    plain = value.strip().lower()
    return plain if plain in get_args(choices) else None
