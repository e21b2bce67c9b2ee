"""Descriptors of a text that was not read with its exchange: an agent's note, a fact's sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memoryhub.engines.local.grammar.parse import ParsedPiece, parse_texts
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.notes.keywords import build_note_draft
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.types import NoteDraft, Passage

_MAX_KEYWORDS = 12  # keywords (spec §16)
_MAX_CONTEXT = 500
# What stands before a turn's words in a note's content.
_SPEAKER_PREFIX = re.compile(r"^([^\n:：]{1,60}): ", re.M)


def describe_passages(texts: Sequence[Passage]) -> list[NoteDraft | None]:
    """One draft a text, in order. All English texts are parsed in one batch."""
    said = [strip_speakers(passage.text) for passage in texts]
    languages = [detect_language(text) for text in said]
    english = [text for text, language in zip(said, languages, strict=True) if language == "en"]
    parsed = iter(parse_texts(english))
    return [
        _describe_english(passage, parsed)
        if language == "en"
        else _describe_other_language(passage, text, language)
        for passage, text, language in zip(texts, said, languages, strict=True)
    ]


def find_speaker_words(content: str) -> frozenset[str]:
    """The words of the names before the turns of a note's content, in lower case."""
    return frozenset(w for name in _SPEAKER_PREFIX.findall(content) for w in name.lower().split())


def strip_speakers(content: str) -> str:
    return _SPEAKER_PREFIX.sub("", content)


def _describe_english(passage: Passage, parsed: Iterator[tuple[ParsedPiece, ...]]) -> NoteDraft:
    docs = [piece.doc for piece in next(parsed)]
    return build_note_draft(docs, (), find_speaker_words(passage.text)) or NoteDraft((), (), "")


def _describe_other_language(passage: Passage, text: str, language: str) -> NoteDraft:
    """Chinese by its own rules; of any other language the words said most."""
    if language == "zh":
        from memoryhub.engines.local.chinese import extract  # loads a dictionary

        people = frozenset(_SPEAKER_PREFIX.findall(passage.text))
        found = extract.build_note_draft(text.split("\n"), (), people)
        return found or NoteDraft((), (), "")
    words = tuple(word for word, _ in count_terms(text).most_common(_MAX_KEYWORDS) if len(word) > 3)
    return NoteDraft(words, (), text.strip().split("\n")[0][:_MAX_CONTEXT])
