"""Reading exchanges: what they change, entities, relations and descriptors in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.llm.grounding.extraction import MOST_FACTS, ExtractionReader, ReadReply
from memoryhub.engines.llm.packaged_prompts import Purpose
from memoryhub.engines.llm.purposes.base import (
    MAX_CALL_TOKENS,
    TOO_LARGE_CODES,
    ModelPurposes,
    render_held_claim,
    render_minute,
)
from memoryhub.engines.llm.replies import (
    ChangesExchangesReply,
    ChangesGraphReply,
    ChangesReply,
    ConstructReply,
    EntitiesReply,
    ExchangeReply,
    FactReply,
    FactsReply,
    PlainFactsReply,
    RelationsReply,
)
from memoryhub.engines.types import (
    Exchange,
    Extraction,
    ExtractionOptions,
    FactCandidate,
    RelationCandidate,
    Utterance,
    cap_candidates,
)
from memoryhub.errors import EngineError

_OVERLAP_CHARACTERS = 600  # characters two halves of one text share
_MIN_SPLIT_CHARACTERS = 1500  # characters; a shorter text is not split any further
# By whether a graph, and whether notes or chains are wanted.
_CONSTRUCT_SHAPES: Mapping[tuple[bool, bool], type[ChangesReply]] = {
    (False, False): ChangesReply,
    (True, False): ChangesGraphReply,
    (False, True): ChangesExchangesReply,
    (True, True): ConstructReply,
}
_READ_ROLES = frozenset({"user", "assistant"})


class ExtractionPurposes(ModelPurposes):
    def extract_memories(
        self, exchanges: Sequence[Exchange], wanted: ExtractionOptions | None = None
    ) -> list[Extraction]:
        """One construction per exchange; up to `wanted.batch` of them are read in one call.

        Raises EngineError when a reply stays unusable.
        """
        wanted = wanted or ExtractionOptions()
        ready = [_keep_dialogue(exchange) for exchange in exchanges]
        whole = {u.handle: u for exchange in ready for u in exchange.utterances}
        silent = [_build_silent_extraction(exchange) for exchange in ready]
        spoken = [e for e, nothing in zip(ready, silent, strict=True) if nothing is None]
        groups = _group_exchanges(spoken, wanted.batch)
        read = iter(
            [built for group in groups for built in self._extract_group(group, whole, wanted)]
        )
        return [nothing or next(read) for nothing in silent]

    def _extract_group(
        self, group: Sequence[Exchange], whole: Mapping[str, Utterance], wanted: ExtractionOptions
    ) -> list[Extraction]:
        """`whole` are the utterances uncut: facts point into them, not into the parts read."""
        fits = len(group) > 1 or _count_group_tokens(group) <= MAX_CALL_TOKENS
        if fits or not _halve_exchange(group[0]):
            try:
                return self._ask_about_group(group, whole, wanted)
            except EngineError as error:
                if error.code not in TOO_LARGE_CODES or not (
                    len(group) > 1 or _halve_exchange(group[0])
                ):
                    raise
        if len(group) > 1:
            middle = len(group) // 2
            first, second = group[:middle], _pass_on_history(group[:middle], group[middle:])
            return [
                *self._extract_group(first, whole, wanted),
                *self._extract_group(second, whole, wanted),
            ]
        parts = [
            self._extract_group([part], whole, wanted)[0] for part in _halve_exchange(group[0])
        ]
        return [_join_extractions(parts)]

    def _ask_about_group(
        self, group: Sequence[Exchange], whole: Mapping[str, Utterance], wanted: ExtractionOptions
    ) -> list[Extraction]:
        uncut = [
            replace(each, utterances=[whole[u.handle] for u in each.utterances]) for each in group
        ]
        purpose: Purpose = "construct" if wanted.combine else "extract_facts"
        earlier = {u.handle for u in (*group[0].earlier, *group[0].history)}
        reading = ExtractionReader(uncut, earlier, self.prompts.get_text(purpose))
        reply = (
            self._ask_at_once(group, wanted) if wanted.combine else self._ask_apart(group, wanted)
        )
        constructions = reading.build_extractions(reply)
        self.count_rejected_items(purpose, reading.rejected)
        return constructions

    def _ask_at_once(self, group: Sequence[Exchange], wanted: ExtractionOptions) -> ReadReply:
        """What the messages change, and what else is wanted of them, by one call."""
        shape = _CONSTRUCT_SHAPES[wanted.graph, wanted.notes or wanted.chain]
        lists = [name for name in shape.model_fields if name != "changes"]
        known = [render_held_claim(claim) for claim in group[0].held or ()]
        data = {"wanted": sorted(lists), **_build_request(group, known)}
        lengths = {"changes": MOST_FACTS * len(group)}
        reply = self.ask_purpose("construct", data, shape, lengths)
        return ReadReply(
            [change.build_fact() for change in reply.changes],
            reply.changes,
            getattr(reply, "entities", ()),
            getattr(reply, "relations", ()),
            exchanges=getattr(reply, "exchanges", ()),
        )

    def _ask_apart(self, group: Sequence[Exchange], wanted: ExtractionOptions) -> ReadReply:
        """Facts, entities and relations by a call each, as Mem0 and Mem0g do."""
        data = _build_request(group)
        lengths = {"facts": _bound_facts(group), "speech_acts": len(data["messages"])}
        reply = self._ask_for_facts(data, wanted, lengths)
        if not (wanted.graph and reply.facts):
            return reply
        shown = {name: data[name] for name in ("subject", "participants", "messages")}
        entities = self.ask_purpose("graph_entities", shown, EntitiesReply).entities
        if len(entities) < 2:
            return replace(reply, entities=entities)
        told = {
            "entities": [{"name": e.name, "type": e.type} for e in entities],
            "facts": [{"fact": n, "text": fact.text} for n, fact in enumerate(reply.facts)],
        }
        relations = self.ask_purpose("graph_relations", told, RelationsReply).relations
        return replace(reply, entities=entities, relations=relations)

    def _ask_for_facts(
        self, data: Mapping[str, Any], wanted: ExtractionOptions, lengths: Mapping[str, int]
    ) -> ReadReply:
        """AMA's with their patterns and R_t, or as little as Mem0 keeps of each."""
        if not wanted.patterns:
            asked = {"wanted": [], **data}
            plain = self.ask_purpose("extract_facts", asked, PlainFactsReply, lengths)
            facts = [FactReply.model_validate(f.model_dump(by_alias=True)) for f in plain.facts]
            return ReadReply(facts, speech_acts=plain.speech_acts)
        asked = {"wanted": ["patterns", "related"], **data}
        found = self.ask_purpose("extract_facts", asked, FactsReply, lengths)
        names = dict.fromkeys(message["exchange"] for message in data["messages"])
        related = [ExchangeReply(exchange=name, related=found.related) for name in names]
        return ReadReply(found.facts, speech_acts=found.speech_acts, exchanges=related)


def _build_silent_extraction(exchange: Exchange) -> Extraction | None:
    """What there is to an exchange without a word: nothing is asked of a model."""
    if any(re.search(r"\w", u.text) for u in exchange.utterances):
        return None
    return Extraction(speech_acts={u.handle: "chitchat" for u in exchange.utterances})


def _group_exchanges(exchanges: Sequence[Exchange], most: int) -> list[list[Exchange]]:
    """Neighbouring exchanges, at most `most` and a window's tokens together."""
    groups: list[list[Exchange]] = []
    for exchange in exchanges:
        last = groups[-1] if groups else []
        if last and len(last) < most and _count_group_tokens([*last, exchange]) <= MAX_CALL_TOKENS:
            last.append(exchange)
        else:
            groups.append([exchange])
    return groups


def _pass_on_history(first: Sequence[Exchange], second: Sequence[Exchange]) -> list[Exchange]:
    """The second part with the first as what went before, if its own history is not there."""
    said = [u for exchange in first for u in exchange.utterances]
    history = second[0].history or said
    return [replace(second[0], history=history), *second[1:]]


def _keep_dialogue(exchange: Exchange) -> Exchange:
    """Without documents and tool output: they are not anyone's word (spec E24)."""
    kept = [u for u in exchange.utterances if u.role in _READ_ROLES]
    return replace(exchange, utterances=kept)


def _count_group_tokens(group: Sequence[Exchange]) -> int:
    return sum(count_tokens([u.text for exchange in group for u in exchange.utterances]))


def _bound_facts(group: Sequence[Exchange]) -> int:
    """More facts than anybody could read in messages of this length: a small model goes over all
    that was told before until it is cut off, and has to be asked again. In steps of two, as each
    length is a schema of its own to the endpoint."""
    return min(MOST_FACTS * len(group), 4 + 2 * (_count_group_tokens(group) // 24))


def _halve_exchange(exchange: Exchange) -> tuple[Exchange, ...]:
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
    return tuple(replace(exchange, utterances=[part]) for part in _halve_utterance(utterances[0]))


def _halve_utterance(utterance: Utterance) -> tuple[Utterance, ...]:
    text = utterance.text
    if len(text) < _MIN_SPLIT_CHARACTERS:
        return ()
    middle = len(text) // 2
    parts = text[: middle + _OVERLAP_CHARACTERS // 2], text[middle - _OVERLAP_CHARACTERS // 2 :]
    return tuple(replace(utterance, text=part) for part in parts)


def _join_extractions(parts: Sequence[Extraction]) -> Extraction:
    """The parts of one exchange as one; a claim both halves make counts once."""
    facts: dict[str, FactCandidate] = {}
    relations: list[RelationCandidate] = []
    for part in parts:
        for fact in part.facts:
            facts.setdefault(fact.text.casefold(), fact)
        places = [list(facts).index(fact.text.casefold()) for fact in part.facts]
        relations += [replace(each, fact=places[each.fact]) for each in part.relations]
    kept = cap_candidates(list(facts.values()), MOST_FACTS)
    moved = {place: at for at, place in enumerate(kept)}
    return Extraction(
        facts=tuple(kept.values()),
        entities=tuple(dict.fromkeys(e for part in parts for e in part.entities)),
        relations=tuple(
            dict.fromkeys(replace(r, fact=moved[r.fact]) for r in relations if r.fact in moved)
        ),
        note=next((part.note for part in parts if part.note), None),
        speech_acts={h: act for part in parts for h, act in part.speech_acts.items()},
        times={h: times for part in parts for h, times in part.times.items()},
        topic_cue=parts[0].topic_cue,
        continues=parts[0].continues,
        related=tuple(dict.fromkeys(handle for part in parts for handle in part.related)),
        wishes=tuple(dict.fromkeys(wish for part in parts for wish in part.wishes)),
    )


def _build_request(
    group: Sequence[Exchange], known: Sequence[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """What went before first, the messages last, as Mem0's prompt has them (spec §5.1): what
    stands nearest to the reply is what a small model writes about. What stays the same from call
    to call stands before what changes, so that an endpoint need not read it again. `known`: the
    claims that come near, where they are shown."""
    first = group[0]
    history = (*first.earlier, *first.history)
    return {
        "subject": first.subject,
        "participants": list(first.participants),
        **({} if known is None else {"relations": list(first.relations)}),
        "observed": group[-1].utterances[-1].at.date().isoformat(),
        **({"summary": first.summary} if first.summary else {}),
        "history": [{"handle": u.handle} | _render_utterance(u) for u in history],
        **({} if known is None else {"known": list(known)}),
        "messages": [
            {"handle": u.handle, "exchange": f"e{at}"} | _render_utterance(u)
            for at, exchange in enumerate(group, 1)
            for u in exchange.utterances
        ],
    }


def _render_utterance(utterance: Utterance) -> dict[str, str]:
    return {
        "speaker": utterance.speaker,
        "role": utterance.role,
        "at": render_minute(utterance.at),
        "text": utterance.text,
    }
