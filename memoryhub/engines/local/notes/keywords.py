"""Note descriptors: keywords from noun chunks, broad tags, a line of context (spec §4.2).

Noun chunks beat the statistical extractors that were tried; a second embedding for
diversity did not pay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memoryhub.engines.local.wordlists import THEME_BY_WORD, VAGUE_NOUNS
from memoryhub.engines.types import FactCandidate, NoteDraft

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_MAX_KEYWORDS = 12  # keywords and tags (spec §16)
_SKIPPED_ENTITY_TYPES = frozenset({"DATE", "TIME", "PERSON", "CARDINAL", "ORDINAL"})
_MAX_CONTEXT = 500


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
    counts = Counter(
        p for doc in docs for chunk in doc.noun_chunks for p in _extract_phrase(chunk, names)
    )
    order = {phrase: i for i, phrase in enumerate(counts)}
    ranked = sorted(counts, key=lambda p: (-counts[p], -p.count(" "), order[p]))
    return tuple(ranked[:_MAX_KEYWORDS])


def _extract_phrase(chunk: Span, names: frozenset[str]) -> list[str]:
    root = chunk.root
    if root.pos_ not in ("NOUN", "PROPN") or root.lemma_.lower() in VAGUE_NOUNS:
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
    counts = Counter(
        THEME_BY_WORD[t.lemma_.lower()]
        for doc in docs
        for t in doc
        if t.lemma_.lower() in THEME_BY_WORD
    )
    return tuple(tag for tag, _ in counts.most_common(_MAX_KEYWORDS))


def _choose_context(
    facts: Sequence[FactCandidate], keywords: Sequence[str], names: frozenset[str]
) -> str:
    if facts:
        return max(facts, key=lambda f: (f.confidence, len(f.text))).text[:_MAX_CONTEXT]
    return f"About {', '.join(keywords[:3])}."[:_MAX_CONTEXT]
