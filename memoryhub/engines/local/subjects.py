"""Whom a clause is about, or that it cannot be told without guessing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spacy.tokens import Token

from memoryhub.engines.local.clauses import Clause
from memoryhub.engines.local.scene import Scene, possessive
from memoryhub.engines.local.verbs import is_past_form
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE

Who = Literal["speaker", "we", "person", "thing", "pronoun"]
_THIRD = frozenset({"he", "she"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`owner` is a name such as "Ana" or "Ana's sister"; `topic` what "my" goes with."""

    who: Who
    owner: str = ""
    topic: str = ""
    token: Token | None = None


def subject_of_clause(clause: Clause, scene: Scene, antecedent: str = "") -> Subject | None:
    """The subject, or None for one that says nothing of anybody ("you", an order)."""
    token = clause.subject
    if token is None:
        return Subject("speaker", scene.speaker) if _speaks_for_itself(clause) else None
    low = token.lower_
    if low == "i":
        together = any(token.conjuncts)
        return Subject("we" if together else "speaker", scene.speaker, token=token)
    if low in ("you", "u", "y'all", "there"):
        return None
    if low == "we":
        return Subject("we", scene.speaker, token=token)
    return _other(token, scene, antecedent)


def _other(token: Token, scene: Scene, antecedent: str) -> Subject | None:
    if token.lower_ in _THIRD and antecedent:
        return Subject("person", antecedent, token=token)
    if token.pos_ not in ("NOUN", "PROPN"):
        return Subject("pronoun", token=token)
    possessor = next((c for c in token.children if c.dep_ == "poss"), None)
    if possessor is not None and possessor.lower_ in ("your", "her", "his", "their", "its"):
        return None
    if token.pos_ == "PROPN" and token.ent_type_ in ("PERSON", "") and _is_name(token, scene):
        return Subject("person", _full_name(token, scene), token=token)
    return _possessed(token, possessor, scene)


def _possessed(token: Token, possessor: Token | None, scene: Scene) -> Subject:
    mine = possessor is not None and possessor.lower_ in ("my", "our")
    topic = _phrase(token) if mine else ""
    if mine and token.lemma_.lower() in PEOPLE | ANIMALS:
        return Subject("person", f"{possessive(scene.speaker)} {topic}", topic, token)
    return Subject("thing", scene.speaker, topic, token)


def _phrase(token: Token) -> str:
    left = [c for c in token.lefts if c.dep_ in ("amod", "compound", "nummod")]
    return " ".join(t.text for t in [*left, token])


def _is_name(token: Token, scene: Scene) -> bool:
    return token.ent_type_ == "PERSON" or token.lower_ in scene.first_names()


def _full_name(token: Token, scene: Scene) -> str:
    known = next((n for n in scene.people if n.split()[0].lower() == token.lower_), "")
    return known or " ".join(t.text for t in [*token.lefts, token] if t.pos_ == "PROPN")


def _speaks_for_itself(clause: Clause) -> bool:
    """A past form or participle without a subject: "Lost my job yesterday"."""
    head = clause.head
    if any(t.lower_ in ("to", "let") for t in head.lefts):
        return False
    if head.tag_ == "VBG":
        return head.lower_ in (
            "gon",
            "going",
            "working",
            "planning",
            "thinking",
            "learning",
            "trying",
        )
    return is_past_form(head.text) and head.tag_ in ("VBD", "VBN", "VB", "VBP")
