"""Clauses of a parsed sentence: a finite verb, its subject and what belongs to it.

The slots follow AMA's five patterns (spec §7.1): SV, SVO, SVC, SVOO, SVOC. A prepositional
object counts as O ("moved to Lisbon"), for that is where most of the content is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spacy.tokens import Span, Token

from memoryhub.engines.local.verbs import OPINION, is_past_form
from memoryhub.engines.types import Pattern

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_COMPLEMENTS = frozenset({"attr", "acomp", "oprd"})
# Prepositions of an object rather than of a circumstance, by the first choice.
_FIRM = frozenset("to in at for as with on about from into of".split())
_CUT = frozenset({"intj", "parataxis", "discourse"})
_LINKS = frozenset({"cc", "punct", "mark", "preconj"})


@dataclass(frozen=True, slots=True)
class Clause:
    """`chain` runs from the finite verb to its last open complement ("want to visit")."""

    head: Token
    chain: tuple[Token, ...]
    subject: Token | None

    @property
    def main(self) -> Token:
        return self.chain[-1]

    def children(self, *deps: str) -> list[Token]:
        return [c for verb in reversed(self.chain) for c in verb.children if c.dep_ in deps]


@dataclass(frozen=True, slots=True)
class Slots:
    pattern: Pattern
    preposition: Token | None = None
    object: Token | None = None
    second: Token | None = None
    complement: Token | None = None


def clauses_of(sentence: Span) -> list[Clause]:
    """The independent clauses, and what opinions are about, in the order of the text."""
    found = sorted(_heads(sentence.root, None), key=lambda pair: pair[0].i)
    return [Clause(head, _chain(head), subject) for head, subject in found]


def _heads(token: Token, inherited: Token | None) -> Iterator[tuple[Token, Token | None]]:
    subject = next((c for c in token.children if c.dep_ in SUBJECTS), None) or inherited
    if token.pos_ in ("VERB", "AUX") and not _of_opinion(token):
        yield token, subject
    for child in token.children:
        if child.pos_ in ("VERB", "AUX") and _is_clause(child, token):
            yield from _heads(child, subject if child.dep_ == "conj" else None)


def _is_clause(child: Token, head: Token) -> bool:
    if child.dep_ == "conj":
        return _is_finite(child) and head.dep_ not in ("xcomp", "pcomp", "relcl", "acl")
    if child.dep_ == "ccomp":
        beside = child.i < head.i and not any(c.dep_ == "mark" for c in child.children)
        return has_subject(child) and (beside or _of_opinion(head))
    return child.dep_ == "parataxis" and has_subject(child)


def _of_opinion(token: Token) -> bool:
    return token.lemma_.lower() in OPINION and any(
        c.dep_ == "ccomp" and c.i > token.i for c in token.children
    )


def has_subject(token: Token) -> bool:
    return any(c.dep_ in SUBJECTS for c in token.children)


def _is_finite(token: Token) -> bool:
    if token.tag_ in ("VBD", "VBP", "VBZ", "MD") or is_past_form(token.text):
        return True
    return any(c.dep_ in ("aux", "auxpass") and c.lower_ != "to" for c in token.children)


def _chain(head: Token) -> tuple[Token, ...]:
    chain = [head]
    while len(chain) < 5:
        step = next((c for c in chain[-1].children if _opens(c, chain[-1])), None)
        if step is None:
            break
        chain.append(step)
    return tuple(chain)


def _opens(child: Token, verb: Token) -> bool:
    if child.pos_ not in ("VERB", "AUX") or child.i < verb.i:
        return False
    return child.dep_ == "xcomp" and not any(c.dep_ in ("dobj", "acomp") for c in verb.children)


def slots_of(clause: Clause) -> Slots:
    """Which of the five patterns the clause has, and the heads of its slots."""
    direct = _first(clause, "dobj")
    complement = next(iter(clause.children(*_COMPLEMENTS)), None)
    if direct is not None:
        return _with_object(clause, direct, complement)
    if complement is not None:
        return Slots("SVC", complement=complement)
    preposition, thing = _prepositional(clause)
    return Slots("SVO" if thing else "SV", preposition, thing)


def _with_object(clause: Clause, direct: Token, complement: Token | None) -> Slots:
    dative = _first(clause, "dative")
    if dative is not None:
        second = next((c for c in dative.children if c.dep_ == "pobj"), dative)
        return Slots("SVOO", object=direct, second=second)
    if complement is not None and complement.i > direct.i and complement.dep_ == "oprd":
        return Slots("SVOC", object=direct, complement=complement)
    return Slots("SVO", object=direct)


def _prepositional(clause: Clause) -> tuple[Token | None, Token | None]:
    for prep in clause.children("prep", "agent"):
        thing = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
        if thing is not None and prep.lower_ in _FIRM and thing.ent_type_ not in ("DATE", "TIME"):
            return prep, thing
    return None, None


def _first(clause: Clause, dep: str) -> Token | None:
    return next(iter(clause.children(dep)), None)


def tokens_of(clause: Clause, others: set[int], names: frozenset[str]) -> list[Token]:
    """The clause's own tokens in order, without other clauses, asides and addresses.

    `others` are the positions of other clauses' heads, `names` the people's first names.
    """
    kept = sorted(_gather(clause.head, others, names), key=lambda t: t.i)
    return _trimmed(kept)


def _gather(token: Token, others: set[int], names: frozenset[str]) -> Iterator[Token]:
    yield token
    for child in token.children:
        if not _is_left_out(child, others, names):
            yield from _gather(child, others, names)


def _is_left_out(child: Token, others: set[int], names: frozenset[str]) -> bool:
    if child.i in others or child.dep_ in _CUT:
        return True
    return _is_address(child, names) or _joins(child, others)


def _is_address(token: Token, names: frozenset[str]) -> bool:
    addressing = token.dep_ in ("npadvmod", "dep", "appos", "nmod", "vocative")
    return addressing and token.lower_ in names


def _joins(token: Token, others: set[int]) -> bool:
    """A conjunction before another clause belongs to neither."""
    if token.dep_ not in ("cc", "preconj"):
        return False
    return any(c.i in others and c.i > token.i for c in token.head.children)


_FILLERS = frozenset(
    "so well oh actually anyway also just finally unfortunately luckily honestly really yeah yes no hey hi"
    " wow basically guess then btw anyways plus maybe absolutely definitely totally sure but and or"
    " recently_ fortunately thankfully hopefully though".split()
)


def _trimmed(tokens: list[Token]) -> list[Token]:
    start, end = 0, len(tokens)
    while start < end and (tokens[start].is_punct or _is_filler(tokens[start])):
        start += 1
    while end > start and (
        tokens[end - 1].is_punct or tokens[end - 1].dep_ in _LINKS or tokens[end - 1].is_space
    ):
        end -= 1
    return tokens[start:end]


def _is_filler(token: Token) -> bool:
    return token.is_space or (
        token.lower_ in _FILLERS
        and token.dep_ in ("advmod", "intj", "cc", "mark", "discourse", "dep")
    )
