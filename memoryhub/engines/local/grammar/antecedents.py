"""What "he", "she", "it" and "they" stand for: persons and things spoken of before (spec E25).

Two people are none: nothing is guessed. Of things the one that was told of last is taken, first
what was brought in ("I bought a canoe"), then what was spoken about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memoryhub.engines.local.dates.calendar import MONTHS, WEEKDAYS
from memoryhub.engines.local.grammar.clauses import INTERJECTIONS
from memoryhub.engines.local.grammar.scene import Scene, format_possessive
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.grammar.subjects import (
    find_name_after,
    format_noun_phrase,
    is_common_noun,
    is_person_noun,
)
from memoryhub.engines.local.grammar.verbs import is_dictionary_noun
from memoryhub.engines.local.wordlists import ANIMALS, JOBS, PEOPLE, VAGUE_NOUNS, split_words
from memoryhub.subject_names import get_first_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_PRONOUN = re.compile(r"\b(?:s?he|her|his|him|it|its|it's|they|them|this|that|that's|one)\b", re.I)
_PERSON_ENTITY_TYPES = frozenset({"", "PERSON", "NORP"})  # what the parser takes a bare name for
_TIME_TYPES = frozenset({"DATE", "TIME", "CARDINAL", "MONEY", "ORDINAL", "PERCENT"})
_PARTICIPANT_DEPENDENCIES = frozenset({"nsubj", "nsubjpass", "dobj", "conj"})
# Where a thing stands when it is what a sentence is about, the most telling first.
_BROUGHT_IN, _SPOKEN_OF = ("dobj", "attr"), ("nsubj", "nsubjpass", "ROOT")
_HAVING_VERBS = split_words("have get buy own adopt rent order find start join build keep lease")

# Nouns that are said to somebody, of whom nothing more is told.
_GREETINGS = split_words(
    "thanks thank congrats congratulation cheers hug welcome hello regard wish"
)
_NO_THINGS = PEOPLE | JOBS | VAGUE_NOUNS | _GREETINGS


def may_point_back(text: str) -> bool:
    """Whether some word of `text` may stand for what was spoken of before."""
    return bool(_PRONOUN.search(text))


def find_antecedent(
    here: Span,
    owners: Iterable[str],
    before: Sequence[Doc],
    scene: Scene,
    pronoun: str = "",
    besides: Collection[str] = (),
    heard: Doc | None = None,
) -> str:
    """The only person that facts of `here` are about, else named in it, else in `before`; or
    nobody (""). Who is no woman is not `pronoun` "she"; and none of those `besides`. Of `heard`,
    an assistant's words among `before`, only names that it asks about or a person said: not
    "Pearl is traditional."

    Two candidates are none: nothing is guessed.
    """
    if scene.assisted and (name := _find_introduced(here, scene, pronoun)) and name not in besides:
        return name
    told = {name for name in owners if name != scene.speaker and _may_be_called(pronoun, name)}
    told -= {*besides}
    named = told
    if len(told) != 1 or not scene.assisted:
        named = (_find_people(here, scene, pronoun) | told) - {*besides}
    for doc in reversed(before):
        found = _find_people(doc[:], scene, pronoun) - {*besides} if not named else set[str]()
        if doc is heard:
            asked = (s.text for s in doc.sents if is_question(s.text) and '"' not in s.text)
            known = " ".join([*(d.text for d in before if d is not doc), *asked])
            found = {n for n in found if _is_known(n, known, scene)}
        named = named or found
    return named.pop() if len(named) == 1 else ""


def _is_known(name: str, told: str, scene: Scene) -> bool:
    """Somebody by what they are ("Ana's aunt"), or by a name that was told before."""
    return "'" in name or name in told or bool(scene.find_full_name(get_first_name(name)))


_MEN = split_words("""
    father dad daddy brother bro son husband hubby boyfriend bf grandfather grandpa grandad granddad
    uncle nephew grandson stepdad stepfather stepson stepbrother fiance lad waiter actor
""")
_WOMEN = split_words("""
    mother mom mum sister sis daughter wife missus girlfriend gf grandmother grandma granny nan nana
    gran aunt niece granddaughter stepmum stepmother stepdaughter stepsister fiancee fiancée actress
""")


def _may_be_called(pronoun: str, name: str) -> bool:
    """Whether somebody who goes by what they are ("Ana's aunt", "Mr Claeys") may be he, or she."""
    title = name.partition(" ")[0].rstrip(".").lower()
    if title == "mr":
        return pronoun not in ("she", "her")
    if title in ("mrs", "ms", "miss"):
        return pronoun not in ("he", "him", "his")
    role = name.rpartition(" ")[2].lower()
    if pronoun in ("he", "him", "his"):
        return role not in _WOMEN
    return role not in _MEN if pronoun in ("she", "her") else True


def find_thing(spans: Iterable[Span], scene: Scene, *, many: bool = False) -> str:
    """The thing told of last in `spans` (nearest first), in words that stand alone; or "".

    `many`: several, as "they" stands for.
    """
    for span in spans:
        things = [t for t in span if _is_thing(t) and (t.tag_ in ("NNS", "NNPS")) == many]
        for places in (_BROUGHT_IN, _SPOKEN_OF):
            placed = [t for t in things if t.dep_ in places]
            if placed:
                return name_thing(placed[-1], scene)
    return ""


_MOTHERS = split_words("mother mom mum mam mammy mama ma")
_FATHERS = split_words("father dad daddy da papa pa")


def find_relatives(spans: Iterable[Span], scene: Scene) -> str:
    """The relatives told of last in `spans` (nearest first), as "they" stands for: "Ana's parents"
    of "my parents", and of a mother and a father; or ""."""
    mine = format_possessive(scene.speaker)
    for span in spans:
        for token in reversed(span):
            if token.tag_ == "NNS" and token.lemma_.lower() in PEOPLE and _is_speakers_own(token):
                return f"{mine} {format_noun_phrase(token)}"
        named = {token.lemma_.lower() for token in span if _is_speakers_own(token)}
        if named & _MOTHERS and named & _FATHERS:
            return f"{mine} parents"
    return ""


def _is_speakers_own(token: Token) -> bool:
    """ "My parents", "mum": nobody else's."""
    beside = {c.lower_ for c in token.children if c.dep_ in ("poss", "det")}
    return not beside or not beside.isdisjoint({"my", "our"})


def find_place_spoken_of(before: Span, scene: Scene) -> str:
    """What a sentence named last behind a preposition: the truck of "I came in the truck"."""
    named = (
        t for t in before if t.dep_ == "pobj" and any(c.dep_ in ("det", "poss") for c in t.lefts)
    )
    things = [t for t in named if _is_thing(t) and t.tag_ in ("NN", "NNP")]
    return name_thing(things[-1], scene) if things else ""


def name_thing(noun: Token, scene: Scene) -> str:
    """ "Ana's canoe" of "I bought a canoe", "the offer" of "we got the offer"."""
    if noun.pos_ == "PROPN":
        return _join_name(noun)
    phrase = format_noun_phrase(noun)
    if is_dictionary_noun(phrase.split()[0]):  # it began the sentence
        phrase = f"{phrase[:1].lower()}{phrase[1:]}"
    owner = next((c for c in noun.children if c.dep_ == "poss"), None)
    if owner is None:
        had = noun.dep_ == "dobj" and noun.head.lemma_.lower() in _HAVING_VERBS
        mine = had and any(c.lower_ in ("i", "we") for c in noun.head.children)
        return f"{format_possessive(scene.speaker)} {phrase}" if mine else f"the {phrase}"
    low = owner.lower_
    if low in ("my", "our"):
        return f"{format_possessive(scene.speaker)} {phrase}"
    if low in ("your", "his", "her", "their", "its"):
        yours = low == "your" and scene.listener
        return f"{format_possessive(scene.listener)} {phrase}" if yours else f"the {phrase}"
    return f"{' '.join(t.text for t in owner.subtree if t.dep_ != 'case')}'s {phrase}"


def _is_thing(token: Token) -> bool:
    if token.pos_ not in ("NOUN", "PROPN") or token.ent_type_ in _TIME_TYPES:
        return False
    if _is_alone(token):
        return False  # "Grand." names nothing
    lemma = token.lemma_.lower()
    if token.ent_type_ == "PERSON" or lemma in MONTHS or lemma in WEEKDAYS:
        return False
    return lemma not in _NO_THINGS


def _is_alone(token: Token) -> bool:
    return all(t == token or t.is_punct for t in token.sent)


def _find_people(span: Span, scene: Scene, pronoun: str) -> set[str]:
    """Those who take part; where nobody does, those of whom something is named: "my aunt's car"."""
    named = [(token, name) for token in span if (name := _find_name(token, scene))]
    able = [(token, name) for token, name in named if _may_be_named(pronoun, token, name)]
    acting = {name for token, name in able if token.dep_ != "poss"}
    return acting or {name for _, name in able}


def _find_introduced(here: Span, scene: Scene, pronoun: str) -> str:
    """Who was named last, where that said who they are: "his nurse is called Beth, she …"."""
    for token in reversed(here):
        if token.pos_ == "PROPN" and _is_introduced_name(token):
            name = _join_name(token)
            return name if _may_be_called(pronoun, name) else ""
        if _find_name(token, scene):
            return ""
    return ""


def _is_introduced_name(token: Token) -> bool:
    called = token.head if token.dep_ == "oprd" and token.head.dep_ == "acl" else None
    if called is not None:  # "I met someone called Dev"
        return called.head.lower_ in _SOMEBODY or is_person_noun(called.head)
    naming = token.head.lemma_.lower() == "be" if token.dep_ == "attr" else token.dep_ == "oprd"
    if not naming:
        return False
    told = (c for c in token.head.children if c.dep_ in ("nsubj", "nsubjpass"))
    return any(map(is_person_noun, told))


_SOMEBODY = split_words("someone somebody guy man woman girl boy lad bloke lady chap person")


def _may_be_named(pronoun: str, token: Token, name: str) -> bool:
    beside = token.head.lemma_ if token.dep_ == "appos" else name  # "my brother Karl"
    return _may_be_called(pronoun, name) and _may_be_called(pronoun, beside)


def list_things_said(docs: Iterable[Doc]) -> Iterator[Span]:
    """The sentences of `docs`, the latest first."""
    for doc in reversed(list(docs)):
        yield from reversed(list(doc.sents))


_NOBODY = frozenset({"mine", "ours", "yours", "theirs"}) | INTERJECTIONS


def _find_name(token: Token, scene: Scene) -> str:
    nobody = token.dep_ == "compound" or token.lower_ in _NOBODY
    if nobody or token.lower_ in scene.list_first_names():
        return ""
    if token.pos_ == "PROPN" and not (scene.assisted and is_common_noun(token)):
        if (
            _is_alone(token)
            and token.ent_type_ != "PERSON"
            and not scene.find_full_name(token.text)
        ):
            return ""  # "Navy."
        return _join_name(token) if _is_somebody(token) else ""
    if token.dep_ == "attr":  # "Rex is my dog"
        return ""
    new = scene.assisted and token.dep_ == "dobj" and token.lemma_.lower() in ANIMALS
    if new and (owner := _find_new_owner(token, scene)):  # "Jo got a puppy"
        return f"{format_possessive(owner)} {format_noun_phrase(token)}"
    owners = ("my", "our", "your") if scene.assisted else ("my", "our")
    mine = any(c.lower_ in owners for c in token.children if c.dep_ == "poss")
    bare = scene.assisted and not any(c.dep_ in ("det", "poss", "nummod") for c in token.children)
    if not (mine or bare) or token.lemma_.lower() not in PEOPLE | ANIMALS or find_name_after(token):
        return ""
    return f"{format_possessive(scene.speaker)} {format_noun_phrase(token)}"


def _find_new_owner(animal: Token, scene: Scene) -> str:
    """Who gets an animal that nothing was told of before, "" for nobody one can name."""
    new = [c.lower_ for c in animal.children if c.dep_ in ("det", "poss")] in (["a"], ["an"])
    if not new or animal.head.lemma_.lower() not in _HAVING_VERBS:
        return ""
    owner = next((c for c in animal.head.children if c.dep_ == "nsubj"), None)
    if owner is None or owner.lower_ in ("i", "we"):
        return scene.speaker
    return _join_name(owner) if owner.pos_ == "PROPN" else ""


def _is_somebody(token: Token) -> bool:
    if token.dep_ == "appos":
        child = token.head.lower_ in ("youngest", "oldest", "eldest", "one")
        return child or token.head.lemma_.lower() in PEOPLE | ANIMALS
    if token.dep_ == "ROOT":  # "Only Bolota."
        return len(list(token.subtree)) < 4
    to_them = token.dep_ == "pobj" and token.head.lower_ in ("to", "with", "about", "for")
    takes_part = to_them or token.dep_ in _PARTICIPANT_DEPENDENCIES
    # "Jo and I broke up", of which the parser may take Jo for a time.
    takes_part = takes_part or (token.dep_ == "npadvmod" and token.ent_type_ == "PERSON")
    return takes_part and token.ent_type_ in _PERSON_ENTITY_TYPES


def _join_name(token: Token) -> str:
    parts = (t for t in [*token.lefts, token] if t.pos_ == "PROPN")
    return " ".join(t.text for t in parts if not (t.text.islower() and t.lower_ in PEOPLE | JOBS))
