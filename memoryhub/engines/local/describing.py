"""Descriptors of a text that was not read with its exchange: an agent's note, a fact's sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memoryhub.engines.local.keywords import note_of
from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.parsing import Piece, parse
from memoryhub.engines.local.summaries import tokens_of
from memoryhub.engines.types import NoteDraft, Passage

_MOST = 12  # keywords (spec §16)
_CONTEXT = 500
# What stands before a turn's words in a note's content.
_SPEAKER = re.compile(r"^([^\n:：]{1,60}): ", re.M)


def described(texts: Sequence[Passage]) -> list[NoteDraft | None]:
    """One draft a text, in order. All English texts are parsed in one batch."""
    said = [without_speakers(passage.text) for passage in texts]
    languages = [language_of(text) for text in said]
    english = [text for text, language in zip(said, languages, strict=True) if language == "en"]
    parsed = iter(parse(english))
    return [
        _in_english(passage, parsed) if language == "en" else _in_words(passage, text, language)
        for passage, text, language in zip(texts, said, languages, strict=True)
    ]


def speakers_of(content: str) -> frozenset[str]:
    """The words of the names before the turns of a note's content, in lower case."""
    return frozenset(w for name in _SPEAKER.findall(content) for w in name.lower().split())


def without_speakers(content: str) -> str:
    return _SPEAKER.sub("", content)


def _in_english(passage: Passage, parsed: Iterator[tuple[Piece, ...]]) -> NoteDraft:
    docs = [piece.doc for piece in next(parsed)]
    return note_of(docs, (), speakers_of(passage.text)) or NoteDraft((), (), "")


def _in_words(passage: Passage, text: str, language: str) -> NoteDraft:
    """Chinese by its own rules; of any other language the words said most."""
    if language == "zh":
        from memoryhub.engines.local import chinese  # loads a dictionary

        people = frozenset(_SPEAKER.findall(passage.text))
        found = chinese.note_of(text.split("\n"), (), people)
        return found or NoteDraft((), (), "")
    words = tuple(word for word, _ in tokens_of(text).most_common(_MOST) if len(word) > 3)
    return NoteDraft(words, (), text.strip().split("\n")[0][:_CONTEXT])
