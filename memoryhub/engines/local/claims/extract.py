"""Facts of an utterance: its asserting clauses as self-contained sentences (spec §7.1, E25-E27).

What cannot be told without guessing is left out: a clause about "it" or "they" is attached
to the clause before it or dropped, for the raw turn stays searchable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from memoryhub.engines.local.attribution.own_names import find_introduced_name
from memoryhub.engines.local.claims import salience
from memoryhub.engines.local.claims.fragments import quote_answer, read_fragments, read_whole
from memoryhub.engines.local.claims.introductions import read_introductions
from memoryhub.engines.local.claims.predicates import (
    HOME_AND_JOB,
    OWNED_THINGS,
    ClauseReading,
    Predicate,
    classify_habit,
    classify_predicate,
    is_beside_another,
    is_single_valued,
)
from memoryhub.engines.local.claims.values import set_value
from memoryhub.engines.local.claims.whereabouts import (
    find_clause_lemma,
    find_home,
    find_place_meant,
    is_by_now,
    is_passing,
    is_place,
)
from memoryhub.engines.local.dates.calendar import WEEKDAYS
from memoryhub.engines.local.dates.past import find_stated_end, tells_bound, widen_range
from memoryhub.engines.local.grammar.antecedents import (
    find_antecedent,
    find_place_spoken_of,
    find_relatives,
    find_thing,
    list_things_said,
)
from memoryhub.engines.local.grammar.clauses import (
    Clause,
    ClauseSlots,
    build_clause,
    collect_tokens,
    extract_clauses,
    extract_inner_clauses,
    extract_told_asides,
    fill_slots,
    has_own_subject,
    trim_tokens,
)
from memoryhub.engines.local.grammar.polarity import (
    derive_kind,
    derive_polarity,
    find_negations,
    is_event,
    is_negated,
    is_only_near,
    is_particle,
)
from memoryhub.engines.local.grammar.rewrite import Voice, format_sentence, rewrite_tokens
from memoryhub.engines.local.grammar.scene import ParsedTurn, Scene, format_possessive
from memoryhub.engines.local.grammar.speech import (
    classify_act,
    find_small_talk_end,
    is_correction,
    is_order,
    is_stated,
)
from memoryhub.engines.local.grammar.subjects import (
    Subject,
    find_subject,
    is_own,
    is_person_noun,
)
from memoryhub.engines.local.grammar.verbs import (
    ACTIVITY_VERBS,
    LIFE_VERBS,
    LIKING_VERBS,
    TOLD_VERBS,
    is_dictionary_noun,
    is_past_form,
)
from memoryhub.engines.local.wordlists import EVENTS, split_words
from memoryhub.engines.types import FactCandidate, Polarity, SourceSpan, SpeechAct, TimeSpan

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MAX_FACTS = 20  # facts of one utterance at most (spec §16)
_CONFIDENCE_BY_SUBJECT = {"speaker": 0.9, "we": 0.8, "person": 0.8, "thing": 0.7}
_ASSISTANT_CONFIDENCE = 0.5
_POINTING_WORDS = frozenset({"this", "that", "these", "those"})
# What stands for a thing told of before, and whether for several.
_THINGS_POINTED_AT = {
    "it": False,
    "this": False,
    "that": False,
    "one": False,
    "them": True,
    "they": True,
    "em": True,
    "'em": True,
}
# "We've split up. The bill, I mean!": what was said just before was a joke on words.
_MEANT_OTHERWISE = re.compile(r"\w,? (?:i|we) mean\W*$", re.I)
_AGE = re.compile(r"(?:aged )?[\w-]+ (?:years?|months?|weeks?) old\.?|aged \w+", re.I)
_DUE = re.compile(r"[Dd]ue (?:in|on|at|any|next|the|early|late|mid|\d|[A-Z])")
_TELLING_ACTS = ("assertion", "chitchat", "question", "request")
_DICTATING = frozenset({"say", "mention", "add", "put", "note"})
_DICTATED_TO = split_words("you it letter email e-mail message note text card post")
_OVER = frozenset({"stop", "cancel", "finish", "close", "discontinue", "end"})
_LASTING_VERBS = frozenset({"live", "reside", "work", "be", "stay", "rent"})
_PLACES = frozenset({"nsubj", "nsubjpass", "dobj", "pobj"})


@dataclass(slots=True)
class _ClauseDraft:
    """A clause on its way to a fact."""

    turn: ParsedTurn
    offset: int
    clause: Clause
    subject: Subject
    slots: ClauseSlots
    tokens: list[Token]
    voice: Voice
    core: list[Token] = field(default_factory=list)


def extract_facts(
    turn: ParsedTurn, completed: Collection[tuple[str, int]] = ()
) -> tuple[list[FactCandidate], list[SpeechAct]]:
    """The facts of a turn in order, and the speech act of each of its sentences.

    `completed`: handles and first characters of the answers that were told as sentences before.
    """
    facts: list[FactCandidate] = []
    acts: list[SpeechAct] = []
    reader, last = _TurnReader(turn, facts), 0
    for offset, span in turn.iter_sentences():
        act, known = classify_act(span), len(facts)
        if _MEANT_OTHERWISE.search(span.text):
            facts[:] = facts[:last]
            act, known = "hypothetical", last
        last = len(facts)
        told = (turn.utterance.handle, offset + span.start_char) in completed
        if act in _TELLING_ACTS and not told and not salience.is_quoted(span):
            reader.read_sentence(offset, span, act)
        reader.first = False
        reader.earlier.insert(0, span)
        acts.append("assertion" if told or len(facts) > known else act)
        if turn.utterance.role == "user" and not salience.is_quoted(span):
            for fact in read_introductions(turn, offset, span):
                reader.introduced.add(fact.text)
                reader.keep(fact)
    return facts[:_MAX_FACTS], acts


class _TurnReader:
    """The sentences of a turn one after the other: `facts` so far, `earlier` sentences, the
    nearest first."""

    def __init__(self, turn: ParsedTurn, facts: list[FactCandidate]) -> None:
        self.turn, self.facts = turn, facts
        self.earlier = list(list_things_said(p.doc for p in turn.before))
        self.told = set[str]()
        self.introduced = set[str]()  # texts that say who somebody is and nothing more
        self.called = dict[str, bool]()  # whether somebody was told of as "she", by their names
        self.known_things = set[int]()  # where the sentence has an "it" that is known
        self.first = True  # the sentence that may answer a question
        self.apart = False  # whether something else was spoken of since the last fact

    def read_sentence(self, offset: int, span: Span, act: SpeechAct) -> None:
        clauses = extract_clauses(span)
        heads = {clause.head.i for clause in clauses}
        sober = span.start_char + find_small_talk_end(span.text)
        left = {token.i for token in span}  # what nothing was made of yet
        before: FactCandidate | None = None
        told_before, read = [*self.facts], False
        meant = dict[int, str]()  # what the pronouns of the sentence stand for
        self.known_things.clear()
        for clause in clauses:
            own = _collect_told(clause, heads, frozenset())
            spent = {t.i for t in [*own, *(clause.subject.subtree if clause.subject else [])]}
            known = self._find_referents(clause, own)
            meant |= known
            if clause.subject is not None and clause.subject.i in meant:
                known[clause.subject.i] = meant[clause.subject.i]  # "she's a nurse, works nights"
            last = self.facts[-1] if self.facts else None
            first = min(clause.head.idx, (clause.subject or clause.head).idx)
            chat = first < sober and not set(known) & spent
            wants_help = self.turn.scene.assisted and salience.asks_for_help(clause)
            unsaid = is_order(clause) or salience.is_report(clause) or _is_turned(clause)
            if unsaid or wants_help:
                asked = clause.subject is None or clause.subject.lower_ in _DICTATED_TO
                wanted = asked and self.turn.scene.assisted and clause.head.lemma_ in _DICTATING
                wanted = wanted or salience.is_diagnosis(clause)
                made = self._read_dictated(offset, clause, heads) if wanted else []
            elif chat or _is_refused(clause, own, act, alone=len(clauses) == 1):
                made = self._read_inner(offset, clause, heads)
            elif before and clause.head.dep_ == "conj" and _is_about_it(clause):
                made = self._attach(before, offset, clause, heads)
            else:
                built = self._build_facts(offset, clause, heads, known)
                made = built or self._read_inner(offset, clause, heads)
                before = built[-1] if built else before
                if not made and self._may_attach(clause, own, before, known):
                    made = self._attach(self.facts[-1], offset, clause, heads)
                elif not made and self._turns_back(clause, before):
                    self._attach(self.facts[-1], offset, clause, heads)
                    continue
                inside = {t.i for t in clause.subject.subtree} if clause.subject else set()
                beside = [t for t in own if t.i not in inside]
                if not made and (self.first or salience.is_specific(beside, frozenset())):
                    continue  # its words are told as they are
            left -= spent
            named = clause.subject is not None and clause.subject.pos_ in ("NOUN", "PROPN")
            attached = last is not None and self.facts[-1] is not last
            self.apart = named and not made and not attached
            read = read or bool(made)
            for each in made:
                self.keep(each)
        for clause, noun in extract_told_asides(span):
            told_of = find_subject(replace(clause, subject=noun), self.turn.scene, {})
            if told_of is not None and told_of.who == "person":
                known = {clause.subject.i: told_of.owner} if clause.subject else {}
                if fact := self._build_fact(offset, clause, heads, known):
                    self.keep(fact)
        if act in ("assertion", "chitchat"):
            rest = [t for t in span if t.i in left]
            found = [self._tell_of_whom(each) for each in read_fragments(self.turn, offset, rest)]
            if self.first and not self.facts:
                found = quote_answer(self.turn, offset, span, rest) or found
            if not (found or read) and self.facts == told_before:
                found = read_whole(self.turn, offset, span)
            for fact in found:
                self.keep(fact)

    def _may_attach(
        self,
        clause: Clause,
        own: Sequence[Token],
        before: FactCandidate | None,
        known: Mapping[int, str],
    ) -> bool:
        """Whether a clause that can't be told alone goes with what was told last."""
        if not self.facts or self.apart or not _points_back(clause, known):
            return False
        if self.facts[-1].text in self.introduced:
            return False
        if before is not None and clause.head.dep_ == "conj":
            return True
        valued = bool(self.facts[-1].predicate_key)  # its text is to stay what it is
        return self.turn.scene.assisted and not valued and salience.is_specific(own, frozenset())

    def _turns_back(self, clause: Clause, before: FactCandidate | None) -> bool:
        """Whether "but" opens it: what was told just before is not to be read without "but I said
        no", "but he turned it down"."""
        told = before is not None and bool(self.facts) and self.facts[-1] is before
        return _opens_with_but(clause) and told and not self.facts[-1].predicate_key

    def _attach(
        self, fact: FactCandidate, offset: int, clause: Clause, heads: set[int]
    ) -> list[FactCandidate]:
        """Puts the clause to the last fact; nothing is left to keep then."""
        told = _attach_clause(fact, self.turn, offset, clause, heads)
        self.facts[-1] = told
        return []

    def keep(self, fact: FactCandidate) -> None:
        own_name = set(fact.subject.casefold().split())
        called = set(fact.complement.casefold().split())
        says_nothing = bool(called) and called <= own_name  # "Marcus Webb is Marcus"
        if fact.complement and fact.subject == self.turn.scene.speaker:
            # "Hi, I'm Ana Ferreira": who speaks is called so, and nothing else is told.
            says_nothing = says_nothing or fact.complement == self._introduced_name
        # Whose successor "the new one" is has been read, or nobody knows.
        says_nothing = says_nothing or fact.subject.casefold().endswith("new one")
        if fact.text not in self.told and not says_nothing:
            self.told.add(fact.text)
            self.facts.append(fact)

    @cached_property
    def _introduced_name(self) -> str:
        return find_introduced_name(self.turn.utterance.text)

    def _tell_of_whom(self, fact: FactCandidate) -> FactCandidate:
        """ "Admiral died Tuesday. Thirteen years old.", "My sister's pregnant! Due in May.": of
        whom was spoken just before."""
        last = self.facts[-1].owner if self.facts else fact.owner
        due = _DUE.match(fact.complement) is not None
        if last == fact.owner or not (due or _AGE.fullmatch(fact.complement)):
            return fact
        told = fact.complement[:1].lower() + fact.complement[1:]
        told = format_sentence(f"{last} is {told}" if due else f"{last}: {told}")
        return replace(fact, text=told, owner=last, subject=last)

    def _read_inner(self, offset: int, clause: Clause, heads: set[int]) -> list[FactCandidate]:
        sides = (c for c in extract_inner_clauses(clause) if c.head.i not in heads)
        inner = (self._build_fact(offset, c, heads, {}) for c in sides)
        return [fact for fact in inner if fact]

    def _read_dictated(self, offset: int, clause: Clause, heads: set[int]) -> list[FactCandidate]:
        """What an assistant is to say of the speaker: "say I speak Yoruba"; what a doctor says of
        them."""
        told = (t for t in clause.head.children if t.dep_ == "ccomp")
        built = (build_clause(t) for t in told if has_own_subject(t))
        return [fact for c in built if (fact := self._build_fact(offset, c, heads, {}))]

    def _find_referents(self, clause: Clause, own: Sequence[Token]) -> dict[int, str]:
        """What the pronouns of the clause stand for, those in its subject and objects."""
        found = dict[int, str]()
        scene = self.turn.scene
        for token in own:
            low = token.lower_
            within = token.head in clause.chain or token.head == clause.subject
            if not within and not _is_owner_of_role(token, clause):
                continue
            if low in ("he", "she", "his", "her", "him"):
                owners = (fact.owner for fact in self.facts)
                before = [piece.doc for piece in self.turn.before]
                heard = before[-1] if before and self.turn.answers else None
                here = token.doc[: token.left_edge.i]
                woman = low in ("she", "her")
                besides = {name for name, she in self.called.items() if she != woman}
                if low in ("him", "her") and token.dep_ != "poss" and clause.subject is not None:
                    # Whoever sees "him" sees somebody else.
                    seer = find_subject(clause, scene, found)
                    besides |= {clause.subject.text, *([seer.owner] if seer else [])}
                known = find_antecedent(here, owners, before, scene, low, besides, heard)
                if "'" not in known and _names_newcomer(token, clause):
                    continue  # who has a name already is not given one
                if known:
                    self.called[known] = woman
            elif low in _THINGS_POINTED_AT and _may_be_thing(token, clause):
                leads = token == clause.subject
                end = token.i if leads else clause.head.left_edge.i
                here = token.doc[clause.head.sent.start : end]
                many = _THINGS_POINTED_AT[low]
                past = 2 if leads else 1
                if leads and low == "it" and _tells_of_else(here):
                    past = 0
                spoken_of = [here, *self.earlier[:past]]
                known = find_thing(spoken_of, scene, many=many)
                if low in ("this", "that") and leads and _names_somebody(clause):
                    continue  # "thats Farrah" says whom somebody else spoke of
                if low == "one" and any(c.dep_ in ("det", "amod") for c in token.children):
                    known = _cut_to_noun(known)  # "a new one"
                if low == "they" and leads and scene.assisted:
                    known = find_relatives(spoken_of, scene) or known
                if not known and past == 0 and clause.head.lemma_ == "be":
                    known = find_place_spoken_of(here, scene)  # "in the truck, it's an old one"
                said = {t.i for t in here if t.lower_ in ("it", "its") and t.sent == token.sent}
                if leads and low == "it" and not said <= self.known_things:
                    known = ""  # "it's not coeliac, had the biopsy, it's lactose"
                elif known and low == "it":
                    self.known_things.add(token.i)
                if clause.subject not in (None, token) and known == clause.subject.text:
                    continue  # who sends "it" is not what is sent
            elif low == "i" and token == clause.subject:
                known = _find_companion(token, scene)
            elif low in ("mine", "ours") and token == clause.subject:
                thing = find_thing([token.doc[: token.sent.start], *self.earlier[:1]], scene)
                _, _, bare = thing.rpartition("the ") if thing.startswith("the ") else ("", "", "")
                known = f"{format_possessive(scene.speaker)} {bare}" if bare else ""
            elif low == "there":
                known = find_place_meant(token, clause) or ""
            else:
                continue
            if known:
                possessive = low in ("his", "her") and token.dep_ == "poss"
                found[token.i] = format_possessive(known) if possessive else known
        return found

    def _build_fact(
        self, offset: int, clause: Clause, heads: set[int], known: Mapping[int, str]
    ) -> FactCandidate | None:
        draft = self._build_draft(offset, clause, heads, known)
        return self._finish(draft) if draft is not None else None

    def _build_facts(
        self, offset: int, clause: Clause, heads: set[int], known: Mapping[int, str]
    ) -> list[FactCandidate]:
        """One of each thing that somebody is said to be."""
        draft = self._build_draft(offset, clause, heads, known)
        parts = _split_complements(draft) if draft is not None else []
        return [fact for part in parts if (fact := self._finish(part)) is not None]

    def _build_draft(
        self, offset: int, clause: Clause, heads: set[int], known: Mapping[int, str]
    ) -> _ClauseDraft | None:
        subject = find_subject(clause, self.turn.scene, known)
        if subject is None or subject.who == "pronoun" or salience.is_empty_clause(clause):
            return None
        if salience.is_in_quotes(clause.head):
            return None
        draft = _build_draft(self.turn, offset, clause, subject, heads, known)
        return draft if draft is not None and _is_worth_keeping(draft) else None

    def _finish(self, draft: _ClauseDraft) -> FactCandidate | None:
        found = _finish_fact(draft)
        own = self.turn.utterance.role == "user" or _is_own_state(found, draft.clause)
        return found if own else None


def _collect_told(clause: Clause, heads: set[int], names: frozenset[str]) -> list[Token]:
    """The words of a clause without the other clauses, and without why the listener is told."""
    return salience.drop_precaution(collect_tokens(clause, heads - {clause.head.i}, names))


def _is_turned(clause: Clause) -> bool:
    """ "Respected sir, kindly draft a letter", which asks; "nor can I eat sesame", whose words
    without the first say the opposite."""
    first = clause.head.left_edge.i
    before = clause.head.doc[first - 1].lower_ if first else ""
    opening = {t.lower_ for t in clause.head.lefts}
    return before == "nor" or not opening.isdisjoint({"nor", "kindly", "pls"})


def _tells_of_else(before: Span) -> bool:
    """Whether what stands before "it" in its sentence is told of something else, so that what was
    said earlier is not meant: "My hands are not what they were, it's the arthritis"."""
    told = any(t.tag_ in ("VBD", "VBZ", "VBP", "MD") for t in before)
    return told and not any(t.lower_ in ("it", "its", "this", "that") for t in before)


def _is_owner_of_role(token: Token, clause: Clause) -> bool:
    """ "his" in "Mrs Solheim is his teacher"."""
    role = token.head
    return token.dep_ == "poss" and role.dep_ == "attr" and role.head in clause.chain


def _cut_to_noun(thing: str) -> str:
    """Without whose it is and how old: ("Ana's old phone") → "phone", of which there is another."""
    return thing.rpartition("'s ")[2].removeprefix("the ").removeprefix("old ")


_NAMING_VERBS = frozenset({"call", "name", "christen"})


def _names_newcomer(token: Token, clause: Clause) -> bool:
    """ "him" in "they named him Rohan"."""
    return (
        token != clause.subject
        and token.dep_ != "poss"
        and clause.main.lemma_.lower() in _NAMING_VERBS
    )


def _may_be_thing(token: Token, clause: Clause) -> bool:
    """ "That" is what was said, unless somebody or something is named: "that's Farrah"."""
    if token.dep_ not in _PLACES or (token.dep_ == "dobj" and token.head.lemma_ == "do"):
        return False  # what is done is no thing that was told of
    if token.lower_ == "one" and any(c.dep_ in ("prep", "poss") for c in token.children):
        return False  # "one of the dogs", "my next one"
    named = [t for t in clause.children("attr") if t.pos_ in ("PROPN", "NUM")]
    somebody = any(t.lower_ in ("me", "us", "him", "her", "them") for t in clause.children("attr"))
    if somebody and token.lower_ == "it":
        return False  # "it's just me now"
    return token.lower_ not in ("that", "this") or bool(named)


def _is_refused(clause: Clause, own: Sequence[Token], act: SpeechAct, *, alone: bool) -> bool:
    """It asserts nothing of anybody: asked, ordered, thought, quoted, or told of the listener."""
    if act == "question" and not is_stated(clause, alone=alone):
        return True
    subject = clause.subject
    own = salience.skip_announcement([*own], clause)
    if subject is not None and subject.lower_ in ("god", "lord", "heaven", "goodness"):
        return True  # "God knows"
    if salience.gives_up(own):
        return True
    yours = subject is not None and subject.lower_ in ("you", "u", "y'all")
    quoted = salience.is_in_quotes(clause.head) or salience.quotes_words(own)
    empty = salience.is_empty_clause(clause) or salience.addresses_listener(own, clause)
    return yours or quoted or empty


def _find_companion(token: Token, scene: Scene) -> str:
    """ "Andre and I got married", of which the parser may take the name for a sentence."""
    at = token.i - token.sent.start
    if at != 2 or token.nbor(-1).lower_ != "and" or any(token.conjuncts):
        return ""
    name = token.nbor(-2)
    if name in token.head.subtree:
        return ""  # told with the rest of the clause
    return f"{name.text} and {scene.speaker}" if name.is_title and name.pos_ == "PROPN" else ""


def _names_somebody(clause: Clause) -> bool:
    be = clause.head.lemma_ in ("be", "'s", "s")
    return be and any(t.pos_ == "PROPN" for t in clause.children("attr", "acomp", "dobj"))


def _is_about_it(clause: Clause) -> bool:
    return clause.subject is not None and clause.subject.lower_ in ("it", "that", "they")


def _opens_with_but(clause: Clause) -> bool:
    first = clause.head.left_edge
    return "but" in (first.lower_, first.nbor(-1).lower_ if first.i else "")


def _points_back(clause: Clause, known: Mapping[int, str]) -> bool:
    subject = clause.subject
    if subject is None or subject.i in known:
        return False
    return subject.lower_ in ("it", "that", "this", "they", "he", "she")


def _is_own_state(fact: FactCandidate, clause: Clause) -> bool:
    """What an assistant says of itself counts, but not what it does or will do for somebody."""
    own = clause.subject is not None and clause.subject.lower_ == "i"
    lasting = fact.polarity == "holds" and fact.kind != "event" and clause.main.tag_ != "VBG"
    return own and lasting


def _build_draft(
    turn: ParsedTurn,
    offset: int,
    clause: Clause,
    subject: Subject,
    heads: set[int],
    known: Mapping[int, str],
) -> _ClauseDraft | None:
    if _tells_of_nobody(clause):
        return None
    slots = fill_slots(clause)
    tokens = _collect_told(clause, heads, turn.scene.list_first_names())
    tokens = [t for t in tokens if not salience.is_echo_word(t, clause)]
    own = [t for t in (slots.preposition, slots.object, slots.second, slots.complement) if t]
    core = [*clause.chain, *own, *([subject.token] if subject.token else [])]
    free = [t for t in tokens if subject.token is None or t.i != subject.token.i]
    free = [t for t in free if t.i not in known]
    person = subject.token if subject.who == "person" and turn.scene.assisted else None
    kept = salience.drop_pointing_parts(free, core, person)
    if kept is None:
        return None
    chosen = {t.i for t in kept} | ({subject.token.i} if subject.token else set()) | set(known)
    named = [t for t in tokens if t.i in chosen]
    tokens = trim_tokens(salience.skip_announcement(salience.shorten_tokens(named, core), clause))
    if not tokens or (_is_indirect_question(tokens[0]) and tokens[0].i not in known):
        return None
    if salience.addresses_listener(tokens, clause):
        return None
    referents = {**known} | _map_articles(clause) | _map_own_thing(subject, turn.scene)
    voice = Voice(turn.scene, subject.who in ("speaker", "we"), referents)
    return _ClauseDraft(turn, offset, clause, subject, slots, tokens, voice, core)


def _tells_of_nobody(clause: Clause) -> bool:
    """ "was dr Lim", whose subject is in what was asked; "retired." behind what is told of somebody
    else."""
    head = clause.head
    opens = head.i == head.sent.start
    if opens and head.lower_ in ("was", "were"):
        return True
    words = [t for t in head.sent if not t.is_punct]
    return opens and len(words) == 1 and head.sent.start > 0 and is_past_form(head.text)


def _split_complements(draft: _ClauseDraft) -> list[_ClauseDraft]:
    """ "I'm 34, vegan and allergic to nuts" as three, each to be ended or replaced by itself; "kind
    and funny" and "a friend and neighbour" are told together."""
    first = draft.slots.complement
    listed = [first, *first.rights] if first is not None else []
    parts = [t for t in listed if t == first or (t.dep_ == "conj" and t in draft.tokens)]
    while parts and (more := [t for t in parts[-1].rights if t.dep_ == "conj"]):
        parts += more[:1]
    plain = draft.slots.pattern == "SVC" and len(draft.clause.chain) == 1
    if not plain or len(parts) < 2 or not _are_apart(parts) or is_negated(draft.clause):
        return [draft]
    whole = {t.i for part in parts for t in part.subtree}
    split = []
    for part in parts:
        others = {t.i for other in parts if part.is_ancestor(other) for t in other.subtree}
        own = {t.i for t in part.subtree} - others
        told = [t for t in draft.tokens if t.i in own or (t.i not in whole and t.i < min(whole))]
        last = part == parts[-1]
        told += [t for t in draft.tokens if last and t.i not in whole and t.i > min(whole)]
        slots = ClauseSlots("SVC", complement=part)
        core = [t for t in draft.core if t.i not in whole] + [part]
        split.append(replace(draft, slots=slots, tokens=trim_tokens(told), core=core))
    return split


def _are_apart(parts: Sequence[Token]) -> bool:
    """Whether an age, a trade and a state stand side by side, or each has words of its own."""
    if any(t.pos_ not in ("NUM", "ADJ", "NOUN") for t in parts):
        return False
    kinds = {"NUM" if t.like_num else t.pos_ for t in parts}
    told = [{c.dep_ for c in t.children} for t in parts]
    return len(kinds) > 1 or all(deps & {"prep", "det"} for deps in told)


def _is_indirect_question(first: Token) -> bool:
    """An indirect question: "why I left" states no fact."""
    return first.tag_ in ("WP", "WDT") or first.lower_ in ("why", "how", "where")


# What people mostly have one of, besides somebody: "the boiler" is theirs, "the damp" is not.
_USUALLY_OWN = (
    OWNED_THINGS
    | EVENTS
    | split_words("""
        address agency allotment band bank boiler book cast choir church class clinic club company
        contract course department diet divorce dose firm fridge garage garden group gym hand heart
        hip hospital job kitchen knee lease leg library medication medicine mortgage office oven
        pension phone practice price rent roof salon school scan shed shift shop shoulder studio
        surgery tablet tenancy thesis training treatment union visa washing
    """)
)


def _map_own_thing(subject: Subject, scene: Scene) -> dict[int, str]:
    """ "The boiler" and "landlord" told as "Ana's boiler", "Ana's landlord"; "the damp" as it is
    said."""
    token = subject.token
    if token is None or not is_own(token, scene):
        return {}
    own = is_person_noun(token) or token.lemma_.lower() in _USUALLY_OWN
    if not own and any(c.lower_ == "the" for c in token.children):
        return {}
    mine = format_possessive(scene.speaker)
    first = next(iter(token.lefts), token)
    word = first.lower_ if first.is_title and is_dictionary_noun(first.text) else first.text
    return {first.i: mine if first.lower_ == "the" else f"{mine} {word}"}


def _map_articles(clause: Clause) -> dict[int, str]:
    """ "This book I read" told as "I read a book"."""
    if clause.fronted is None:
        return {}
    pointing = [c for c in clause.fronted.lefts if c.lower_ in _POINTING_WORDS]
    article = "an" if clause.fronted.lower_[0] in "aeiou" else "a"
    return {c.i: article if c.lower_ in ("this", "that") else "some" for c in pointing}


def _is_worth_keeping(draft: _ClauseDraft) -> bool:
    subject = draft.subject.token
    they = subject if subject is not None and subject.lower_ == "they" else None
    if they and they.i not in draft.voice.referents and _classify_draft(draft).key:
        return False  # "they're divorced": not the speaker, and nobody can tell who
    names = draft.turn.scene.list_first_names()
    inside = _find_subject_positions(draft)
    rest = [t for t in draft.tokens if t.i not in inside and t not in draft.clause.chain]
    if draft.turn.scene.assisted:  # what of it is worth keeping was learned
        told = _tells_enough(draft) or any(salience.may_be_content(t) for t in rest)
        return told or bool(_classify_draft(draft).key)
    if draft.subject.who == "thing" and not _is_personal(draft):
        return bool(_classify_draft(draft).key)
    fronted = draft.clause.fronted
    if fronted is not None and not salience.is_naming_noun(fronted):
        return False
    if salience.is_specific(rest, names) or _classify_draft(draft).key:
        return True
    likes = len(draft.clause.chain) > 1 and draft.clause.head.lemma_.lower() in LIKING_VERBS
    open_to_doubt = not (_find_event(draft) or likes or is_negated(draft.clause))
    return salience.has_strong_verb(draft.clause) and not open_to_doubt


_HOW_ONE_LIVES = split_words("""
    alone abroad overseas apart together nearby badly poorly freelance remotely locally upstairs
    downstairs
""")


def _tells_enough(draft: _ClauseDraft) -> bool:
    """Its verbs say all of it: "I don't smoke", "I love kayaking", "Jonas moved out"."""
    clause = draft.clause
    if clause.main.lemma_.lower() in LIFE_VERBS and clause.main.tag_ in ("VBD", "VBN"):
        # Who tells it has left for the day more often than for good.
        return draft.subject.who == "person" or clause.main.lemma_.lower() != "leave"
    if clause.head.lemma_.lower() in ("break", "split") and draft.subject.who in ("we", "person"):
        return any(t.lower_ == "up" for t in clause.children("prt"))  # "Matteo and I broke up"
    if clause.head.lemma_.lower() in LIKING_VERBS and len(clause.chain) > 1:
        return salience.may_be_content(clause.main)
    if draft.subject.owner and clause.head.tag_ == "VBN" and clause.head.lemma_ in _OVER:
        return True  # "Amlora is stopped"
    if clause.main.lower_ in ("seeing", "dating") and clause.children("dobj"):
        return True  # "I'm seeing someone"
    how = {c.lower_ for c in clause.main.children if c.dep_ == "advmod" and c.i > clause.main.i}
    if not how.isdisjoint(_HOW_ONE_LIVES) and clause.main.lemma_.lower() in TOLD_VERBS:
        return True  # "I live alone", "I sleep badly"
    taken_up = clause.head.lemma_.lower() in ("learn", "start") and len(clause.chain) > 1
    if taken_up and clause.main.lemma_ in ACTIVITY_VERBS:
        return True  # "I'm learning to drive", "I've started smoking again"
    return clause.head.tag_ in ("VBP", "VBZ", "VB") and clause.main.lemma_ in ACTIVITY_VERBS


def _find_subject_positions(draft: _ClauseDraft) -> set[int]:
    token = draft.subject.token
    return {t.i for t in token.subtree} if token is not None else set()


def _is_personal(draft: _ClauseDraft) -> bool:
    """A thing counts when the clause ties it to the speaker."""
    return any(t.lower_ in ("my", "our", "me", "us") for t in draft.tokens)


def _finish_fact(draft: _ClauseDraft) -> FactCandidate:
    turn, clause, slots = draft.turn, draft.clause, draft.slots
    event, found = _find_event(draft), _classify_draft(draft)
    polarity = derive_polarity(clause, event, turn.utterance.at)
    if found.over and polarity == "holds":
        polarity = "ended"
    if not found.key and (not is_event(clause) or polarity == "ended"):
        found = classify_habit(_build_reading(draft), _list_habit_verbs(clause))
    value = found.value or (event.text if event and found.key.startswith("scheduled_") else "")
    event, until = _bound_past(draft, found.key, polarity, event)
    fact = FactCandidate(
        text=_format_text(draft),
        owner=draft.subject.owner or turn.utterance.speaker,
        speaker=turn.utterance.speaker,
        pattern=slots.pattern,
        subject=_format_subject(draft),
        verb=_format_verb(draft),
        object=_format_phrase(draft, slots.object),
        indirect_object=_format_phrase(draft, slots.second),
        complement=_format_phrase(draft, slots.complement),
        predicate_key=found.key,
        cardinality="single" if _has_one_value(draft, found) else "multi",
        kind=derive_kind(clause, polarity, found.key),
        polarity=polarity,
        event=None if _is_corrected_day(draft, event) else event,
        confidence=_score_confidence(draft),
        correction=is_correction(clause.head.sent.text),
        sources=(_locate_source(draft),),
        until=until,
    )
    return set_value(fact, value)


def _list_habit_verbs(clause: Clause) -> tuple[str, ...]:
    """The verbs of its chain in order; "can't bear" something is one of liking."""
    verbs = tuple(verb.lemma_.lower() for verb in clause.chain)
    able = any(c.lemma_.lower() in ("can", "could", "ca") for c in clause.head.children)
    bears = clause.head.lemma_.lower() in ("stand", "bear", "abide")
    return (*verbs, "cannot stand") if bears and able and is_negated(clause) else verbs


def _has_one_value(draft: _ClauseDraft, found: Predicate) -> bool:
    said = " ".join(t.lower_ for t in draft.tokens)
    return is_single_valued(found.key) and not is_beside_another(found.key, said)


def _bound_past(
    draft: _ClauseDraft, key: str, polarity: Polarity, event: TimeSpan | None
) -> tuple[TimeSpan | None, datetime | None]:
    """The time of a clause, and until when it was so: as far as it says so itself; a home or a job
    told in the past tense was so at that time and no longer, or till some time before it was told.
    """
    clause, said = draft.clause, draft.turn.utterance
    if polarity != "holds" or is_correction(clause.head.sent.text):
        return event, None
    if not _is_in_past_tense(clause.head):
        return event, None
    lasted = key in HOME_AND_JOB and clause.head.lemma_.lower() in _LASTING_VERBS
    if event is None:
        return None, said.at if lasted else None
    if lasted:
        event = widen_range(said.text, event, draft.turn.times)
    if ended := find_stated_end(said.text, event, said.at):
        return event, ended
    return event, min(event.end, said.at) if lasted and event.start <= said.at else None


def _is_in_past_tense(verb: Token) -> bool:
    """("lived", "was living"); what was done to somebody may last ("was promoted")."""
    aided = {c.lower_ for c in verb.children if c.dep_ == "aux"}
    went_on = verb.tag_ == "VBG" and bool(aided & {"was", "were"})
    passive = any(c.dep_ == "auxpass" for c in verb.children)
    return (verb.tag_ == "VBD" and not passive) or went_on


# "The 15th, not the 14th": of which month was told before.
_DAY_PUT_RIGHT = re.compile(r"\bnot (?:on )?the \d{1,2}(?:st|nd|rd|th)\b", re.I)
_BARE_DAY = re.compile(r"the \d{1,2}(?:st|nd|rd|th)", re.I)


def _is_corrected_day(draft: _ClauseDraft, event: TimeSpan | None) -> bool:
    """A weekday or a day of a month put right belongs to the week or the month it was first told
    of, which is not known here."""
    if event is None:
        return False
    said = draft.clause.head.sent.text
    if _BARE_DAY.fullmatch(event.text) and _DAY_PUT_RIGHT.search(said):
        return True
    past = event.end <= draft.turn.utterance.at
    return past and event.text.lower().startswith(tuple(WEEKDAYS)) and is_correction(said)


def _score_confidence(draft: _ClauseDraft) -> float:
    trust = _CONFIDENCE_BY_SUBJECT[draft.subject.who] - (0.1 if draft.subject.token is None else 0)
    return min(trust, _ASSISTANT_CONFIDENCE) if draft.turn.utterance.role != "user" else trust


def _format_text(draft: _ClauseDraft) -> str:
    words = rewrite_tokens(draft.tokens, draft.voice)
    if not _has_own_subject(draft):
        words = _lower_first_letter(words, draft.tokens[0])
        words = f"{_format_subject(draft)} {_restore_auxiliary(draft)}{words}"
    return format_sentence(words)


def _lower_first_letter(words: str, first: Token) -> str:
    return words if first.pos_ == "PROPN" or first.lower_ == "i" else words[:1].lower() + words[1:]


def _has_own_subject(draft: _ClauseDraft) -> bool:
    return draft.subject.token is not None and any(t == draft.subject.token for t in draft.tokens)


def _restore_auxiliary(draft: _ClauseDraft) -> str:
    """What a speaker leaves out before a participle: "Been to Oslo" → "has been"."""
    head = draft.clause.head
    opening = {head.lower_, *(t.lower_ for t in head.lefts if t.dep_ in ("aux", "auxpass"))}
    if draft.subject.token is not None or opening & {"have", "'ve", "has"}:
        return ""
    if "been" in opening:
        return "has "
    if _is_done_to_speaker(draft.clause):
        return "was "
    return "is " if "gon" in opening or (head.tag_ == "VBG" and len(opening) == 1) else ""


# What is done to somebody and by nobody to nothing: "laid off today", "diagnosed with asthma".
_DONE_TO_SOMEBODY = split_words("""
    diagnose fire sack lay promote evict admit prescribe suspend demote expel furlough discharge
""")


def _is_done_to_speaker(clause: Clause) -> bool:
    head = clause.head
    done = head.lemma_.lower() in _DONE_TO_SOMEBODY and is_past_form(head.text)
    return done and clause.main == head and not any(clause.children("dobj", "aux", "auxpass"))


def _format_subject(draft: _ClauseDraft) -> str:
    token = draft.subject.token
    if token is None:
        return draft.turn.scene.speaker
    subtree = [t for t in token.subtree if t.dep_ not in ("relcl", "appos", "punct")]
    inside = {t.i for t in token.subtree if t.dep_ in ("relcl", "appos")}
    short = [t for t in subtree if not inside & {a.i for a in t.ancestors}]
    return rewrite_tokens(short, replace(draft.voice, by_speaker=False))


def _format_verb(draft: _ClauseDraft) -> str:
    verbs = set(draft.clause.chain)
    near = {c for v in verbs for c in v.children if c.dep_ in ("aux", "auxpass", "prt")}
    near |= {c for v in verbs for c in find_negations(v)}
    extra = {draft.slots.preposition} if draft.slots.preposition else set()
    chosen = sorted((verbs | near | extra) & set(draft.tokens), key=lambda t: t.i)
    words = rewrite_tokens(chosen, draft.voice)
    return _restore_auxiliary(draft) + (_lower_first_letter(words, chosen[0]) if chosen else "")


def _format_phrase(draft: _ClauseDraft, head: Token | None) -> str:
    if head is None:
        return ""
    inside = _find_phrase_positions(head, draft.slots)
    words = rewrite_tokens([t for t in draft.tokens if t.i in inside], draft.voice)
    return re.split(r",? not ", words)[0].strip(" ,")


def _find_phrase_positions(head: Token, slots: ClauseSlots) -> set[int]:
    """Where the phrase of a slot stands, without side clauses."""
    whole = slots.complement
    if slots.object is not None and whole is not None and slots.object.head == whole:
        # The parser took "our dog Rex" for one phrase.
        return {whole.i} if head == whole else {t.i for c in whole.lefts for t in c.subtree}
    side = {t.i for c in head.children if _is_aside(c) for t in c.subtree}
    return ({t.i for t in head.subtree} - side) | _find_digit_groups(head)


def _find_digit_groups(head: Token) -> set[int]:
    """Where the groups of a number written in several stand behind its first ("07700 900123")."""
    groups = set[int]()
    for token in head.doc[head.i + 1 : head.sent.end] if head.text.strip("+").isdigit() else ():
        if not token.is_digit:
            break
        groups.add(token.i)
    return groups


def _is_aside(token: Token) -> bool:
    """Not of the phrase itself: a side clause, or what follows its comma ("Porto, by the sea")."""
    if token.dep_ == "punct":
        return token.text not in "-–"
    before = token.doc[token.left_edge.i - 1].text if token.left_edge.i else ""
    trails = token.i > token.head.i and before == "," and token.dep_ not in ("conj", "cc", "neg")
    return trails or token.dep_ in ("relcl", "advcl")


def _classify_draft(draft: _ClauseDraft) -> Predicate:
    if is_only_near(draft.clause):
        return Predicate("")
    return classify_predicate(_build_reading(draft))


def _build_reading(draft: _ClauseDraft) -> ClauseReading:
    slots, main = draft.slots, draft.clause.main
    preposition, thing = find_home(draft.clause) or (slots.preposition, slots.object)
    number = next((c.text for c in thing.children if c.dep_ == "nummod"), "") if thing else ""
    particle = "".join(f" {c.lower_}" for c in main.children if is_particle(c))
    said = " ".join(t.lower_ for t in draft.tokens)
    return ClauseReading(
        verb=find_clause_lemma(main) + particle,
        preposition=preposition.lower_ if preposition else "",
        object=thing.lemma_.lower() if thing else "",
        # "There" is told by a place that stands outside of the clause.
        phrase=_format_phrase(draft, thing) or (thing.text if thing is not None else ""),
        complement=_format_phrase(draft, slots.complement),
        topic=draft.subject.topic if draft.subject.who == "thing" else "",
        number=number,
        timed=_find_event(draft) is not None,
        place=thing is not None and is_place(thing),
        of_person=draft.subject.who != "thing",
        now=is_by_now(said),
        said=said,
        passing=is_passing(draft.clause.head.sent.text),
        named=slots.complement is not None and slots.complement.ent_type_ == "PERSON",
    )


def _locate_source(draft: _ClauseDraft) -> SourceSpan:
    start = min(t.idx for t in draft.tokens) + draft.offset
    end = max(t.idx + len(t) for t in draft.tokens) + draft.offset
    return SourceSpan(draft.turn.utterance.handle, start, end)


def _find_event(draft: _ClauseDraft) -> TimeSpan | None:
    """The time in the clause, else the only one of its sentence if that stands before it."""
    source = _locate_source(draft)
    inside = [t for t in draft.turn.times if source.start <= t.at < source.end]
    if inside:
        bounds = tells_bound(draft.turn.utterance.text, inside[0]) and _is_so_now(draft.clause)
        return None if bounds else inside[0]
    span = draft.clause.head.sent
    start, end = span.start_char + draft.offset, span.end_char + draft.offset
    near = [t for t in draft.turn.times if start <= t.at < end]
    alone = len(near) == 1 and near[0].at < source.start
    if alone and near[0].start > draft.turn.utterance.at and is_event(draft.clause):
        return None  # "is coming home in October, she has found a post": that is done
    return near[0] if alone and not _is_ongoing(draft, near[0]) else None


def _is_so_now(clause: Clause) -> bool:
    """A state told in the present: "I'm in Rome until Friday", "the shop is closed till May"."""
    now = clause.head.tag_ in ("VBP", "VBZ") or any(
        c.tag_ in ("VBP", "VBZ") for c in clause.head.children if c.dep_ in ("aux", "auxpass")
    )
    ahead = clause.head.lower_ in ("going", "gon") and len(clause.chain) > 1
    return now and not ahead and not is_event(clause)


def _is_ongoing(draft: _ClauseDraft, time: TimeSpan) -> bool:
    """A present state beside a past time is not of that time: "… yesterday, and it hurts"; nor is
    what lasts of a coming one: "they visit next week, they live in Leeds"."""
    head = draft.clause.head
    aided = any(c.dep_ == "aux" and c.tag_ in ("VBP", "VBZ") for c in head.children)
    going_on = head.tag_ == "VBG" and aided  # "is staying with us"
    now = (head.tag_ in ("VBP", "VBZ") or going_on) and not is_event(draft.clause)
    lasts = draft.clause.main.lemma_.lower() in _LASTING_VERBS
    return now and (lasts or time.start <= draft.turn.utterance.at)


def _attach_clause(
    fact: FactCandidate, turn: ParsedTurn, offset: int, clause: Clause, heads: set[int]
) -> FactCandidate:
    """The fact with a coordinate clause about "it" told along with it, or one that turns it back
    with "but"."""
    but = _opens_with_but(clause)
    subject = clause.subject.lower_ if clause.subject is not None else ""
    if subject not in ("it", "that", "they", "he", "she", *(("i", "we") if but else ())):
        return fact
    tokens = _collect_told(clause, heads, turn.scene.list_first_names())
    if not tokens or len(tokens) > 12 or salience.is_empty_clause(clause):
        return fact
    words = _lower_first_letter(rewrite_tokens(tokens, Voice(turn.scene)), tokens[0])
    end = tokens[-1].idx + len(tokens[-1]) + offset
    source = replace(fact.sources[0], end=max(end, fact.sources[0].end))
    told = format_sentence(f"{fact.text[:-1]}, {'but' if but else 'and'} {words}")
    return replace(fact, text=told, sources=(source,))
