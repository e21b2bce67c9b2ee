"""Clauses of a parsed sentence: a finite verb, its subject and what belongs to it.

The slots follow AMA's five patterns (spec §7.1): SV, SVO, SVC, SVOO, SVOC. A prepositional
object counts as O ("moved to Lisbon"), for that is where most of the content is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.verbs import (
    OPINION_VERBS,
    is_past_form,
)
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import ClausePattern

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECT_DEPENDENCIES = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_COMPLEMENT_DEPENDENCIES = frozenset({"attr", "acomp", "oprd"})
# Prepositions of an object rather than of a circumstance, by the first choice.
_OBJECT_PREPOSITIONS = split_words("to in at for as with on about from into of")
_MAKING_VERBS = split_words("elect name call appoint make crown nickname vote")
# What is said with them is in others' words, not ours.
_QUOTING_VERBS = split_words("say tell claim ask joke think reckon swear call")
_OPEN_MARKS = split_words("if unless whether until till how why where")
_CUT_DEPENDENCIES = frozenset({"intj", "parataxis", "discourse"})
_RELATIVE_TAGS = frozenset({"WDT", "WP", "WRB", "WP$"})
_NOT_SPEAKERS = split_words("it that this she he they there")
_NO_THIRD_PERSONS = split_words("i we you u they there it that this")
_LINKING_DEPENDENCIES = frozenset({"cc", "mark", "preconj"})


@dataclass(frozen=True, slots=True)
class Clause:
    """`chain` runs from the finite verb to its last open complement ("want to visit")."""

    head: Token
    chain: tuple[Token, ...]
    subject: Token | None
    fronted: Token | None = None  # the noun a relative clause is about, its object

    @property
    def main(self) -> Token:
        return self.chain[-1]

    def children(self, *deps: str) -> list[Token]:
        return [c for verb in reversed(self.chain) for c in verb.children if c.dep_ in deps]


@dataclass(frozen=True, slots=True)
class ClauseSlots:
    pattern: ClausePattern
    preposition: Token | None = None
    object: Token | None = None
    second: Token | None = None
    complement: Token | None = None


def extract_clauses(sentence: Span) -> list[Clause]:
    """The independent clauses, and what opinions are about, in the order of the text."""
    found = sorted(_find_clause_heads(sentence.root, None), key=lambda pair: pair[0].i)
    told: list[Clause] = []
    for head, subject in found:
        if subject is None and told and head.tag_ == "VBZ" and head.lemma_ != "be":
            subject = _carry_subject(told[-1])
        told.append(Clause(head, _build_verb_chain(head), subject))
    return told


def _carry_subject(before: Clause) -> Token | None:
    """Who goes on in "Milo loves climbing, goes every Thursday": nobody says "goes" of "I"."""
    whose = before.subject
    if whose is None or whose.tag_ in ("NNS", "NNPS") or whose.lower_ in _NO_THIRD_PERSONS:
        return None
    return whose


def extract_inner_clauses(clause: Clause) -> list[Clause]:
    """Side clauses about the speaker, to be told when their main clause cannot be.

    "It has been calm since I moved" still says that I moved, "the bowl I made" that I made it.
    """
    inner = (t for t in clause.head.subtree if t.dep_ in ("advcl", "relcl", "ccomp", "pcomp"))
    built = (_build_inner_clause(t) for t in inner if t.pos_ in ("VERB", "AUX"))
    return [found for found in built if found is not None]


def extract_told_asides(sentence: Span) -> list[tuple[Clause, Token]]:
    """What is told beside somebody with "who", and of whom: "my sister, who lives in Porto"."""
    found = []
    for token in sentence:
        subject = _find_own_subject(token) if token.dep_ == "relcl" else None
        if subject is None or subject.lower_ != "who" or not _is_finite(token):
            continue
        if not _runs_into_next(token):
            # "14 Corve Row with our kids, Tilly who's nine": whose name stands before it.
            before = subject.nbor(-1) if subject.i else token.head
            whom = before if before.pos_ == "PROPN" else token.head
            found.append((Clause(token, _build_verb_chain(token), subject), whom))
    return found


def _runs_into_next(verb: Token) -> bool:
    """ "Milo who's 9 and Edie, 6": the next name belongs to the list, and to no predicate."""
    told = (c for c in verb.children if c.dep_ in _COMPLEMENT_DEPENDENCIES)
    return any(c.pos_ == "PROPN" for each in told if each.like_num for c in each.conjuncts)


_POSSIBLE = frozenset({"can", "could", "might", "may", "should", "would"})


def _build_inner_clause(head: Token) -> Clause | None:
    subject = next((c for c in head.children if c.dep_ in SUBJECT_DEPENDENCIES), None)
    own = subject is not None and (subject.lower_ in ("i", "we") or _is_mine(subject))
    if head.dep_ == "ccomp" and head.head.lemma_.lower() in _QUOTING_VERBS:
        return None
    marks = {c.lower_ for c in head.children if c.dep_ in ("mark", "advmod")}
    if not own or not _is_finite(head) or marks & _OPEN_MARKS:
        return None
    if head.dep_ != "relcl":
        return Clause(head, _build_verb_chain(head), subject)
    if any(c.lower_ in _POSSIBLE for c in head.children if c.dep_ == "aux"):
        return None  # "a lunch I can make in ten minutes"
    fronted = None if _has_object(head) else head.head
    return Clause(head, _build_verb_chain(head), subject, fronted) if fronted is not None else None


def build_clause(head: Token) -> Clause:
    """The clause of a verb by itself."""
    return Clause(head, _build_verb_chain(head), _find_own_subject(head))


def has_own_subject(verb: Token) -> bool:
    """Whether it tells of the speaker or of what is theirs."""
    subject = _find_own_subject(verb)
    return subject is not None and (subject.lower_ in ("i", "we") or _is_mine(subject))


def _is_mine(subject: Token) -> bool:
    return any(c.lower_ in ("my", "our") for c in subject.children if c.dep_ == "poss")


def _has_object(head: Token) -> bool:
    last = _build_verb_chain(head)[-1]
    taken = any(c.dep_ == "dobj" and c.tag_ not in ("WDT", "WP") for c in last.children)
    taken = taken or any(c.tag_ == "WRB" for c in head.children)
    return taken or last.lemma_ == "be" or any(c.dep_ == "relcl" for c in head.head.head.children)


def _find_clause_heads(
    token: Token, inherited: Token | None
) -> Iterator[tuple[Token, Token | None]]:
    subject = _find_own_subject(token) or inherited
    if subject is inherited and token.tag_ == "VBZ" and _is_plural_speaker(subject):
        subject = None  # "we were in Rome and Tom is in Paris": none of us
    if token.pos_ in ("VERB", "AUX") and not _is_opinion(token):
        yield token, subject
    for child in token.children:
        if child.pos_ in ("VERB", "AUX") and _is_clause(child, token):
            yield from _find_clause_heads(child, subject if child.dep_ == "conj" else None)
        elif child.dep_ in ("attr", "dobj"):
            listed = (c for c in child.conjuncts if _find_joined_subject(c) is not None)
            for verb in listed:
                yield from _find_clause_heads(verb, None)


def _is_plural_speaker(subject: Token | None) -> bool:
    return subject is not None and subject.lower_ in ("i", "we", "they", "you")


def _find_own_subject(verb: Token) -> Token | None:
    """Its subject, which the parser now and then hangs on the auxiliary."""
    places = [verb, *(c for c in verb.children if c.dep_ in ("aux", "auxpass"))]
    children = (child for place in places for child in place.children)
    found = [
        child
        for child in children
        if child.dep_ in SUBJECT_DEPENDENCIES and child.lower_ not in INTERJECTIONS
    ]
    # "My son, he is a baker": whoever was named before is taken up.
    again = [each for each in found[1:] if each.lower_ in _TAKING_UP and each.i < verb.i]
    if again or found:
        return again[-1] if again else found[0]
    return _find_listed_subject(verb) or _find_joined_subject(verb)


def _find_joined_subject(verb: Token) -> Token | None:
    """ "contract" in "My supervisor is Mr Hall and my contract runs until May", which the parser
    takes for one noun with the verb behind it."""
    if verb.dep_ != "conj" or verb.tag_ != "VBZ" or verb.head.pos_ not in ("NOUN", "PROPN"):
        return None
    noun = next((c for c in verb.lefts if c.dep_ == "compound" and c.i == verb.i - 1), None)
    mine = noun is not None and any(c.dep_ in ("poss", "det") for c in noun.lefts)
    return noun if mine else None


def _find_listed_subject(verb: Token) -> Token | None:
    """ "doctor" in "She has eczema and the doctor gave her a cream", which the parser lists with
    what stands before "and", though a verb follows right behind it; "standup" in "My manager is
    Arjun and standup is at ten"."""
    past = is_past_form(verb.text) and verb.tag_ in ("VBD", "VBN")
    if not verb.i or verb.dep_ != "conj" or not (past or verb.tag_ == "VBZ"):
        return None
    noun = verb.nbor(-1)
    listed = noun.dep_ == "conj" and noun.pos_ in ("NOUN", "PROPN")
    first = noun.head
    above = first.head.head if first.dep_ == "pobj" else first.head
    whose = listed and above == verb.head and first.pos_ in ("NOUN", "PROPN")
    joined = whose and noun.doc[noun.left_edge.i - 1].lower_ in ("and", "but", "so")
    whole = joined and any(c.dep_ in ("dobj", "dative", "prt", "prep") for c in verb.children)
    return noun if whole else None


def _is_clause(child: Token, head: Token) -> bool:
    if child.dep_ == "conj":
        if _is_bare_after_auxiliary(child, head):
            return False
        return _is_finite(child) and head.dep_ not in ("xcomp", "pcomp", "relcl", "acl")
    if _is_spliced(child, head) and child.dep_ in ("ccomp", "advcl", "csubj", "dep"):
        return True
    if _stands_alone(child, head) or _leaves_out_speaker(child, head):
        return True
    if child.dep_ == "ccomp":
        beside = child.i < head.i and not any(c.dep_ == "mark" for c in child.children)
        opened = any(t.text == ":" for t in child.doc[head.i : child.left_edge.i])
        return has_subject(child) and (beside or opened or _is_own_opinion(head))
    return child.dep_ == "parataxis" and has_subject(child)


def _stands_alone(child: Token, head: Token) -> bool:
    """A whole sentence that is only set off by a sign or "and" from the one it hangs on."""
    if child.dep_ in ("aux", "auxpass") or head.lemma_.lower() in _QUOTING_VERBS:
        return False
    if not has_subject(child) or not _is_finite(child):
        return False
    lead = next((t for t in child.subtree if not t.is_punct), child)
    marked = any(c.dep_ == "mark" or c.tag_ in _RELATIVE_TAGS for c in child.children)
    marked = marked or lead.tag_ in _RELATIVE_TAGS or lead.dep_ == "mark"
    before = child.doc[child.left_edge.i - 1] if child.left_edge.i else None
    set_off = before is not None and (before.is_punct or before.dep_ == "cc")
    left = child.right_edge.i < head.i and child.doc[child.right_edge.i + 1].is_punct
    return not marked and (left or set_off)


def _leaves_out_speaker(child: Token, head: Token) -> bool:
    """ "It's official, moving to Hull": a participle that can't be of the subject beside it."""
    if child.tag_ != "VBG" or child.dep_ not in ("advcl", "csubj", "ccomp", "dep", "parataxis"):
        return False
    bare = not any(c.dep_ in ("mark", "aux", *SUBJECT_DEPENDENCIES) for c in child.children)
    subject = _find_own_subject(head)
    apart = subject is None or subject.lower_ in _NOT_SPEAKERS
    first = child.left_edge.i
    set_off = first == child.sent.start or child.doc[first - 1].is_punct
    return (
        bare
        and apart
        and set_off
        and not any(c.tag_ == "IN" and c.dep_ == "prep" and c.i < child.i for c in child.children)
    )


def _is_bare_after_auxiliary(child: Token, head: Token) -> bool:
    """ "get" in "I'm gonna chat and get help": it shares the auxiliary and stays with it."""
    governed = head.lower_ in ("gon", "going") or any(
        c.tag_ in ("MD", "TO") or c.lower_ in ("did", "do") for c in head.children
    )
    same = child.lower_ == child.lemma_.lower() and not is_past_form(child.text)
    return governed and same and not has_subject(child)


def _is_spliced(child: Token, head: Token) -> bool:
    """A past form before its head without subject or mark: "Lost my job, so I …"."""
    been = any(c.lower_ == "been" for c in child.children)
    inner = any(c.dep_ in ("mark", *SUBJECT_DEPENDENCIES) for c in child.children)
    aided = not been and any(c.dep_ == "aux" for c in child.children)
    formed = been or (child.tag_ != "VBG" and is_past_form(child.text))
    return child.i < head.i and not inner and not aided and formed


def _is_opinion(token: Token) -> bool:
    about = any(c.dep_ == "ccomp" and c.i > token.i for c in token.children)
    return about and token.lemma_.lower() in OPINION_VERBS


def _is_own_opinion(token: Token) -> bool:
    """What somebody else thinks is not told as if it were so."""
    subject = _find_own_subject(token)
    return _is_opinion(token) and (subject is None or subject.lower_ in ("i", "we"))


def find_verb_subject(verb: Token) -> Token | None:
    """The subject of a verb, looked for up the coordinated verbs before it."""
    while True:
        found = next((c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass", "expl")), None)
        if found is not None or verb.dep_ not in ("conj", "xcomp"):
            return found
        verb = verb.head


def has_subject(token: Token) -> bool:
    return any(c.dep_ in SUBJECT_DEPENDENCIES for c in token.children)


def _is_finite(token: Token) -> bool:
    if token.tag_ in ("VBD", "VBP", "VBZ", "MD") or is_past_form(token.text):
        return True
    return any(c.dep_ in ("aux", "auxpass") and c.lower_ != "to" for c in token.children)


def _build_verb_chain(head: Token) -> tuple[Token, ...]:
    chain = [head]
    while len(chain) < 5:
        step = next((c for c in chain[-1].children if _continues_chain(c, chain[-1])), None)
        if step is None:
            break
        chain.append(step)
    return tuple(chain)


def _continues_chain(child: Token, verb: Token) -> bool:
    if child.pos_ not in ("VERB", "AUX") or child.i < verb.i:
        return False
    if verb.lower_ == "gon":
        return child.dep_ in ("xcomp", "advcl")
    return child.dep_ == "xcomp" and not any(c.dep_ in ("dobj", "acomp") for c in verb.children)


def fill_slots(clause: Clause) -> ClauseSlots:
    """Which of the five patterns the clause has, and the heads of its slots."""
    if clause.fronted is not None:
        return ClauseSlots("SVO", object=clause.fronted)
    small = _find_small_clause(clause)
    if small is not None:
        return ClauseSlots("SVOC", object=small[0], complement=small[1])
    direct = next((t for t in clause.children("dobj") if not _follows_comma(t)), None)
    direct = direct or next((t for t in clause.children("npadvmod") if _is_amount(t)), None)
    complements = clause.children(*_COMPLEMENT_DEPENDENCIES)
    complement = next((t for t in complements if not _is_denied_aside(t)), None)
    if direct is not None:
        return _fill_object_slots(clause, direct, complement)
    if complement is not None:
        return ClauseSlots("SVC", complement=complement)
    preposition, thing = _find_prepositional_object(clause)
    return ClauseSlots("SVO" if thing else "SV", preposition, thing)


def _follows_comma(thing: Token) -> bool:
    """An afterthought: "I ran ten miles, my longest run"."""
    return thing.left_edge.i > 0 and thing.doc[thing.left_edge.i - 1].text == ","


def _is_denied_aside(thing: Token) -> bool:
    """Of whom it is not told: "the vet was called away, not Rex"."""
    start = thing.left_edge.i
    before = [t.lower_ for t in thing.doc[max(0, start - 2) : thing.i]]
    return [",", "not"] in (before[:2], before[1:3])


def _is_amount(thing: Token) -> bool:
    return thing.ent_type_ == "QUANTITY" and thing.i > thing.head.i


def _find_small_clause(clause: Clause) -> tuple[Token, Token] | None:
    """Object and complement of "named my dog Rex", which the parser reads in several ways."""
    named = _find_first_child(clause, "oprd") or _find_first_child(clause, "ccomp")
    direct = [t for t in clause.children("dobj") if t.head == clause.main]
    if len(direct) == 2 and clause.main.lemma_.lower() in _MAKING_VERBS:
        return direct[0], direct[1]
    if named is None:
        painted = clause.main.lemma_.lower() in ("paint", "dye") and direct
        return _split_compound(direct[0]) if painted else None
    if named.dep_ == "oprd":
        return (direct[0], named) if direct else _split_compound(named)
    inner = next((c for c in named.children if c.dep_ == "nsubj"), None)
    verbal = any(c.dep_ in ("mark", "cop", "aux") for c in named.children)
    nominal = named.pos_ in ("NOUN", "PROPN", "ADJ") and not verbal
    return (inner, named) if inner is not None and nominal else None


def _split_compound(named: Token) -> tuple[Token, Token] | None:
    thing = next((c for c in named.lefts if c.dep_ == "compound"), None)
    return (thing, named) if thing is not None else None


def _fill_object_slots(clause: Clause, direct: Token, complement: Token | None) -> ClauseSlots:
    dative = _find_first_child(clause, "dative")
    if dative is not None:
        second = next((c for c in dative.children if c.dep_ == "pobj"), dative)
        return ClauseSlots("SVOO", object=direct, second=second)
    if complement is not None and complement.i > direct.i and complement.dep_ == "oprd":
        return ClauseSlots("SVOC", object=direct, complement=complement)
    return ClauseSlots("SVO", object=direct)


def _find_prepositional_object(clause: Clause) -> tuple[Token | None, Token | None]:
    told = clause.children("prep", "agent")
    moves = any(prep.lower_ in ("to", "into") for prep in told)  # "moved from Lyon to Bristol"
    for prep in (each for each in told if not (moves and each.lower_ == "from")):
        thing = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
        known = thing is not None and prep.lower_ in _OBJECT_PREPOSITIONS
        if thing is not None and known and thing.ent_type_ not in ("DATE", "TIME"):
            return prep, thing
    return None, None


def _find_first_child(clause: Clause, dep: str) -> Token | None:
    return next(iter(clause.children(dep)), None)


def collect_tokens(clause: Clause, others: set[int], names: frozenset[str]) -> list[Token]:
    """The clause's own tokens in order, without other clauses, asides and addresses.

    `others` are the positions of other clauses' heads, `names` the people's first names.
    """
    gathered = [*_gather_tokens(clause.head, others, names)]
    far = _find_later_clause(clause.head, others)
    gathered = [t for t in gathered if far is None or not _is_added_behind(t, clause.head, far)]
    gathered += _gather_added(clause.head, others, names)
    kept = sorted(gathered, key=lambda t: t.i)
    kept = [t for t in kept if not _is_joining_word(t, clause)]
    return trim_tokens(_unfront_noun(kept, clause) if clause.fronted is not None else kept)


def _find_later_clause(head: Token, others: set[int]) -> Token | None:
    """The clause listed last behind it."""
    return max((t for t in head.conjuncts if t.i in others and t.i > head.i), default=None)


def _is_added_behind(token: Token, head: Token, later: Token) -> bool:
    """Whether it belongs to what the parser hangs on the first clause, though it stands behind a
    later one: the price in "sold the van, got a Transit, 320 a month"."""
    part = next((t for t in (token, *token.ancestors) if t.head == head and t != head), None)
    added = part is not None and part.dep_ in ("npadvmod", "dobj")
    return added and part is not None and part.left_edge.i > later.i


def _gather_added(head: Token, others: set[int], names: frozenset[str]) -> Iterator[Token]:
    """What belongs to this clause and hangs on one before it."""
    for first in head.conjuncts:
        if first.i in others and first.i < head.i and _find_later_clause(first, {head.i}) == head:
            for part in first.children:
                if _is_added_behind(part, first, head) and not _is_left_out(part, others, names):
                    yield from _gather_tokens(part, others, names)


def _is_joining_word(token: Token, clause: Clause) -> bool:
    """ "when", "that" and the like before a side clause told on its own."""
    if clause.head.dep_ not in ("advcl", "relcl", "ccomp", "pcomp") or token.head != clause.head:
        return False
    if token == clause.subject:
        return False
    marks = token.dep_ == "mark" and token.i < clause.head.i
    return marks or token.tag_ in ("WDT", "WP") or token.lower_ == "when"


def _unfront_noun(tokens: list[Token], clause: Clause) -> list[Token]:
    """The noun of a relative clause moved behind its verb: "the bowl I made" → "made the bowl"."""
    noun = clause.fronted
    if noun is None:
        return tokens
    deps = ("det", "amod", "compound", "nummod", "poss")
    own = [t for c in noun.lefts if c.dep_ in deps for t in c.subtree]
    end = max(t.i for t in (clause.main, *(c for c in clause.main.children if _is_hanging(c))))
    before, after = [t for t in tokens if t.i <= end], [t for t in tokens if t.i > end]
    return [*before, *own, noun, *after]


def _is_hanging(token: Token) -> bool:
    """A particle, or a preposition whose object stands before: "a show I went to"."""
    return token.dep_ == "prt" or (token.dep_ == "prep" and not any(token.children))


def _gather_tokens(token: Token, others: set[int], names: frozenset[str]) -> Iterator[Token]:
    yield token
    for child in token.children:
        if not _is_left_out(child, others, names):
            yield from _gather_tokens(child, others, names)


def _is_left_out(child: Token, others: set[int], names: frozenset[str]) -> bool:
    if child.lower_ == "no" and child.head.lemma_ == "say" and child.i > child.head.i:
        return False  # "I said no"
    if child.i in others or child.dep_ in _CUT_DEPENDENCIES or _starts_new_clause(child):
        return True
    if child.lower_ in INTERJECTIONS and not any(child.children):
        return True  # "I've stopped drinking btw, 12 days today"
    if _opens_otherwise(child) or _is_subject_of(child, others):
        return True
    return _is_address(child, names) or _joins_clauses(child, others)


def _is_subject_of(noun: Token, others: set[int]) -> bool:
    """Whether it is the subject of another clause that the parser took for one of a list."""
    behind = noun.i + 1
    return behind in others and _find_listed_subject(noun.doc[behind]) == noun


def _starts_new_clause(child: Token) -> bool:
    """A clause with a gerund for its subject: "I run, and giving up sounds wrong"."""
    finite = child.head.tag_ in ("VBP", "VBZ", "VBD")
    after = child.doc[max(0, child.left_edge.i - 2) : child.left_edge.i].text
    return child.dep_ == "conj" and child.tag_ == "VBG" and finite and after.startswith(",")


_TAKING_UP = frozenset({"he", "she", "we"})


def _opens_otherwise(child: Token) -> bool:
    """What stands before the clause and is none of its own: "Draft a text to my flatmate, he has
    not paid", "Polite but firm, he is my friend"."""
    subjects = [c for c in child.head.children if c.dep_ in SUBJECT_DEPENDENCIES]
    if not subjects or child.right_edge.i >= subjects[-1].i:
        return False
    somebody = child.pos_ in ("NOUN", "PROPN") and child.ent_type_ not in ("DATE", "TIME")
    if somebody and subjects[-1].lower_ in _TAKING_UP and child.right_edge.nbor().text == ",":
        return True  # "One son, Matthis, he is a baker"
    if child.lower_ == "myself":
        return True  # "Myself I can't stand it"
    if child.dep_ in ("npadvmod", "dep", "nmod") and child.i == child.sent.start:
        # "Bus, I'm a student"; not "Mondays, I swim".
        noun = child.tag_ == "NN" and not any(child.children) and not child.ent_type_
        return noun and child.nbor().text == ","
    if child.dep_ != "advcl":
        return False
    bare = child.tag_ in ("VB", "VBP", "NN", "NNS", "NNP", "JJ")
    return bare and not any(c.dep_ in ("mark", "aux", *SUBJECT_DEPENDENCIES) for c in child.lefts)


def _is_address(token: Token, names: frozenset[str]) -> bool:
    addressing = token.dep_ in ("npadvmod", "dep", "appos", "nmod", "vocative")
    denied = token.i > 0 and token.nbor(-1).lower_ == "not"  # "my name is Anna, not Ana"
    return addressing and token.lower_ in names and not denied


def _joins_clauses(token: Token, others: set[int]) -> bool:
    """A conjunction before another clause belongs to neither."""
    if token.dep_ not in ("cc", "preconj"):
        return False
    return any(c.i in others and c.i > token.i for c in token.head.children)


_FILLERS = split_words("""
    so nah yep yup nope well oh actually anyway also just finally unfortunately luckily
    honestly really yeah yes no hey hi wow basically guess then btw anyways plus maybe
    absolutely definitely totally sure but and or fortunately thankfully hopefully though n o
    aye ok okay right lol besides
""")
# These are never anything else, whatever the parser takes them for.
INTERJECTIONS = split_words("""
    nah yep yup nope hey wow lol lols haha hahaha hehe hah ugh phew yay omg btw fyi tbh ngl ooh aww
    whoa smh lmao ty tysm thx cheers xx hiya heya howdy ta soz yikes oops argh ooft
""")
_FILLER_DEPENDENCIES = split_words("advmod intj cc mark discourse dep")


def trim_tokens(tokens: list[Token]) -> list[Token]:
    """Without fillers, signs and loose conjunctions at either end."""
    start, end = 0, len(tokens)
    while start < end and (_is_sign(tokens[start]) or _is_filler(tokens[start])):
        start += 1
    while end > start and (
        _is_sign(tokens[end - 1])
        or tokens[end - 1].dep_ in _LINKING_DEPENDENCIES
        or tokens[end - 1].lower_ in INTERJECTIONS
        or (end - start > 1 and tokens[end - 1].lower_ in ("so", "but", "and"))
    ):
        end -= 1
    return tokens[start:end]


def _is_sign(token: Token) -> bool:
    return not any(character.isalnum() for character in token.text)


def _is_filler(token: Token) -> bool:
    aside = token.norm_ == "anyway" and token.lower_ != "anyway"  # as the parser was told
    filler = token.lower_ in _FILLERS and token.dep_ in _FILLER_DEPENDENCIES
    return aside or filler or token.lower_ in INTERJECTIONS
