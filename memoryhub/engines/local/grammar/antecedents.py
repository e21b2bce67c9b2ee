"""Who "he" or "she" may be: the one other person or pet spoken of before (spec E25)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.scene import Scene, format_possessive
from memoryhub.engines.local.grammar.subjects import find_name_after, format_noun_phrase
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_PERSONAL_PRONOUN = re.compile(r"\b(?:he|she)\b", re.I)
_PERSON_ENTITY_TYPES = frozenset({"", "PERSON", "NORP"})  # what the parser takes a bare name for
_PARTICIPANT_DEPENDENCIES = frozenset({"nsubj", "nsubjpass", "dobj", "conj"})


def has_personal_pronoun(text: str) -> bool:
    return bool(_PERSONAL_PRONOUN.search(text))


def find_antecedent(here: Span, owners: Iterable[str], before: Iterable[Doc], scene: Scene) -> str:
    """The only person named in `here` or owning facts of it, else in `before`; or nobody ("").

    Two candidates are none: nothing is guessed.
    """
    named = _find_people(here, scene) | ({*owners} - {scene.speaker})
    if not named:
        named = {name for doc in before for name in _find_people(doc[:], scene)}
    return named.pop() if len(named) == 1 else ""


def _find_people(span: Span, scene: Scene) -> set[str]:
    return {name for token in span if (name := _find_name(token, scene))}


def _find_name(token: Token, scene: Scene) -> str:
    if token.lower_ in scene.list_first_names() or token.dep_ == "compound":
        return ""
    if token.pos_ == "PROPN":
        return _join_name(token) if _is_somebody(token) else ""
    if token.dep_ == "attr":  # "Rex is my dog"
        return ""
    mine = any(c.lower_ in ("my", "our") for c in token.children if c.dep_ == "poss")
    if not mine or token.lemma_.lower() not in PEOPLE | ANIMALS or find_name_after(token):
        return ""
    return f"{format_possessive(scene.speaker)} {format_noun_phrase(token)}"


def _is_somebody(token: Token) -> bool:
    if token.dep_ == "appos":
        return token.head.lemma_.lower() in PEOPLE | ANIMALS
    if token.dep_ == "ROOT":  # "Only Bolota."
        return len(list(token.subtree)) < 4
    to_them = token.dep_ == "pobj" and token.head.lower_ in ("to", "with", "about", "for")
    takes_part = to_them or token.dep_ in _PARTICIPANT_DEPENDENCIES
    return takes_part and token.ent_type_ in _PERSON_ENTITY_TYPES


def _join_name(token: Token) -> str:
    return " ".join(t.text for t in [*token.lefts, token] if t.pos_ == "PROPN")
