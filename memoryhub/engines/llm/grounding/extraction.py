"""A model's reply as a Construction. Code decides what a model may claim.

Handles that were not offered, values outside the lists and claims the assistant makes about
a person are dropped and counted (spec E13, E24, E27); everything is capped (E14).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from memoryhub.engines.llm.grounding.attribution import (
    bears_on,
    choose_predicate,
    extract_word_beginnings,
    find_clause,
    has_assertion,
    is_from_other_speaker,
    key_from_words,
    leans_on_context,
    may_be_about,
    may_be_of_listener,
    names_other_person,
    select_bearing_sentences,
    speaks_of_oneself,
    split_sentences,
    takes_what_was_offered,
    tells_of_somebody_of_theirs,
    tells_something,
)
from memoryhub.engines.llm.packaged_prompts import normalise_instructions, normalise_text
from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    MOST_WORDS,
    clean_words,
    is_part_of_prompt,
)
from memoryhub.engines.llm.replies import (
    ActReply,
    ChangeReply,
    EntityReply,
    ExchangeReply,
    FactReply,
    RelationReply,
)
from memoryhub.engines.local.attribution.passed_on import mask_passed_on, mask_quoted_matter
from memoryhub.engines.local.claims.predicates import is_many_valued, is_single_valued
from memoryhub.engines.local.dates.calendar import DateRange, resolve_unit
from memoryhub.engines.local.grammar.speech import classify_plain_act
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import (
    Cardinality,
    ClaimChange,
    ClausePattern,
    EntityMention,
    Exchange,
    Extraction,
    FactCandidate,
    FactKind,
    ForgetWish,
    HeldClaim,
    NoteDraft,
    Polarity,
    RelationCandidate,
    SourceSpan,
    SpeechAct,
    TimeSpan,
    Utterance,
    VerdictOp,
    cap_candidates,
)
from memoryhub.subject_names import PLACEHOLDERS

MOST_FACTS, MOST_MENTIONS = 20, 40  # spec §16
MIN_PROMPT_PIECE = 12  # characters of a text that can be told to be our own
_SELF_NAMES = frozenset({"", "i", "me", "user", "speaker", "the user", "the speaker", "我", "用户"})
_USER_NAMES = frozenset({"user", "the user", "用户"})  # whom an assistant tells of
_ENTITY_TYPES = frozenset({"person", "place", "organisation", "event", "object", "concept", "date"})
_PREDICATES_SET_BY_EVENTS = frozenset({"lives_in", "address", "marital_status"})
_PLAIN_MARKS = str.maketrans("’‘“”", "''\"\"")
_NOT_SAID = "no message says it"
_UNQUOTED_CONFIDENCE = 0.6  # confidence of a claim whose quotation is nowhere
# What a change does to the claims it names.
_CHANGE_OPS: Mapping[str, VerdictOp] = {
    "same": "same",
    "refine": "augment",
    "replace": "contradict",
    "end": "deny",
}
_WORDLESS_CHANGES = frozenset({"same", "end", "wrong"})
_CHANGES = frozenset({"add", "wrong", "forget", *_CHANGE_OPS})


@dataclass(frozen=True, slots=True)
class ReadReply:
    """What came back of a reading, by one call or by several. `changes` stand beside `facts`, one
    for each, where one call asked what the messages change; None: where facts were asked for."""

    facts: Sequence[FactReply]
    changes: Sequence[ChangeReply] | None = None
    entities: Sequence[EntityReply] = ()
    relations: Sequence[RelationReply] = ()
    speech_acts: Sequence[ActReply] = ()
    exchanges: Sequence[ExchangeReply] = ()


@dataclass
class ExtractionReader:
    """One reply being read against the exchanges it is about.

    `earlier` are the handles of what went before, which an exchange may refer to; `told` are
    our own instructions, which are nobody's facts (spec §5.4 M8). `rejected` counts what was
    dropped.
    """

    exchanges: Sequence[Exchange]
    earlier: Collection[str] = ()
    instructions: str = ""
    rejected: int = 0

    def __post_init__(self) -> None:
        self.offered = {u.handle: u for e in self.exchanges for u in e.utterances}
        self._place = {u.handle: at for at, e in enumerate(self.exchanges) for u in e.utterances}
        self._speakers = {u.speaker for u in self.offered.values()}
        first = self.exchanges[:1]
        self._earlier = before = [u for e in first for u in (*e.earlier, *e.history)]
        shown = [*self.offered.values(), *before]
        summaries = [e.summary for e in first]
        self._held = {claim.handle: claim for e in first for claim in e.held or ()}
        self._is_comparing = any(e.held is not None for e in first)
        known = [f"{claim.owner} {claim.text}" for claim in self._held.values()]
        self._heard = " ".join([*(f"{u.speaker} {u.text}" for u in shown), *summaries, *known])
        self._summaries = summaries
        self._acts_said: Mapping[str, SpeechAct] = {}

    def build_extractions(self, reply: ReadReply) -> list[Extraction]:
        """One an exchange, in order."""
        acts = self._acts_said = self._read_acts(reply)
        kept = self._read_facts(reply)
        wishes = self._read_wishes(reply)
        if reply.changes is not None:
            acts = self._classify_acts(kept, wishes)
        else:
            acts = acts | self._notice_wishes()
        entities = self._read_entities(reply)
        relations = self._read_relations(reply, entities, kept)
        said = self._match_exchange_replies(reply)
        return [
            replace(
                self._build_extraction(at, kept, entities, relations, acts, said.get(at)),
                wishes=tuple(w for w in wishes if self._place[w.source.handle] == at),
            )
            for at in range(len(self.exchanges))
        ]

    def _read_wishes(self, reply: ReadReply) -> list[ForgetWish]:
        """Of each wish to forget the words it is said in, and the claims it surely means."""
        wishes = []
        for index, change in enumerate(reply.changes or ()):
            if change.do != "forget":
                continue
            source = self.offered.get(change.source)
            if source is None or source.role != "user":
                self.rejected += 1
                continue
            span, _ = _locate_quote(source, change.quote)
            wishes.append(ForgetWish(span, tuple(self._find_claims(change, index))))
        return wishes

    def _classify_acts(
        self, kept: Mapping[int, FactCandidate], wishes: Sequence[ForgetWish]
    ) -> dict[str, SpeechAct]:
        """What changes something asserts or wishes; other messages do what their words say. One
        that does both wishes: its claims are kept all the same."""
        acts = {handle: classify_plain_act(u.text) for handle, u in self.offered.items()}
        said = [fact for fact in kept.values() if not fact.withheld]
        acts |= {s.handle: "assertion" for fact in said for s in fact.sources}
        acts |= self._notice_wishes()
        return acts | {wish.source.handle: "forget" for wish in wishes}

    def _notice_wishes(self) -> dict[str, SpeechAct]:
        """Messages of people that plainly wish something forgotten, whatever a model calls them."""
        said = [u for u in self.offered.values() if u.role == "user"]
        return {u.handle: "forget" for u in said if classify_plain_act(u.text) == "forget"}

    def _read_facts(self, reply: ReadReply) -> dict[int, FactCandidate]:
        """By their number in the reply; at most `MOST_FACTS` an exchange (E14)."""
        read: list[dict[int, FactCandidate]] = [{} for _ in self.exchanges]
        nothing: list[ChangeReply | None] = [None] * len(reply.facts)
        changes = nothing if reply.changes is None else reply.changes
        for index, (each, change) in enumerate(zip(reply.facts, changes, strict=True)):
            if change is not None and change.do == "forget":
                continue
            if fact := self._read_fact(each, change, index):
                read[self._place[fact.sources[0].handle]][index] = fact
        kept: dict[int, FactCandidate] = {}
        for told in read:
            numbers = list(told)
            capped = cap_candidates(list(told.values()), MOST_FACTS)
            kept |= {numbers[place]: fact for place, fact in capped.items()}
        kept = dict(sorted(kept.items()))
        wished = sum(change is not None and change.do == "forget" for change in changes)
        self.rejected += len(reply.facts) - len(kept) - wished - self._attach_echoes(reply, kept)
        return kept

    def _attach_echoes(self, reply: ReadReply, kept: dict[int, FactCandidate]) -> int:
        """How often the assistant repeats a person's claim: support, and none of its own (E27)."""
        told = {normalise_text(kept[place].text): place for place in reversed(kept)}
        echoes = 0
        for index, each in enumerate(reply.facts):
            place, source = told.get(normalise_text(each.text)), self._find_source(each)
            if index in kept or place is None or source is None or source.role != "assistant":
                continue
            span = _locate_quote(source, each.quote)[0]
            kept[place] = replace(kept[place], sources=(*kept[place].sources, span))
            echoes += 1
        return echoes

    def _build_extraction(
        self,
        at: int,
        kept: Mapping[int, FactCandidate],
        entities: Sequence[EntityMention],
        relations: Sequence[tuple[int, RelationCandidate]],
        acts: Mapping[str, SpeechAct],
        said: ExchangeReply | None,
    ) -> Extraction:
        mine = [n for n, fact in kept.items() if self._place[fact.sources[0].handle] == at]
        edges = [replace(r, fact=mine.index(n)) for n, r in relations if n in mine]
        facts = tuple(kept[n] for n in mine)
        handles = {u.handle for u in self.exchanges[at].utterances}
        return Extraction(
            facts=facts,
            entities=self._select_entities(at, entities, edges),
            relations=tuple(edges),
            note=_build_note_draft(said),
            speech_acts={handle: act for handle, act in acts.items() if handle in handles},
            times=_collect_times(facts),
            topic_cue=bool(said and said.new_topic),
            continues=said.continues if said else None,
            related=self._select_related(at, said),
        )

    def _select_entities(
        self, at: int, entities: Sequence[EntityMention], edges: Sequence[RelationCandidate]
    ) -> tuple[EntityMention, ...]:
        text = " ".join(u.text for u in self.exchanges[at].utterances).casefold()
        ends = {name for edge in edges for name in (edge.src, edge.dst)}
        alone = len(self.exchanges) == 1
        return tuple(e for e in entities if alone or e.name in ends or e.name.casefold() in text)

    def _match_exchange_replies(self, reply: ReadReply) -> dict[int, ExchangeReply]:
        """By place, what the reply says of each exchange as a whole."""
        names = {f"e{at + 1}": at for at in range(len(self.exchanges))}
        if len(reply.exchanges) == 1 == len(self.exchanges):
            return {0: reply.exchanges[0]}
        found = {names[e.exchange]: e for e in reversed(reply.exchanges) if e.exchange in names}
        self.rejected += len(reply.exchanges) - len(found)
        return found

    def _select_related(self, at: int, said: ExchangeReply | None) -> tuple[str, ...]:
        """Earlier messages only: what was not offered, or comes later, is dropped (J6)."""
        named = list(dict.fromkeys(said.related)) if said else []
        before = {handle for handle, place in self._place.items() if place < at}
        known = [handle for handle in named if handle in self.earlier or handle in before]
        self.rejected += len(named) - len(known)
        return tuple(known)[:MOST_WORDS]

    def _read_fact(
        self, reply: FactReply, change: ChangeReply | None, index: int
    ) -> FactCandidate | None:
        """`change`: what it does to what is held, where the model was shown that. A model that
        judges whole messages is held to their words by its quotation, and by nothing else."""
        if change is not None and change.do not in _CHANGES:
            return None
        source = self._find_source(reply)
        kind = _match_choice(FactKind, reply.kind)
        polarity = _match_choice(Polarity, reply.polarity)
        text = (reply.text.strip() or self._find_target_text(change))[:MOST_CHARACTERS]
        if not (source and kind and polarity and text) or _is_question_of(text, source):
            return None
        span, found = _locate_quote(source, reply.quote)
        told = source.text[span.start : span.end] if found and change is not None else ""
        if self._is_from_prompt(text, told):
            return None
        owner = self._find_owner(reply, change, source)
        missed = bool(reply.quote) and not found
        words = source.text[span.start : span.end]
        if not _may_claim(source, words, owner, kind):
            return None
        is_judged = change is not None and found
        if not found and is_part_of_prompt(self.instructions, reply.text):
            return None  # the model copied its own prompt
        changes = self._read_changes(change, index) if change and self._is_comparing else None
        withheld = ""
        corrects = reply.correction and found
        if not is_judged and not self._is_supported(
            source, span, owner, text, missed=missed, corrects=corrects
        ):
            ends = corrects or (found and polarity in ("denied", "ended"))
            wants = bool(changes) if change else ends and self._asserts_something(source, span)
            if not wants or source.role != "user":
                return None  # a person is asked only about what would change something held
            withheld = _NOT_SAID
        quote = words if found else ""
        key = key_from_words(reply.predicate)
        if not is_judged:
            key = choose_predicate(key, reply.verb, f"{text} {quote}")
        event = _parse_time_span(reply.first, reply.last, reply.when, source)
        if change is not None:
            until = _find_end(change, kind, event, source)
        else:
            until = _find_past_end(reply, kind, polarity, source)
        lasts = polarity == "holds" and kind not in ("event", "plan") and not reply.first
        if change is None and lasts and event and event.start > source.at:
            until = event.end
            event = None
        if change and change.state == "now" and not change.first:
            event = None  # when it will end says nothing of when it began
        return FactCandidate(
            text=text,
            owner=owner,
            speaker=source.speaker,
            pattern=_derive_pattern(reply),
            subject=reply.subject or owner,
            verb=reply.verb,
            object=reply.object,
            indirect_object=reply.second_object,
            complement=reply.complement,
            predicate_key=key,
            cardinality=_derive_cardinality(key, kind, change),
            kind=kind,
            polarity=polarity,
            event=event,
            until=until,
            confidence=reply.confidence if found else min(reply.confidence, _UNQUOTED_CONFIDENCE),
            correction=reply.correction and source.role == "user",
            sources=(span,),
            handle=self._name_claim(index),
            changes=changes,
            quoted=found and self._bears_claim(source, span, text, owner, key, change),
            withheld=withheld,
        )

    def _bears_claim(
        self,
        source: Utterance,
        span: SourceSpan,
        text: str,
        owner: str,
        key: str,
        change: ChangeReply | None,
    ) -> bool:
        """Whether the sentences that are quoted speak of the claim or of what it changes in the
        speaker's own words; where they point at what was said before, whether that does."""
        own = mask_passed_on(source.text) if source.role == "user" else source.text
        held = [self._held[t] for t in (change.targets if change else ()) if t in self._held]
        of_others = {owner, *(claim.owner for claim in held)}
        if len(of_others) == 1 and source.speaker not in of_others:
            own = mask_quoted_matter(source.text)  # who passes on what people say of themselves
        about = [text, *(f"{claim.text} {claim.predicate_key}" for claim in held)]
        names = {*self._speakers, self.exchanges[0].subject, *self.exchanges[0].aliases}
        said = " ".join(split_sentences(own, span.start, span.end))
        if bears_on(said, about, names, key) or tells_something(said):
            return True
        before = self._find_words_before(source, own[: span.start])
        return leans_on_context(said) and bears_on(before, about, names, key)

    def _find_words_before(self, source: Utterance, own: str) -> str:
        """The last sentence of what the message says before, or what was said last before it."""
        before = split_sentences(own)[-1:]
        if before:
            return before[0]
        said = list(self.offered.values())
        earlier = [*self.exchanges[0].history, *said[: said.index(source)]][-1:]
        return "".join(mask_passed_on(u.text) if u.role == "user" else u.text for u in earlier)

    def _find_target(self, change: ChangeReply | None) -> HeldClaim | None:
        """The first claim held that a change is about."""
        targets = change.targets if change else ()
        return next((self._held[target] for target in targets if target in self._held), None)

    def _find_target_text(self, change: ChangeReply | None) -> str:
        """The words of what is said again, or over: a model need not repeat them."""
        target = self._find_target(change) if change and change.do in _WORDLESS_CHANGES else None
        return target.text if target else ""

    def _find_owner(self, reply: FactReply, change: ChangeReply | None, source: Utterance) -> str:
        named = reply.owner.strip()
        if named.lower() not in _SELF_NAMES:
            return named
        target = self._find_target(change) if not reply.text.strip() else None
        if target is None and source.role == "assistant" and named.lower() in _USER_NAMES:
            return self.exchanges[0].subject or source.speaker
        return target.owner if target else source.speaker

    def _name_claim(self, index: int) -> str:
        """A handle for the claim of this number, as no other reply of the batch has one."""
        return f"{next(iter(self.offered))}#{index}"

    def _read_changes(self, change: ChangeReply, index: int) -> tuple[ClaimChange, ...]:
        """What it does to each claim that it may name: one held, or an earlier one of the reply."""
        op = _CHANGE_OPS.get(change.do) or ("deny" if not change.value else "contradict")
        if change.do == "add":
            return ()
        return tuple(ClaimChange(op, target) for target in self._find_claims(change, index))

    def _find_claims(self, change: ChangeReply, index: int) -> list[str]:
        """The handles of the claims that a change names: held ones, and earlier ones of the reply
        by their numbers."""
        before = {str(n + 1): self._name_claim(n) for n in range(index)}
        named = [before.get(target, target) for target in change.targets]
        known = [t for t in dict.fromkeys(named) if t in self._held or t in before.values()]
        self.rejected += len(change.targets) - len(known)
        return known

    def _is_supported(
        self,
        source: Utterance,
        span: SourceSpan,
        owner: str,
        text: str,
        *,
        missed: bool,
        corrects: bool,
    ) -> bool:
        """Whether the words it rests on say that something is so, and can be about this owner.

        Where it shares none with a message whose words it `missed`, that is not its source. Words
        that are found and put something right (`corrects`) repeat little of it: "154, not 145".
        """
        whole = (span.start, span.end) == (0, len(source.text))
        said = split_sentences(source.text, span.start, span.end)
        near = select_bearing_sentences(text, said, self._speakers) if whole else said
        if missed and not near and detect_language(source.text) != "other":
            return False
        basis = near or said
        if not has_assertion(basis, self._acts_said.get(source.handle)):
            return False
        if not corrects and self._is_from_other_speaker(source, " ".join(basis), text):
            return False
        clause = "" if whole else find_clause(source.text, span.start, span.end)
        return self._is_attributable(source, " ".join(basis), owner, text, clause)

    def _asserts_something(self, source: Utterance, span: SourceSpan) -> bool:
        said = split_sentences(source.text, span.start, span.end)
        return has_assertion(said, self._acts_said.get(source.handle))

    def _is_attributable(
        self, source: Utterance, basis: str, owner: str, text: str, clause: str
    ) -> bool:
        """Whether a claim rests on these words and no others, and they can be about its owner.
        `clause`: the one that is quoted, "" where none is."""
        exchange = self.exchanges[self._place[source.handle]]
        people = [*exchange.participants, exchange.subject, *self._speakers]
        if source.role != "user":
            return may_be_of_listener(owner, source, basis, text, people)
        if exchange.subject and source.speaker in PLACEHOLDERS:
            source = replace(source, speaker=exchange.subject)  # who has a name by now
        if exchange.subject and owner in (*exchange.aliases, *PLACEHOLDERS):
            owner = exchange.subject
        if tells_of_somebody_of_theirs(owner, source, basis, text, people):
            return False
        return not names_other_person(text, owner, people) and may_be_about(
            owner, source, basis, people, " ".join([self._heard, *exchange.names]), clause
        )

    def _is_from_other_speaker(self, source: Utterance, basis: str, text: str) -> bool:
        """Whether a claim is taken from what others say here or said before, or from a summary:
        these only help to understand what is meant."""
        said = [*self._earlier, *self.offered.values()]
        own = [u.text for u in said if u.speaker == source.speaker and u is not source]
        others = [u.text for u in said if u.speaker != source.speaker]
        return not takes_what_was_offered(basis) and is_from_other_speaker(
            text, basis, [*others, *self._summaries], self._speakers, own
        )

    def _is_from_prompt(self, text: str, told: str) -> bool:
        """Whether a "fact" is a piece of the instructions, said by nobody (spec §5.4 M8). The words
        `told` that it quotes may say what an example there says."""
        if extract_word_beginnings(text) & extract_word_beginnings(told):
            return False
        plain = normalise_text(text).rstrip(".!。！")
        said = any(plain in normalise_text(u.text) for u in self.offered.values())
        return (
            len(plain) >= MIN_PROMPT_PIECE
            and plain in normalise_instructions(self.instructions)
            and not said
        )

    def _find_source(self, reply: FactReply) -> Utterance | None:
        """The utterance that says it, which is not always the one the reply names.

        Without a quotation to be found, the one that shares most words with the fact: a model
        that takes the assistant's words for the person's names the person's message. So too where
        a person's message is named and the reply to it is quoted.
        """
        named = self.offered.get(reply.source)
        if named is None or _locate_quote(named, reply.quote)[1]:
            return named
        mine = self.exchanges[self._place[named.handle]].utterances if named else []
        others = [u for u in mine if u is not named]
        quoted = [u for u in others if _locate_quote(u, reply.quote)[1]][:1]
        if quoted and (quoted[0].role == "user" or named.role != "user"):
            return quoted[0]
        told = extract_word_beginnings(reply.text)
        likely = [*quoted, named] if quoted else [named, *others]
        return max(likely, key=lambda u: len(told & extract_word_beginnings(u.text)))

    def _read_entities(self, reply: ReadReply) -> tuple[EntityMention, ...]:
        """By name once each; whoever is called "I" is the subject (spec §6.2)."""
        known: dict[str, EntityMention] = {}
        dropped = 0
        for each in reply.entities:
            name, kind = self._resolve_name(each.name), each.type.strip().lower()
            if not name or kind not in _ENTITY_TYPES:
                dropped += 1
                continue
            aliases = tuple(a.strip()[:200] for a in each.aliases if a.strip() and a != name)
            known.setdefault(name, EntityMention(name, kind, aliases[:5]))
        self.rejected += dropped
        return tuple(known.values())[: MOST_MENTIONS * len(self.exchanges)]

    def _resolve_name(self, name: str) -> str:
        plain = name.strip()[:200]
        return self.exchanges[0].subject if plain.lower() in _SELF_NAMES and plain else plain

    def _read_relations(
        self,
        reply: ReadReply,
        entities: Sequence[EntityMention],
        kept: Mapping[int, FactCandidate],
    ) -> list[tuple[int, RelationCandidate]]:
        """With the number of their fact; both ends are among the entities (GR6)."""
        names = {entity.name for entity in entities}
        known = []
        for each in reply.relations:
            src, dst = self._resolve_name(each.source), self._resolve_name(each.target)
            if {src, dst} <= names and src != dst and each.label and each.fact in kept:
                known.append((each.fact, RelationCandidate(src, each.label, dst, 0)))
        self.rejected += len(reply.relations) - len(known)
        return list(dict.fromkeys(known))[: MOST_MENTIONS * len(self.exchanges)]

    def _read_acts(self, reply: ReadReply) -> dict[str, SpeechAct]:
        acts: dict[str, SpeechAct] = {}
        for each in reply.speech_acts:
            act = _match_choice(SpeechAct, each.act)
            if act and each.handle in self.offered:
                acts[each.handle] = act
            else:
                self.rejected += 1
        return acts


def _may_claim(source: Utterance, words: str, owner: str, kind: str) -> bool:
    """People speak of anyone; an assistant recommends, and speaks of itself in `words` that are no
    courtesy, question or remark in general; others say nothing."""
    if source.role == "user":
        return True
    if source.role != "assistant" or not (owner == source.speaker or kind == "recommendation"):
        return False
    return kind == "recommendation" or speaks_of_oneself(words)


def _locate_quote(source: Utterance, quote: str) -> tuple[SourceSpan, bool]:
    """Where the words stand, whatever the case, the white space and the shape of apostrophes."""
    words = [re.escape(word) for word in _plain_marks(quote).split()]
    found = re.search(r"\s+".join(words), _plain_marks(source.text), re.I) if words else None
    if found is None:
        return SourceSpan(source.handle, 0, len(source.text)), False
    return SourceSpan(source.handle, found.start(), found.end()), True


def _plain_marks(text: str) -> str:
    """Of the same length."""
    return text.translate(_PLAIN_MARKS)


def _derive_cardinality(key: str, kind: FactKind, change: ChangeReply | None) -> Cardinality | None:
    """What the model says of the relation, if it does; else the table; None where that has nothing
    of it either.

    A small model hangs events and wishes on whatever predicate it was shown ("works_as" for a
    race run), and each would push out the one before. Only a state has one value at a time (a
    favourite is one), and a move, which is an event that makes one.
    """
    states = kind in ("state", "attribute", "preference") or (
        kind == "event" and key in _PREDICATES_SET_BY_EVENTS
    )
    one = change.one_at_a_time if change else None
    if states and one is None and key and not (is_single_valued(key) or is_many_valued(key)):
        return None
    single = is_single_valued(key) if one is None else one
    return "single" if states and single else "multi"


def _find_end(
    change: ChangeReply, kind: FactKind, event: TimeSpan | None, source: Utterance
) -> datetime | None:
    """Until when a state told as over was so, at the latest until it was told; until when one that
    holds is to last, which is later."""
    if kind != "state" or change.do in ("end", "wrong"):
        return None
    if change.state == "now" and change.first != change.last:
        last = _parse_unit(change.last, source.at)
        return last.end if last and last.end > source.at else None
    if change.state != "past":
        return None
    return min(event.end, source.at) if event and change.last else source.at


_LONGER_THAN_WHEN = timedelta(days=31)  # what "last week" or "in May" spans says when, no more


def _find_past_end(
    reply: FactReply, kind: FactKind, polarity: Polarity, source: Utterance
) -> datetime | None:
    """Until when a state was so of which a model says no more than its dates: "until about 2022",
    "from 2012 to 2016". Two dates near one another may be all one knows of when it began."""
    last = _parse_unit(reply.last, source.at)
    if last is None or kind != "state" or polarity != "holds" or last.end > source.at:
        return None
    first = _parse_unit(reply.first, source.at)
    spans = first is None or last.start - first.start > _LONGER_THAN_WHEN
    return last.end if spans else None


def _derive_pattern(reply: FactReply) -> ClausePattern:
    if reply.object:
        return "SVOO" if reply.second_object else "SVOC" if reply.complement else "SVO"
    return "SVC" if reply.complement else "SV"


def _collect_times(facts: Iterable[FactCandidate]) -> dict[str, tuple[TimeSpan, ...]]:
    times: dict[str, dict[TimeSpan, None]] = defaultdict(dict)
    for fact in facts:
        if fact.event and fact.event.text:
            times[fact.sources[0].handle][fact.event] = None
    return {handle: tuple(spans) for handle, spans in times.items()}


def _build_note_draft(said: ExchangeReply | None) -> NoteDraft | None:
    if said is None or not (said.keywords or said.context):
        return None
    context = said.context.strip()[:MOST_CHARACTERS]
    return NoteDraft(clean_words(said.keywords), clean_words(said.tags), context)


def _match_choice(choices: Any, value: str) -> Any:
    """`value` when the Literal has it, else None: never the nearest guess."""
    plain = value.strip().lower()
    return plain if plain in get_args(choices) else None


# ISO dates as intervals: the words of a model, the arithmetic of code.


_ISO_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})\S*)?)?)?"
)


def _is_question_of(text: str, source: Utterance) -> bool:
    """Whether a claim is only what its message asks, copied: that says nothing."""
    return text.endswith(("?", "？")) and normalise_text(text) in normalise_text(source.text)


def _parse_time_span(first: str, last: str, words: str, utterance: Utterance) -> TimeSpan | None:
    """From the start of `first` to the end of `last`, or either alone, in the utterance's zone.

    None when `first` is no date, or only repeats the minute of the message, which small
    models fill in where no time is said. `words` are kept where the utterance really has them.
    """
    start = _parse_unit(first or last, utterance.at)
    if start is None or start == resolve_unit("minute", utterance.at):
        return None
    end = _parse_unit(last, utterance.at) or start
    if end.end <= start.start:
        end = start
    at = utterance.text.find(words) if words else -1
    text, at = (words, at) if at >= 0 else ("", 0)
    week = start.granularity == "day" and 2 < (end.end - start.start).days <= 7
    return TimeSpan(start.start, end.end, "week" if week else start.granularity, text, at)


def _parse_unit(iso: str, at: datetime) -> DateRange | None:
    match = _ISO_DATE.fullmatch(iso.strip())
    if match is None:
        return None
    given = {name: int(value) for name, value in match.groupdict().items() if value}
    unit = list(given)[-1]
    try:
        return resolve_unit(unit, at.replace(**({"month": 1, "day": 1} | given)))  # type: ignore[arg-type]  # ints by name
    except (ValueError, OverflowError):
        return None
