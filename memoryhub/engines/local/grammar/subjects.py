"""Whom a clause is about, or that it cannot be told without guessing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memoryhub.engines.local.grammar.clauses import Clause
from memoryhub.engines.local.grammar.scene import Scene, format_possessive
from memoryhub.engines.local.grammar.verbs import LIKING_VERBS, is_past_form, is_subjectless_liking
from memoryhub.engines.local.wordlists import ANIMALS, EVENTS, PEOPLE

if TYPE_CHECKING:
    from spacy.tokens import Token

SubjectRole = Literal["speaker", "we", "person", "thing", "pronoun"]
_THIRD_PERSON = frozenset({"he", "she"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`owner` is a name such as "Ana" or "Ana's sister"; `topic` what "my" goes with."""

    who: SubjectRole
    owner: str = ""
    topic: str = ""
    token: Token | None = None


def find_subject(clause: Clause, scene: Scene, antecedent: str = "") -> Subject | None:
    """The subject, or None for one that says nothing of anybody ("you", an order)."""
    token = clause.subject
    if token is None:
        return Subject("speaker", scene.speaker) if _has_implied_speaker(clause) else None
    low = token.lower_
    if low == "i":
        together = any(token.conjuncts)
        return Subject("we" if together else "speaker", scene.speaker, token=token)
    if low in ("you", "u", "y'all", "there"):
        return None
    if low == "we":
        return Subject("we", scene.speaker, token=token)
    return _find_other_subject(token, scene, antecedent)


def _find_other_subject(token: Token, scene: Scene, antecedent: str) -> Subject | None:
    if token.lower_ in _THIRD_PERSON and antecedent:
        return Subject("person", antecedent, token=token)
    if token.pos_ not in ("NOUN", "PROPN"):
        return Subject("pronoun", token=token)
    if any(c.lower_ in ("this", "that", "these", "those") for c in token.children):
        return None
    possessor = next((c for c in token.children if c.dep_ == "poss"), None)
    if possessor is not None and possessor.lower_ in ("your", "her", "his", "their", "its"):
        return None
    if token.lower_ in LIKING_VERBS:  # "Love hiking!" read as a name
        return None
    if scene.listener and token.lower_ == scene.listener.split()[0].lower():
        return None
    if token.pos_ == "PROPN" and not any(c.dep_ in ("det", "poss") for c in token.children):
        return Subject("person", _find_full_name(token, scene), token=token)
    return _build_possessed_subject(token, possessor, scene)


def _build_possessed_subject(token: Token, possessor: Token | None, scene: Scene) -> Subject:
    mine = possessor is not None and possessor.lower_ in ("my", "our")
    the = any(c.lower_ == "the" for c in token.children)
    the = the and token.lemma_.lower() in EVENTS | {"divorce"}
    topic = format_noun_phrase(token) if mine or the else ""
    if mine and token.lemma_.lower() in PEOPLE | ANIMALS:
        owner = find_name_after(token) or f"{format_possessive(scene.speaker)} {topic}"
        return Subject("person", owner, topic, token)
    return Subject("thing", scene.speaker, topic, token)


def find_name_after(token: Token) -> str:
    """The name behind a noun: ("my sister Rita") → "Rita"."""
    name = next((c for c in token.children if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
    return name.text if name is not None and name.i - token.i < 3 else ""


def format_noun_phrase(token: Token) -> str:
    left = [c for c in token.lefts if c.dep_ in ("amod", "compound", "nummod")]
    return " ".join(t.text for t in [*left, token])


def _find_full_name(token: Token, scene: Scene) -> str:
    known = next((n for n in scene.people if n.split()[0].lower() == token.lower_), "")
    return known or " ".join(t.text for t in [*token.lefts, token] if t.pos_ == "PROPN")


def _has_implied_speaker(clause: Clause) -> bool:
    """A past form or participle without a subject: "Lost my job yesterday"."""
    head = clause.head
    opening = {t.lower_ for t in head.lefts}
    if is_subjectless_liking(head):
        return True
    if head.lower_ == "been":  # "Been to Oslo", not "Been a long day"
        return any(c.dep_ == "prep" for c in head.children)
    if opening & {"gon", "been"} or head.lower_ == "gon":
        return True
    about_me = any(c.lower_ in ("me", "us") for c in clause.children("dobj", "nsubj"))
    if head.pos_ != "VERB" or head.text.startswith(("'", "’")) or opening & {"to", "let"}:
        return False
    if about_me or any(t.lower_ == "me" for t in head.subtree if t.head in clause.chain):
        return False
    if head.tag_ == "VBG":
        return head.dep_ == "ROOT" and not any(c.dep_ == "advcl" for c in head.children)
    return is_past_form(head.text) and head.tag_ in ("VBD", "VBN", "VB", "VBP")
