"""Entities by the parser's names plus the speakers by gazetteer, and triples off the facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memoryhub.engines.local.dates.calendar import WEEKDAYS
from memoryhub.engines.local.grammar.clauses import INTERJECTIONS
from memoryhub.engines.local.grammar.scene import Scene
from memoryhub.engines.local.grammar.verbs import find_lemma
from memoryhub.engines.local.wordlists import ANIMALS, JOBS, PEOPLE, VAGUE_NOUNS, split_words
from memoryhub.engines.types import EntityMention, FactCandidate, RelationCandidate
from memoryhub.subject_names import get_first_name

if TYPE_CHECKING:
    from spacy.tokens import Doc

_ENTITY_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation",
    "NORP": "concept", "EVENT": "event", "PRODUCT": "object", "WORK_OF_ART": "object",
    "LANGUAGE": "concept",
}  # fmt: skip
_TARGET_TYPES = {"lives_in": "place", "works_at": "organisation"}
# Animals with a name are told of as people are.
_SOMEBODIES = (PEOPLE | ANIMALS | JOBS) - {"team", "family"}
# What stands before a name without being part of it: "all the", "another", "lots of".
_ARTICLE = re.compile(
    r"^(?:(?:an?|the|some|any|their|all|both|another|other|this|that|these|those|such|own|so|many"
    r"|much|more|most|few|several|\d+|two|three|four|five|(?:a )?(?:lots?|loads|plenty|couple|bunch"
    r"|pair|bit|piece|kind|sort) of) )+",
    re.I,
)
# What follows one: "a reading last Fri".
_WHEN = re.compile(
    r" (?:last|next|this|every|on) (?:week|month|year|" + "|".join(sorted(WEEKDAYS)) + r")s?$", re.I
)
_QUANTITIES = split_words("lots loads plenty more most less one ones own other others it them de")
_NO_NAMES = VAGUE_NOUNS | _QUANTITIES
_PREPOSITIONS = split_words("to in at for as with on about from into of by")
_AUXILIARIES = split_words("""
    is am are was were be been being has have had do does did will would can could going not got
""")


def extract_entities(
    docs: Iterable[Doc],
    scenes: Iterable[Scene],
    triples: Sequence[tuple[str, str]],
    facts: Sequence[FactCandidate],
) -> tuple[EntityMention, ...]:
    """Mentions without repeats: the speakers, the names found, the ends of the triples. What the
    facts tell of a name counts before what the parser takes it for."""
    told = dict(_list_told_types(facts))
    found = {s.speaker.casefold(): EntityMention(s.speaker, "person") for s in scenes}
    for name, kind in _find_names(docs):
        first = next((k for k in found if get_first_name(k) == name.casefold()), name.casefold())
        found.setdefault(first, EntityMention(name, told.get(name.casefold(), kind)))
    for name, kind in triples:
        found.setdefault(name.casefold(), EntityMention(name, kind))
    return tuple(found.values())


def _list_told_types(facts: Iterable[FactCandidate]) -> Iterator[tuple[str, str]]:
    """(a name in small letters, its type) where a fact says which it is."""
    for fact in facts:
        if kind := _TARGET_TYPES.get(fact.predicate_key):
            yield find_target(fact).casefold(), kind
    for fact in facts:
        if _tells_of_somebody(fact):
            yield fact.owner.casefold(), "person"


def _tells_of_somebody(fact: FactCandidate) -> bool:
    """ "Rita is Ana's sister", or what is told of "Ana's sister" whose name is Rita."""
    if fact.subject != fact.owner:
        # "Kestrel's manager left" tells of Kestrel.
        noun = "" if fact.subject.startswith(fact.owner) else fact.subject
    else:
        noun = fact.complement if fact.verb in ("is", "was") else ""
    return noun.rpartition(" ")[2].casefold() in _SOMEBODIES


def _find_names(docs: Iterable[Doc]) -> Iterable[tuple[str, str]]:
    for doc in docs:
        for ent in doc.ents:
            if ent.label_ in _ENTITY_TYPES and re.match(r"[A-Z]\w", ent.text.strip()):
                name = re.sub(r"^the |'s?$", "", ent.text.strip(), flags=re.I)
                if not _is_weekday(name) and name.casefold() not in INTERJECTIONS:
                    yield name, _ENTITY_TYPES[ent.label_]


def _is_weekday(name: str) -> bool:
    """Days of the week, which the parser takes for people at times. Months are people's names."""
    return name.rpartition(" ")[2].casefold().removesuffix("s") in WEEKDAYS


def extract_relations(
    facts: Sequence[FactCandidate],
) -> tuple[tuple[RelationCandidate, ...], list[tuple[str, str]]]:
    """The triples of facts that hold, and the (name, type) of their ends."""
    relations, ends = [], []
    for i, fact in enumerate(facts):
        target = find_target(fact)
        if fact.polarity == "holds" and target and fact.subject.startswith(fact.owner):
            relations.append(RelationCandidate(fact.owner, derive_label(fact), target, i))
            ends += [(fact.owner, "person"), (target, _derive_target_type(fact, target))]
    return tuple(relations), ends


def find_target(fact: FactCandidate) -> str:
    """The short noun phrase a fact points at, without article; "" when it has none."""
    phrase = fact.object or (fact.complement if fact.predicate_key else "")
    short = re.split(r" (?:in|at|of|with|for|on|from|to|and|as|that|by|called) |, ", phrase)[0]
    name = _WHEN.sub("", _ARTICLE.sub("", short)).strip(' .,"“”')
    fits = 0 < len(name) <= 60 and len(name.split()) <= 5
    return name if fits and not _is_weekday(name) and not _is_vague(name) else ""


def _is_vague(name: str) -> bool:
    """Nothing that one could be told more of: "a chance", "lots", "a great time"."""
    last = name.rpartition(" ")[2]  # with a capital it is somebody's name: Hope, Joy
    return last in _NO_NAMES or last.removesuffix("s") in VAGUE_NOUNS


def derive_label(fact: FactCandidate) -> str:
    """The predicate key, else the lemmas of the verb: "went to" → "go_to"."""
    if fact.predicate_key:
        return fact.predicate_key
    words = [w for w in re.findall(r"[\w-]+", fact.verb.lower()) if w not in _AUXILIARIES]
    return "_".join(w if w in _PREPOSITIONS else find_lemma(w) for w in words) or "be"


def _derive_target_type(fact: FactCandidate, target: str) -> str:
    if kind := _TARGET_TYPES.get(fact.predicate_key):
        return kind
    return "object" if fact.pattern.startswith("SVO") else "concept"
