"""Whom a clause is about, or that it cannot be told without guessing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memoryhub.engines.local.grammar.clauses import Clause
from memoryhub.engines.local.grammar.scene import Scene, format_possessive
from memoryhub.engines.local.grammar.verbs import (
    LIKING_VERBS,
    is_dictionary_noun,
    is_dictionary_word,
    is_past_form,
    is_subjectless_liking,
    is_told_bare,
)
from memoryhub.engines.local.wordlists import ANIMALS, EVENTS, JOBS, PEOPLE, split_words
from memoryhub.subject_names import get_first_name

if TYPE_CHECKING:
    from spacy.tokens import Token

SubjectRole = Literal["speaker", "we", "person", "thing", "pronoun"]
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
_OTHERS = frozenset({"your", "its"})
_NAME_PARTS = frozenset({"compound", "cc", "conj"})
_TIES = frozenset({"prep", "relcl", "acl"})  # what says which thing it is


@dataclass(frozen=True, slots=True)
class Subject:
    """`owner` is a name such as "Ana" or "Ana's sister"; `topic` what "my" goes with."""

    who: SubjectRole
    owner: str = ""
    topic: str = ""
    token: Token | None = None


def find_subject(clause: Clause, scene: Scene, known: Mapping[int, str]) -> Subject | None:
    """The subject, or None for one that says nothing of anybody ("you", an order).

    `known`: what pronouns stand for, by their positions.
    """
    token = clause.subject
    if token is None:
        return Subject("speaker", scene.speaker) if _has_implied_speaker(clause) else None
    low = token.lower_
    if low in ("i", "me"):
        if clause.head.tag_ == "VBZ" and clause.head != token.head:
            return None  # "I'm vegetarian and no eggs please, gives me itching"
        together = any(token.conjuncts)
        return Subject("we" if together else "speaker", scene.speaker, token=token)
    if low in ("you", "u", "y'all"):
        return None
    named = token.is_title or not is_dictionary_word(low)
    if named and any(each.lower_ in ("i", "me") for each in token.conjuncts):
        return Subject("we", scene.speaker, token=token)  # "Matteo and I", whatever he is taken for
    if low == "there":
        return Subject("thing", scene.speaker, token=token) if scene.assisted else None
    if low == "we":
        return Subject("we", scene.speaker, token=token)
    if low == "they" and token.i not in known and (scene.assisted or _is_done_to_speaker(clause)):
        return Subject("thing", scene.speaker, token=token)
    if low in ("mine", "ours", "yours", "theirs") and token.i not in known:
        return None  # what of theirs is meant was said before, or nobody can tell
    if token.i in known:
        person = low in ("he", "she", "who") or _names_relatives(known[token.i])
        return Subject(
            "person" if person else "thing", *_split_owner(known[token.i], person, scene), token
        )
    return _find_other_subject(clause, token, scene, known)


def _names_relatives(phrase: str) -> bool:
    """ "Ana's parents", of whom "they" is told."""
    last = phrase.rpartition(" ")[2].lower()
    return last.removesuffix("s") in PEOPLE or last in ("children", "wives")


def _is_done_to_speaker(clause: Clause) -> bool:
    """ "They gave me an office": whoever they are, it is told of the speaker."""
    things = clause.children("dobj", "dative", "pobj", "nsubj")
    return any(t.lower_ in ("me", "us") for t in things)


def _split_owner(phrase: str, person: bool, scene: Scene) -> tuple[str, str]:
    """("Ana's canoe") → owner Ana, topic canoe; a person is an owner."""
    if person:
        return phrase, ""
    owner, _, thing = phrase.partition("'s ")
    return (owner, thing) if thing else (scene.speaker, phrase.removeprefix("the "))


_CALLED = split_words("bhai bro mate dude man yaar guys buddy babe hun love pal sis fam")


def _find_other_subject(
    clause: Clause, token: Token, scene: Scene, known: Mapping[int, str]
) -> Subject | None:
    if token.lower_ == "one" and (name := find_name_after(token)):
        return Subject("person", name, token=token)  # "the other one, Sorcha, is 14"
    if token.pos_ not in ("NOUN", "PROPN"):
        if token.pos_ in ("ADJ", "X") and token.text.istitle() and not token.is_sent_start:
            return Subject("person", _find_full_name(token, scene), token=token)  # "Bramble"
        return Subject("pronoun", token=token)
    if any(c.lower_ in ("this", "that", "these", "those") for c in token.children):
        return None
    possessor = next((c for c in token.children if c.dep_ == "poss"), None)
    if possessor is not None and possessor.lower_ in _OTHERS:
        return None
    if possessor is not None and possessor.lower_ in ("her", "his", "their"):
        owner = _POSSESSIVE.sub("", known.get(possessor.i, ""))
        return _build_relation(token, owner) if owner else None
    if token.lower_ in LIKING_VERBS:  # "Love hiking!" read as a name
        return None
    if token.lower_ in _CALLED and clause.head.tag_ in ("VB", "VBP"):
        return None  # "bro explain this"
    if scene.listener and token.lower_ == get_first_name(scene.listener).lower():
        return None
    if possessor is not None and possessor.pos_ in ("NOUN", "PROPN"):
        return _build_relation(token, _name_possessor(possessor, scene))
    named = token.pos_ == "PROPN" and not is_common_noun(token)
    named = named or _is_called(token, scene) or is_introduced(token) or _looks_like_name(token)
    named = named and not token.like_num and not any(map(str.isdigit, token.text))  # "HbA1c"
    if named and not any(c.dep_ in ("det", "poss") for c in token.children):
        return Subject("person", _find_full_name(token, scene), token=token)
    return _build_possessed_subject(token, possessor, scene)


def _build_relation(token: Token, possessor: str) -> Subject:
    """Somebody's sister is a person of her own; somebody's car is theirs."""
    topic = format_noun_phrase(token)
    if is_person_noun(token):
        owner = find_name_after(token) or f"{format_possessive(possessor)} {topic}"
        return Subject("person", owner, topic, token)
    return Subject("thing", possessor, topic, token)


def _name_possessor(possessor: Token, scene: Scene) -> str:
    """ "Ana's sister" of "my sister's car"; a name as it is."""
    mine = any(c.lower_ in ("my", "our") for c in possessor.children)
    bare = is_common_noun(possessor) and is_person_noun(possessor) and scene.assisted
    phrase = format_noun_phrase(possessor)
    return f"{format_possessive(scene.speaker)} {phrase}" if mine or bare else phrase


def is_common_noun(token: Token) -> bool:
    """A word for things or people, which in lower case, or where a sentence begins, is often taken
    for a name: "landlord is Mr Pell", "Manager is Chantal"."""
    if token.pos_ == "PROPN":
        opens = bool(token.is_sent_start) and token.lower_ in PEOPLE
        known = token.lower_ in PEOPLE or is_dictionary_noun(token.lower_)
        return (opens or token.text.islower()) and known
    return token.pos_ == "NOUN"


_SOMEBODIES = PEOPLE | ANIMALS | JOBS


def is_person_noun(token: Token) -> bool:
    return token.lemma_.lower() in _SOMEBODIES


def _build_possessed_subject(token: Token, possessor: Token | None, scene: Scene) -> Subject:
    mine = (possessor is not None and possessor.lower_ in ("my", "our")) or is_own(token, scene)
    the = any(c.lower_ == "the" for c in token.children)
    the = the and token.lemma_.lower() in EVENTS | {"divorce"}
    topic = format_noun_phrase(token) if mine or the else ""
    if mine and token.pos_ == "PROPN" and any(is_person_noun(c) for c in _list_compounds(token)):
        return Subject("person", token.text, "", token)  # "our neighbour Keith"
    if mine and token.lemma_.lower() in PEOPLE | ANIMALS:
        owner = find_name_after(token) or f"{format_possessive(scene.speaker)} {topic}"
        return Subject("person", owner, topic, token)
    return Subject("thing", scene.speaker, topic, token)


def _looks_like_name(token: Token) -> bool:
    """ "Trish is gone": a capital on no word that there is, whatever the parser takes it for."""
    bare = not any(c.dep_ in ("det", "poss", "compound", "amod") for c in token.lefts)
    known = token.lower_ in JOBS | PEOPLE | ANIMALS | EVENTS or is_dictionary_word(token.lower_)
    return bare and token.text.istitle() and not known


def _list_compounds(token: Token) -> list[Token]:
    return [c for c in token.lefts if c.dep_ == "compound" and c.text.islower()]


def is_introduced(token: Token) -> bool:
    """ "tegan is my housemate", "Biscuit is our dog": whoever is that to the speaker has a name,
    whatever the parser takes it for."""
    somebody = PEOPLE | ANIMALS
    role = next((c for c in token.head.children if c.dep_ in ("attr", "acomp")), None)
    if token.head.lemma_ != "be" or role is None:
        return False
    if role.pos_ == "NUM" and token.text.istitle() and token.nbor(1) == token.head:
        return not any(token.children) and not is_dictionary_noun(token.lower_)  # "Rua is six"
    if role.lemma_.lower() not in somebody:
        return False
    bare = token.tag_ in ("NN", "NNP") and all(c.dep_ in _NAME_PARTS for c in token.children)
    mine = any(c.lower_ in ("my", "our") for c in role.children)
    return bare and mine and token.lemma_.lower() not in somebody | JOBS


_HELD_FOR_THE_DEAD = split_words("funeral wake burial cremation memorial")


def is_own(token: Token, scene: Scene) -> bool:
    """ "The boiler" and "landlord", told to an assistant by the only person, are theirs."""
    if is_introduced(token) or _looks_like_name(token):
        return False
    if not scene.assisted or not is_common_noun(token) or token.ent_type_ in ("DATE", "TIME"):
        return False
    if _is_called(token, scene) or token.lemma_.lower() in _HELD_FOR_THE_DEAD:
        return False
    felt = any(c.lower_ in ("me", "us") for c in token.head.children)
    if felt and not any(c.lower_ == "the" for c in token.children):
        return False  # "hazelnut gives me a rash"
    lefts = [c for c in token.children if c.dep_ in ("det", "poss", "nummod", "predet")]
    bare = not lefts and token.tag_ in ("NN", "NNP")
    # "He's big, a shepherd, the name is Bary": whose it is was said before.
    the = [c.lower_ for c in lefts] == ["the"] and token.lower_ not in ("name", "names")
    return (bare or the) and not any(c.dep_ in _TIES for c in token.children)


def _is_called(token: Token, scene: Scene) -> bool:
    """Whether it is the name of somebody known, whatever the parser takes it for, and however
    hurriedly it is written."""
    name = token.text
    if name.islower() and name.isalpha() and not is_dictionary_word(name):
        name = name.capitalize()
    return name[:1].isupper() and bool(scene.find_full_name(name))


def find_name_after(token: Token) -> str:
    """The name behind a noun: ("my sister Rita") → "Rita"."""
    name = next((c for c in token.children if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
    return name.text if name is not None and name.i - token.i < 3 else ""


def format_noun_phrase(token: Token) -> str:
    """ "old dog" of "our old dog"; who is called by what they are is that also at the beginning of
    a sentence: "Dad" is the same as "my dad"."""
    left = [c for c in token.lefts if c.dep_ in ("amod", "compound", "nummod")]
    called = token.is_sent_start and token.text.istitle() and token.lower_ in PEOPLE
    return " ".join([*(t.text for t in left), token.lower_ if called else token.text])


_CALLED_BY = split_words("aunt auntie uncle doctor professor coach nurse grandma grandpa")


def _is_role_word(token: Token) -> bool:
    """ "Husband Angus", "housemate Tegan"; an aunt is called so."""
    plain = token.text.islower() or bool(token.is_sent_start)
    return plain and is_person_noun(token) and token.lower_ not in _CALLED_BY


def _find_full_name(token: Token, scene: Scene) -> str:
    known = next((n for n in scene.people if get_first_name(n).lower() == token.lower_), "")
    known = known or scene.find_full_name(token.text) or scene.find_full_name(token.text.title())
    named = " ".join(
        t.text
        for t in [*token.lefts, token]
        if t.pos_ == "PROPN" and not (_is_role_word(t) and t is not token)
    )
    return known or named or token.text.capitalize()


def _is_side(clause: Clause) -> bool:
    """ "left meniscus", which nobody left."""
    thing = next(iter(clause.children("dobj")), None)
    if thing is None or any(c.dep_ in ("det", "poss") for c in thing.children):
        return False
    return thing.tag_ == "NN" and thing.text.islower()


_PERCEIVING_VERBS = frozenset({"see", "hear", "watch", "feel", "know", "think", "look"})


def _has_implied_speaker(clause: Clause) -> bool:
    """A past form or participle without a subject: "Lost my job yesterday"."""
    head = clause.head
    opening = {t.lower_ for t in head.lefts}
    if is_subjectless_liking(head) or is_told_bare(head):
        return True
    if head.lower_ == "been":  # "Been to Oslo", not "Been a long day"
        return any(c.dep_ == "prep" for c in head.children)
    if opening & {"gon", "been"} or head.lower_ == "gon":
        return True
    if head.pos_ != "VERB" or head.text.startswith(("'", "’")) or opening & {"to", "let"}:
        return False
    about_me = any(c.lower_ in ("me", "us") for c in clause.children("dobj", "nsubj", "dative"))
    if about_me or any(t.lower_ == "me" for t in head.subtree if t.head in clause.chain):
        return False
    if head.tag_ == "VBG" and head.dep_ != "ROOT" and head.i > head.head.i:
        whose = next((c for c in head.head.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if whose is not None and whose.lower_ not in ("i", "we"):
            return False  # "She teaches, turning 60 in June"
    if head.lemma_ in ("stand", "abide", "bear") and {"ca", "can", "cant"} & opening:
        return True  # "can't stand them"
    if head.lower_ == "left" and _is_side(clause):
        return False
    if head.tag_ == "VBG":
        if head.dep_ not in ("ROOT", "conj") and head.lemma_.lower() in _PERCEIVING_VERBS:
            return False  # "Seeing them laugh, it was lovely"
        return not any(c.dep_ == "advcl" and c.i < head.i for c in head.children)
    return is_past_form(head.text) and head.tag_ in ("VBD", "VBN", "VB", "VBP")
