"""Note descriptors: keywords from noun chunks, broad tags, a line of context (spec §4.2).

Noun chunks beat the statistical extractors that were tried; a second embedding for diversity did
not pay. A text may come with its exchange, or alone: an agent's note, a fact's sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.parse import ParsedPiece, parse_texts
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.local.wordlists import COURTESIES, THEME_BY_WORD, VAGUE_NOUNS
from memoryhub.engines.types import FactCandidate, NoteDraft, Passage

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_MAX_KEYWORDS = 12  # keywords and tags (spec §16)
_MAX_CONTEXT = 500
_IDLE_NOUNS = VAGUE_NOUNS | COURTESIES  # no note is about them
_SKIPPED_ENTITY_TYPES = frozenset({"DATE", "TIME", "PERSON", "CARDINAL", "ORDINAL"})
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


def build_note_draft(
    docs: Sequence[Doc], facts: Sequence[FactCandidate], names: frozenset[str]
) -> NoteDraft | None:
    """The descriptors of one exchange; None when it names nothing."""
    keywords = extract_keywords(docs, names)
    if not keywords and not facts:
        return None
    return NoteDraft(keywords, extract_tags(docs), _choose_context(facts, keywords, names))


def extract_keywords(docs: Iterable[Doc], names: frozenset[str]) -> tuple[str, ...]:
    """Noun phrases, the most said and then the longest first, without names or times."""
    chunks = (chunk for doc in docs for chunk in doc.noun_chunks)
    counts = Counter(phrase for chunk in chunks for phrase in _extract_phrase(chunk, names))
    order = {phrase: i for i, phrase in enumerate(counts)}
    ranked = sorted(counts, key=lambda p: (-counts[p], -p.count(" "), order[p]))
    return tuple(ranked[:_MAX_KEYWORDS])


def _extract_phrase(chunk: Span, names: frozenset[str]) -> list[str]:
    root = chunk.root
    if root.pos_ not in ("NOUN", "PROPN") or root.lemma_.lower() in _IDLE_NOUNS:
        return []
    if root.ent_type_ in _SKIPPED_ENTITY_TYPES or root.lower_ in names:
        return []
    words = [t for t in chunk if t.pos_ in ("NOUN", "PROPN", "ADJ") and t.i <= root.i]
    kept = [
        t.lower_
        for t in words
        if t.ent_type_ not in _SKIPPED_ENTITY_TYPES and t.lower_ not in names | VAGUE_NOUNS
    ]
    return [" ".join([*kept[-3:-1], root.lemma_.lower()])] if kept and kept[-1].isalpha() else []


def extract_tags(docs: Iterable[Doc]) -> tuple[str, ...]:
    """Broad themes, the most often touched first."""
    lemmas = (token.lemma_.lower() for doc in docs for token in doc)
    counts = Counter(THEME_BY_WORD[lemma] for lemma in lemmas if lemma in THEME_BY_WORD)
    return tuple(tag for tag, _ in counts.most_common(_MAX_KEYWORDS))


def _choose_context(
    facts: Sequence[FactCandidate], keywords: Sequence[str], names: frozenset[str]
) -> str:
    if facts:
        return max(facts, key=lambda f: (f.confidence, len(f.text))).text[:_MAX_CONTEXT]
    return f"About {', '.join(keywords[:3])}."[:_MAX_CONTEXT]
