"""Note descriptors: keywords from noun chunks, broad tags, a line of context (spec §4.2).

Noun chunks beat the statistical extractors that were tried; a second embedding for
diversity did not pay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc, Span

from memoryhub.engines.local.wordlists import TAGS, VAGUE
from memoryhub.engines.types import FactCandidate, NoteDraft

_MOST = 12  # keywords and tags (spec §16)
_TIMES = frozenset({"DATE", "TIME", "PERSON", "CARDINAL", "ORDINAL"})
_CONTEXT = 500


def note_of(
    docs: Sequence[Doc], facts: Sequence[FactCandidate], names: frozenset[str]
) -> NoteDraft | None:
    """The descriptors of one exchange; None when it names nothing."""
    keywords = keywords_of(docs, names)
    if not keywords and not facts:
        return None
    return NoteDraft(keywords, tags_of(docs), _context(facts, keywords, names))


def keywords_of(docs: Iterable[Doc], names: frozenset[str]) -> tuple[str, ...]:
    """Noun phrases, the most said and then the longest first, without names or times."""
    counts = Counter(p for doc in docs for chunk in doc.noun_chunks for p in _phrase(chunk, names))
    order = {phrase: i for i, phrase in enumerate(counts)}
    ranked = sorted(counts, key=lambda p: (-counts[p], -p.count(" "), order[p]))
    return tuple(ranked[:_MOST])


def _phrase(chunk: Span, names: frozenset[str]) -> list[str]:
    root = chunk.root
    if root.pos_ not in ("NOUN", "PROPN") or root.lemma_.lower() in VAGUE:
        return []
    if root.ent_type_ in _TIMES or root.lower_ in names:
        return []
    words = [t for t in chunk if t.pos_ in ("NOUN", "PROPN", "ADJ") and t.i <= root.i]
    kept = [t.lower_ for t in words if t.ent_type_ not in _TIMES and t.lower_ not in names | VAGUE]
    return [" ".join([*kept[-3:-1], root.lemma_.lower()])] if kept and kept[-1].isalpha() else []


def tags_of(docs: Iterable[Doc]) -> tuple[str, ...]:
    """Broad themes, the most often touched first."""
    counts = Counter(
        TAGS[t.lemma_.lower()] for doc in docs for t in doc if t.lemma_.lower() in TAGS
    )
    return tuple(tag for tag, _ in counts.most_common(_MOST))


def _context(facts: Sequence[FactCandidate], keywords: Sequence[str], names: frozenset[str]) -> str:
    if facts:
        return max(facts, key=lambda f: (f.confidence, len(f.text))).text[:_CONTEXT]
    return f"About {', '.join(keywords[:3])}."[:_CONTEXT]
