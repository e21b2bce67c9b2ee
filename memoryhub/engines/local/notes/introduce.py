"""Who is who across notes: one says "my cat, Pepper", and another speaks of Pepper alone.

A note that names somebody without saying who that is learns it from a neighbour that does: what a
question after "the cat" then finds. English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoryhub.engines.local.chinese.people import KIN
from memoryhub.engines.local.claims.introductions import POST_HOLDERS, TELLING_WORDS
from memoryhub.engines.local.grammar.scene import format_possessive
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.notes.describe import strip_speakers
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE
from memoryhub.engines.types import NoteEvolution, NoteState

_TURN = re.compile(r"^([^\n:：]{1,60}): (.*)$", re.M)
# Who holds a post, or rents a room, is soon somebody else.
_LASTING = (PEOPLE | ANIMALS) - POST_HOLDERS
_NOUNS = "|".join(sorted(_LASTING, key=lambda word: (-len(word), word)))
_TELLING = "|".join(sorted(TELLING_WORDS))
_ROLE = rf"(?P<role>(?:(?:{_TELLING}) ){{0,2}}(?:{_NOUNS}))"
_NAMED = r"(?P<name>[A-Z][\w-]*[a-z](?: [A-Z][\w-]*[a-z])?)"
_INTRODUCTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Mm]y|[Oo]ur) {_ROLE} (?:(?:is )?(?:called|named) )?{_NAMED}\b",
        rf"\b(?:[Mm]y|[Oo]ur) {_ROLE}, {_NAMED}(?=[,.!;:)]|$)",
        rf"\b(?:an?|[Oo]ur|[Mm]y) {_ROLE} (?:called|named) {_NAMED}\b",
        rf"(?:^|(?<=[,;:] )|\b(?:with|and|saw|met) ){_NAMED}"
        rf"(?: is |, who is |, )(?:my|our) {_ROLE}\b",
        rf"(?:我|我们|我家)的?(?P<role>{KIN}|朋友|猫|狗)(?:的名字)?叫(?P<name>[\u4e00-\u9fff]{{2,3}})"
        r"(?=[，。！？\s]|$)",
        r"养了?[一两]?[只条]?(?P<role>[\u4e00-\u9fff]{0,2}[猫狗])[，,]?(?:名字)?叫"
        r"(?P<name>[\u4e00-\u9fff]{2,3})(?=[，。！？\s]|$)",
    )
)
# Who somebody no longer is, or might be, introduces nobody.
_NOT_SO = re.compile(
    r"\b(?:ex|former|late|was|were|used to|if|maybe|not|never|no longer|wish)\b|n't\b"
    r"|前|曾|以前|不|没|如果|要是",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")
_MOST_KEYWORDS = 12


@dataclass(frozen=True, slots=True)
class Introduction:
    """`name` is `whose` `role`, in the words of a note."""

    name: str
    role: str
    whose: str

    def format_sentence(self, language: str) -> str:
        if language == "zh":
            return f"{self.name}是{self.whose}的{self.role}。"
        return f"{self.name} is {format_possessive(self.whose)} {self.role}."

    def format_reason(self, language: str) -> str:
        if language == "zh":
            return f"相近的笔记说{self.name}是{self.whose}的{self.role}"
        return (
            f"A note near it says that {self.name} is {format_possessive(self.whose)} {self.role}"
        )


def find_introductions(note: NoteState) -> Iterator[Introduction]:
    """Who is named in a note together with what they are to the one who speaks."""
    for speaker, said in _TURN.findall(note.content):
        for sentence in _SENTENCE.findall(said):
            if sentence.rstrip().endswith(("?", "？")) or _NOT_SO.search(sentence):
                continue
            for pattern in _INTRODUCTIONS:
                for found in pattern.finditer(sentence):
                    yield Introduction(found["name"], found["role"], speaker)


def evolve_by_introductions(
    note: NoteState, others: Sequence[NoteState]
) -> Iterator[NoteEvolution]:
    """What `note` learns of those it names, and those others of whom it introduces."""
    own, theirs = list(find_introductions(note)), [list(find_introductions(o)) for o in others]
    yield from _teach(note, [each for found in theirs for each in found], own)
    for other, introduced in zip(others, theirs, strict=True):
        yield from _teach(other, own, introduced)


def _teach(
    note: NoteState, known: Sequence[Introduction], own: Sequence[Introduction]
) -> Iterator[NoteEvolution]:
    """Of each name one role at most: two who are called alike are told apart by nobody here."""
    said = strip_speakers(note.content)
    language = detect_language(note.content)
    introduced = {each.name for each in own}
    for name in dict.fromkeys(each.name for each in known):
        meant = {each for each in known if each.name == name}
        if len(meant) != 1 or name in introduced or not _is_named(name, said):
            continue
        (who,) = meant
        sentence = who.format_sentence(language)
        if sentence in note.context or who.role in said or _speaks_of_more(name, said):
            continue
        keywords = tuple(dict.fromkeys((*note.keywords, who.role)))[:_MOST_KEYWORDS]
        yield NoteEvolution(
            note.handle,
            keywords=keywords,
            context=f"{note.context} {sentence}".strip()
            if language != "zh"
            else note.context + sentence,
            why=who.format_reason(language),
        )


def _is_named(name: str, said: str) -> bool:
    return (
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name), said)
        is not None
    )


def _speaks_of_more(name: str, said: str) -> bool:
    """ "Rosa Lind" is not the Rosa who was introduced."""
    return name.isascii() and re.search(rf"\b{re.escape(name)} [A-Z][a-z]", said) is not None
