"""People and animals whose name is told in passing: "my sister Rita cooked it".

Who that is to the speaker is a claim of its own, whatever becomes of the sentence around it: the
next time only the name is said, or only "my sister".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.scene import ParsedTurn, format_possessive
from memoryhub.engines.local.grammar.subjects import is_person_noun
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import FactCandidate, SourceSpan

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MINE = frozenset({"my", "our"})
# What stays beside the noun: it tells one brother from another.
TELLING_WORDS = split_words("""
    best old older eldest oldest young younger youngest little big half step twin late ex former
    new next-door great
""")
_TITLES = split_words("mr mrs ms miss dr prof doctor professor aunt uncle mr. mrs. ms. dr. prof.")
# Who is somebody's only as long as they hold a post, or a room.
POST_HOLDERS = split_words("""
    boss manager colleague coworker teammate teacher coach supervisor tutor assistant apprentice
    lodger tenant flatmate roommate housemate cleaner nanny carer trainer therapist doctor dentist
""")
_LEAVING_VERBS = split_words("leave quit resign retire")
_POSTS = split_words("company job firm team post office school place")
_MOST_BESIDE, _MOST_NAMES = 3, 3  # words between "my" and the noun, words of a name
_CONFIDENCE = 0.8


def read_introductions(turn: ParsedTurn, offset: int, span: Span) -> Iterator[FactCandidate]:
    """A claim for each name that stands right behind what its bearer is to the speaker."""
    for token in span:
        if token.lower_ not in _MINE:
            continue
        noun = _find_person_noun(token, span)
        name = _read_name(noun, span) if noun is not None else []
        if noun is None or not name:
            continue
        relation = " ".join([*(t.lower_ for t in span.doc[token.i + 1 : noun.i]), noun.lower_])
        called = span.doc[name[0].i : name[-1].i + 1].text
        whose = format_possessive(turn.scene.speaker)
        last = name[-1]
        over = _is_over(noun, name[-1])
        yield FactCandidate(
            owner=called,
            speaker=turn.utterance.speaker,
            text=f"{called} {'was' if over else 'is'} {whose} {relation}.",
            pattern="SVC",
            sources=(
                SourceSpan(
                    turn.utterance.handle, offset + token.idx, offset + last.idx + len(last.text)
                ),
            ),
            confidence=_CONFIDENCE,
            verb="was" if over else "is",
            complement=f"{whose} {relation}",
            subject=called,
            polarity="ended" if over else "holds",
        )


def _find_person_noun(possessor: Token, span: Span) -> Token | None:
    """The noun that "my" belongs to, if it is somebody; only telling words stand between."""
    for token in possessor.doc[possessor.i + 1 : min(possessor.i + 2 + _MOST_BESIDE, span.end)]:
        if is_person_noun(token) and token.text.islower():
            return token
        if token.lower_ not in TELLING_WORDS:
            return None
    return None


def _is_over(noun: Token, name: Token) -> bool:
    """Whether the sentence around it tells that somebody died, or left the post they are named
    by: "my manager Priya left"."""
    subject = next((t for t in (noun, name) if t.dep_ in ("nsubj", "nsubjpass")), None)
    verb = subject.head if subject is not None else name
    if subject is None or any(c.dep_ == "neg" for c in verb.children):
        return False
    if verb.tag_ not in ("VBD", "VBN"):
        return False
    if verb.lemma_.lower() in ("die", "pass"):
        return verb.lemma_.lower() == "die" or any(c.lower_ == "away" for c in verb.children)
    objects = {c.lemma_.lower() for c in verb.children if c.dep_ == "dobj"}
    left = verb.lemma_.lower() in _LEAVING_VERBS and objects <= _POSTS
    return left and noun.lemma_.lower() in POST_HOLDERS


def _read_name(noun: Token, span: Span) -> list[Token]:
    """The capitals right behind the noun, or behind a comma where another closes the name."""
    rest = list(span.doc[noun.i + 1 : span.end])
    comma = bool(rest) and rest[0].text == ","
    name: list[Token] = []
    for token in rest[comma:]:
        tied = bool(name) and not name[-1].whitespace_ and token.text in ("-", "–")
        if not (tied or _is_name_word(token)) or len(name) == _MOST_NAMES:
            break
        name.append(token)
    after = rest[comma + len(name)] if comma + len(name) < len(rest) else None
    closed = not comma or after is None or after.is_punct
    only_title = len(name) == 1 and name[0].lower_ in _TITLES
    return name if name and closed and not only_title else []


def _is_name_word(token: Token) -> bool:
    known = token.ent_type_ in ("DATE", "TIME", "GPE", "LOC", "NORP", "LANGUAGE")
    named = token.pos_ == "PROPN" or token.ent_type_ == "PERSON"
    return named and token.text[:1].isupper() and len(token) > 1 and not known
