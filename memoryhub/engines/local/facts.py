"""Facts of an utterance: its asserting clauses as self-contained sentences (spec §7.1, E25-E27).

What cannot be told without guessing is left out: a clause about "it" or "they" is attached
to the clause before it or dropped, for the raw turn stays searchable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spacy.tokens import Span, Token

from memoryhub.engines.local import content
from memoryhub.engines.local.calendar import WEEKDAYS
from memoryhub.engines.local.clauses import (
    Clause,
    Slots,
    clauses_of,
    inner_clauses_of,
    slots_of,
    tokens_of,
    trimmed,
)
from memoryhub.engines.local.people import antecedent
from memoryhub.engines.local.polarity import (
    is_event,
    is_negated,
    is_particle,
    kind_of,
    negations,
    polarity_of,
)
from memoryhub.engines.local.predicates import Predicate, Reading, classify, habit, is_single
from memoryhub.engines.local.speech import act_of, end_of_small_talk, is_correction
from memoryhub.engines.local.subjects import Subject, subject_of_clause
from memoryhub.engines.local.turns import Turn
from memoryhub.engines.local.values import with_value
from memoryhub.engines.local.verbs import LIKING
from memoryhub.engines.local.wording import Voice, reworded, sentence
from memoryhub.engines.types import FactCandidate, SourceSpan, SpeechAct, TimeSpan

_MOST = 20  # facts of one utterance at most (spec §16)
_TRUST = {"speaker": 0.9, "we": 0.8, "person": 0.8, "thing": 0.7}
_TRUST_OF_ASSISTANT = 0.5
_POINTING = frozenset({"this", "that", "these", "those"})


@dataclass(slots=True)
class _Draft:
    """A clause on its way to a fact."""

    turn: Turn
    offset: int
    clause: Clause
    subject: Subject
    slots: Slots
    tokens: list[Token]
    voice: Voice
    core: list[Token] = field(default_factory=list)


def facts_of(turn: Turn) -> tuple[list[FactCandidate], list[SpeechAct]]:
    """The facts of a turn in order, and the speech act of each of its sentences."""
    facts: list[FactCandidate] = []
    acts: list[SpeechAct] = []
    for offset, span in turn.sentences():
        act, known = act_of(span), len(facts)
        if act in ("assertion", "chitchat") and not content.is_quoted(span):
            _read_sentence(turn, offset, span, facts)
        acts.append("assertion" if len(facts) > known else act)
    return facts[:_MOST], acts


def _read_sentence(turn: Turn, offset: int, span: Span, facts: list[FactCandidate]) -> None:
    clauses = clauses_of(span)
    heads = {clause.head.i for clause in clauses}
    before: FactCandidate | None = None
    sober = span.start_char + end_of_small_talk(span.text)
    for clause in clauses:
        opens = min(t.idx for t in (clause.head, clause.subject or clause.head))
        told = opens >= sober
        fact = (
            _fact(turn, offset, clause, heads, _antecedent(turn, clause, facts)) if told else None
        )
        if fact is not None:
            before = fact
            facts.append(fact)
        elif before is not None and clause.head.dep_ == "conj":
            facts[-1] = before = _attached(before, turn, offset, clause, heads)
        else:
            facts.extend(_inner_facts(turn, offset, clause, heads, facts))


def _inner_facts(
    turn: Turn, offset: int, clause: Clause, heads: set[int], known: Sequence[FactCandidate]
) -> list[FactCandidate]:
    told = {fact.text for fact in known}
    sides = (c for c in inner_clauses_of(clause) if c.head.i not in heads)
    inner = (_fact(turn, offset, c, heads, "") for c in sides)
    return list({f.text: f for f in inner if f and f.text not in told}.values())


def _antecedent(turn: Turn, clause: Clause, facts: Sequence[FactCandidate]) -> str:
    subject = clause.subject
    if subject is None or subject.lower_ not in ("he", "she"):
        return ""
    owners = (fact.owner for fact in facts)
    before = (piece.doc for piece in turn.before)
    return antecedent(subject.doc[: subject.i], owners, before, turn.scene)


def _fact(
    turn: Turn, offset: int, clause: Clause, heads: set[int], known: str
) -> FactCandidate | None:
    subject = subject_of_clause(clause, turn.scene, known)
    if subject is None or subject.who == "pronoun" or content.is_empty(clause):
        return None
    if content.is_in_quotes(clause.head):
        return None
    draft = _draft(turn, offset, clause, subject, heads)
    found = _finished(draft) if draft and _is_worth_it(draft) else None
    return (
        found if found and (turn.utterance.role == "user" or _is_of_itself(found, clause)) else None
    )


def _is_of_itself(fact: FactCandidate, clause: Clause) -> bool:
    """What an assistant says of itself counts, but not what it does or will do for somebody."""
    own = clause.subject is not None and clause.subject.lower_ == "i"
    return own and fact.polarity == "holds" and fact.kind != "event"


def _draft(
    turn: Turn, offset: int, clause: Clause, subject: Subject, heads: set[int]
) -> _Draft | None:
    slots = slots_of(clause)
    heads = heads - {clause.head.i}
    tokens = tokens_of(clause, heads, turn.scene.first_names())
    tokens = [t for t in tokens if not content.is_echoing(t, clause)]
    own = [t for t in (slots.preposition, slots.object, slots.second, slots.complement) if t]
    core = [*clause.chain, *own, *([subject.token] if subject.token else [])]
    free = [t for t in tokens if subject.token is None or t.i != subject.token.i]
    kept = content.without_pointing(free, core)
    if kept is None:
        return None
    chosen = {t.i for t in kept} | ({subject.token.i} if subject.token else set())
    named = [t for t in tokens if t.i in chosen]
    tokens = trimmed(content.past_colon(content.shortened(named, core), clause))
    if not tokens or _asks(tokens[0]) or content.is_addressed(tokens, clause):
        return None
    voice = Voice(
        turn.scene, subject.who in ("speaker", "we"), _referents(subject) | _articles(clause)
    )
    return _Draft(turn, offset, clause, subject, slots, tokens, voice, core)


def _asks(first: Token) -> bool:
    """An indirect question: "why I left" states no fact."""
    return first.tag_ in ("WP", "WDT") or first.lower_ in ("why", "how", "where")


def _referents(subject: Subject) -> dict[int, str]:
    token = subject.token
    known = token is not None and token.lower_ in ("he", "she")
    return {token.i: subject.owner} if token is not None and known else {}


def _articles(clause: Clause) -> dict[int, str]:
    """ "This book I read" told as "I read a book"."""
    if clause.fronted is None:
        return {}
    pointing = [c for c in clause.fronted.lefts if c.lower_ in _POINTING]
    article = "an" if clause.fronted.lower_[0] in "aeiou" else "a"
    return {c.i: article if c.lower_ in ("this", "that") else "some" for c in pointing}


def _is_worth_it(draft: _Draft) -> bool:
    names = draft.turn.scene.first_names()
    inside = _subject_positions(draft)
    rest = [t for t in draft.tokens if t.i not in inside and t not in draft.clause.chain]
    if draft.subject.who == "thing" and not _is_personal(draft):
        return bool(_predicate(draft).key)
    fronted = draft.clause.fronted
    if fronted is not None and not content.names_something(fronted):
        return False
    if content.is_specific(rest, names) or _predicate(draft).key:
        return True
    likes = len(draft.clause.chain) > 1 and draft.clause.head.lemma_.lower() in LIKING
    open_to_doubt = not (_event(draft) or likes or is_negated(draft.clause))
    return content.is_strong(draft.clause) and not open_to_doubt


def _subject_positions(draft: _Draft) -> set[int]:
    token = draft.subject.token
    return {t.i for t in token.subtree} if token is not None else set()


def _is_personal(draft: _Draft) -> bool:
    """A thing counts when the clause ties it to the speaker."""
    return any(t.lower_ in ("my", "our", "me", "us") for t in draft.tokens)


def _finished(draft: _Draft) -> FactCandidate:
    turn, clause, slots = draft.turn, draft.clause, draft.slots
    event, found = _event(draft), _predicate(draft)
    polarity = polarity_of(clause, event, turn.utterance.at)
    if not found.key and (not is_event(clause) or polarity == "ended"):
        found = habit(_reading(draft), tuple(v.lemma_.lower() for v in clause.chain))
    value = found.value or (event.text if event and found.key.startswith("scheduled_") else "")
    fact = FactCandidate(
        text=_text(draft),
        owner=_owner(draft),
        speaker=turn.utterance.speaker,
        pattern=slots.pattern,
        s=_subject_words(draft),
        v=_verb_words(draft),
        o=_phrase(draft, slots.object),
        o2=_phrase(draft, slots.second),
        c=_phrase(draft, slots.complement),
        predicate_key=found.key,
        cardinality="single" if is_single(found.key) else "multi",
        kind=kind_of(clause, polarity, found.key),
        polarity=polarity,
        event=None if _is_put_right(draft, event) else event,
        confidence=_confidence(draft),
        correction=is_correction(clause.head.sent.text),
        sources=(_source(draft),),
    )
    return with_value(fact, value)


def _is_put_right(draft: _Draft, event: TimeSpan | None) -> bool:
    """A weekday put right belongs to the day it was first told on, which is not known here."""
    past = event is not None and event.end <= draft.turn.utterance.at
    named = event is not None and event.text.lower().startswith(tuple(WEEKDAYS))
    return past and named and is_correction(draft.clause.head.sent.text)


def _owner(draft: _Draft) -> str:
    return draft.subject.owner or draft.turn.utterance.speaker


def _confidence(draft: _Draft) -> float:
    trust = _TRUST[draft.subject.who] - (0.1 if draft.subject.token is None else 0)
    return min(trust, _TRUST_OF_ASSISTANT) if draft.turn.utterance.role != "user" else trust


def _text(draft: _Draft) -> str:
    words = reworded(draft.tokens, draft.voice)
    if not _has_own_subject(draft):
        words = _lowered(words, draft.tokens[0])
        words = f"{_subject_words(draft)} {_auxiliary(draft)}{words}"
    return sentence(words)


def _lowered(words: str, first: Token) -> str:
    return words if first.pos_ == "PROPN" or first.lower_ == "i" else words[:1].lower() + words[1:]


def _has_own_subject(draft: _Draft) -> bool:
    return draft.subject.token is not None and any(t == draft.subject.token for t in draft.tokens)


def _auxiliary(draft: _Draft) -> str:
    """What a speaker leaves out before a participle: "Been to Oslo" → "has been"."""
    head = draft.clause.head
    opening = {head.lower_, *(t.lower_ for t in head.lefts if t.dep_ in ("aux", "auxpass"))}
    if draft.subject.token is not None or opening & {"have", "'ve", "has"}:
        return ""
    if "been" in opening:
        return "has "
    return "is " if "gon" in opening or (head.tag_ == "VBG" and len(opening) == 1) else ""


def _subject_words(draft: _Draft) -> str:
    token = draft.subject.token
    if token is None:
        return draft.turn.scene.speaker
    subtree = [t for t in token.subtree if t.dep_ not in ("relcl", "appos", "punct")]
    inside = {t.i for t in token.subtree if t.dep_ in ("relcl", "appos")}
    short = [t for t in subtree if not inside & {a.i for a in t.ancestors}]
    return reworded(short, replace(draft.voice, by_speaker=False))


def _verb_words(draft: _Draft) -> str:
    verbs = set(draft.clause.chain)
    near = {c for v in verbs for c in v.children if c.dep_ in ("aux", "auxpass", "prt")}
    near |= {c for v in verbs for c in negations(v)}
    extra = {draft.slots.preposition} if draft.slots.preposition else set()
    chosen = sorted((verbs | near | extra) & set(draft.tokens), key=lambda t: t.i)
    words = reworded(chosen, draft.voice)
    return _auxiliary(draft) + (_lowered(words, chosen[0]) if chosen else "")


def _phrase(draft: _Draft, head: Token | None) -> str:
    if head is None:
        return ""
    inside = _positions(head, draft.slots)
    words = reworded([t for t in draft.tokens if t.i in inside], draft.voice)
    return re.split(r",? not ", words)[0].strip(" ,")


def _positions(head: Token, slots: Slots) -> set[int]:
    """Where the phrase of a slot stands, without side clauses."""
    whole = slots.complement
    if slots.object is not None and whole is not None and slots.object.head == whole:
        # The parser took "our dog Rex" for one phrase.
        return {whole.i} if head == whole else {t.i for c in whole.lefts for t in c.subtree}
    side = {t.i for c in head.children if _is_aside(c) for t in c.subtree}
    return {t.i for t in head.subtree} - side


def _is_aside(token: Token) -> bool:
    """Not of the phrase itself: a side clause, or what follows its comma ("Porto, by the sea")."""
    if token.dep_ == "punct":
        return token.text not in "-–"
    before = token.doc[token.left_edge.i - 1].text if token.left_edge.i else ""
    trails = token.i > token.head.i and before == "," and token.dep_ not in ("conj", "cc", "neg")
    return trails or token.dep_ in ("relcl", "advcl")


def _predicate(draft: _Draft) -> Predicate:
    return classify(_reading(draft))


def _reading(draft: _Draft) -> Reading:
    slots, main = draft.slots, draft.clause.main
    thing = slots.object
    number = next((c.text for c in thing.children if c.dep_ == "nummod"), "") if thing else ""
    particle = "".join(f" {c.lower_}" for c in main.children if is_particle(c))
    return Reading(
        verb=main.lemma_.lower() + particle,
        preposition=slots.preposition.lower_ if slots.preposition else "",
        object=thing.lemma_.lower() if thing else "",
        phrase=_phrase(draft, thing),
        complement=_phrase(draft, slots.complement),
        topic=draft.subject.topic if draft.subject.who == "thing" else "",
        number=number,
        timed=_event(draft) is not None,
        place=thing is not None
        and (thing.pos_ == "PROPN" or thing.ent_type_ in ("GPE", "LOC", "ORG")),
    )


def _source(draft: _Draft) -> SourceSpan:
    first, last = min(draft.tokens, key=_place), max(draft.tokens, key=_place)
    start, end = first.idx + draft.offset, last.idx + len(last) + draft.offset
    return SourceSpan(draft.turn.utterance.handle, start, end)


def _place(token: Token) -> int:
    return token.i


def _event(draft: _Draft) -> TimeSpan | None:
    """The time in the clause, else the only one of its sentence if that stands before it."""
    source = _source(draft)
    inside = [t for t in draft.turn.times if source.start <= t.at < source.end]
    if inside:
        return inside[0]
    span = draft.clause.head.sent
    start, end = span.start_char + draft.offset, span.end_char + draft.offset
    near = [t for t in draft.turn.times if start <= t.at < end]
    alone = len(near) == 1 and near[0].at < source.start
    return near[0] if alone and not _goes_on(draft, near[0]) else None


def _goes_on(draft: _Draft, time: TimeSpan) -> bool:
    """A present state beside a past time is not of that time: "… yesterday, and it hurts"."""
    now = draft.clause.head.tag_ in ("VBP", "VBZ") and not is_event(draft.clause)
    return now and time.start <= draft.turn.utterance.at


def _attached(
    fact: FactCandidate, turn: Turn, offset: int, clause: Clause, heads: set[int]
) -> FactCandidate:
    """The fact with a coordinate clause about "it" told along with it."""
    if clause.subject is None or clause.subject.lower_ not in ("it", "that", "they", "he", "she"):
        return fact
    tokens = tokens_of(clause, heads - {clause.head.i}, turn.scene.first_names())
    if not tokens or len(tokens) > 12 or content.is_empty(clause):
        return fact
    words = reworded(tokens, Voice(turn.scene))
    end = tokens[-1].idx + len(tokens[-1]) + offset
    source = replace(fact.sources[0], end=max(end, fact.sources[0].end))
    return replace(fact, text=sentence(f"{fact.text[:-1]}, and {words}"), sources=(source,))
