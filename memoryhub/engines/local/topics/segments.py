"""Chains by time and words, themes by shared words, segments by extracts. No similarity of
meaning is needed here, and none is claimed.

On dialogue a silence and then a greeting find the borders of topics; embedding drift does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice

from memoryhub.engines.local import summarise
from memoryhub.engines.local.topics.cues import opens_topic
from memoryhub.engines.local.wordlists import VAGUE_NOUNS, split_words
from memoryhub.engines.types import ChainJudgement, Passage, SegmentText, Theme

# A silence this long ends a chain, unless what comes after it takes up its words.
CHAIN_GAP = timedelta(minutes=30)
_MAX_CHAIN_GAP = timedelta(days=2)
_KEYWORDS, _NAME = 12, 120
_CHAIN_SENTENCES, _THEME_SENTENCES, _SEGMENT_SENTENCES = 2, 3, 4
# Two groups of pages this alike are one theme.
_MIN_THEME_LIKENESS = 0.18
_SPEAKER_PREFIX = re.compile(r"^[^:\n]{1,60}: ", re.M)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_COMMON_WORDS = split_words("""
    about after again also always away back because been before being come could down even ever
    every from gets give goes going good have here into keep know like made make many maybe more
    most much must never only other over really right said same says should since some such sure
    take tell than thank thanks that them then there these they think this those today told took
    tomorrow true very want well went were what when where which while will with without would
    yesterday your yours
""")
_MIN_SENTENCE_TOKENS = 4  # tokens that make a sentence worth quoting


def summarise_chains(
    pages: Sequence[Passage], continues: Sequence[bool], summary: str = ""
) -> tuple[str, ...]:
    """For each page, two sentences out of what was read from its chain up to there.

    `summary` is that of the chain which the first page may go on from.
    """
    told = split_sentences(summary)
    summed: list[str] = []
    for page, goes_on in zip(pages, continues, strict=True):
        told = [*(told if goes_on else []), *_select_statements(page)]
        summed.append(summarise.summarise_texts(told, _CHAIN_SENTENCES))
        told = split_sentences(summed[-1])
    return tuple(summed)


class TopicRules:
    def chain_pages(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        """By the gap and the first words."""
        flags = tuple(
            before is not None and _continues_chain(before, page)
            for before, page in zip([previous, *pages], pages, strict=False)
        )
        return ChainJudgement(flags, summarise_chains(pages, flags, summary))

    def extract_themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """The pages in groups that share words."""
        return [_build_theme(group) for group in _group_pages(pages)]

    def refresh_segment(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        told = [
            *split_sentences(summary),
            *(claim for page in pages for claim in _select_statements(page)),
        ]
        counts = Counter(dict.fromkeys(keywords, 1))
        counts.update(keyword for page in pages for keyword in select_keywords(page))
        text = summarise.summarise_texts(told, _SEGMENT_SENTENCES)
        return SegmentText(text, _select_most_common(counts))


def split_sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _continues_chain(before: Passage, page: Passage) -> bool:
    silence = page.at - before.at
    if silence > _MAX_CHAIN_GAP or opens_topic(_strip_speakers(page)[:400]):
        return False
    shared = _collect_keyword_terms(before) & _collect_keyword_terms(page)
    return silence <= CHAIN_GAP or bool(shared)


def _collect_keyword_terms(page: Passage) -> set[str]:
    """What a page names: of its keywords each word, for "oak" takes up "old oak"."""
    return {token for keyword in select_keywords(page) for token in summarise.count_terms(keyword)}


def _strip_speakers(page: Passage) -> str:
    """The words without the speakers' names in front."""
    return _SPEAKER_PREFIX.sub("", page.text)


def _select_statements(page: Passage) -> list[str]:
    """Claims read from the page; without any, its statements of some length."""
    if page.claims:
        return list(page.claims)
    return [
        s
        for s in split_sentences(_strip_speakers(page))
        if len(summarise.count_terms(s)) >= _MIN_SENTENCE_TOKENS and s[-1] not in "?？"
    ]


def select_keywords(page: Passage) -> tuple[str, ...]:
    """Those of its note; without one, the words said most."""
    if page.keywords:
        return page.keywords[:_KEYWORDS]
    counts = summarise.count_terms(_strip_speakers(page))
    telling = (word for word, _ in counts.most_common() if _is_telling_word(word))
    return tuple(islice(telling, _KEYWORDS // 2))


def _is_telling_word(word: str) -> bool:
    """Short and common words name nothing; a Chinese word is two characters long."""
    common = len(word) < 4 or word in _COMMON_WORDS or word in VAGUE_NOUNS
    return word[0] >= "\u3400" or not common


def _group_pages(pages: Sequence[Passage]) -> list[list[Passage]]:
    """Pages joined to the group they share most words with, as long as those are alike."""
    groups = [[page] for page in pages]
    while len(groups) > 1:
        bags = [_build_term_bag(group) for group in groups]
        pairs = [(a, b) for b in range(len(groups)) for a in range(b)]
        alike = {(a, b): summarise.compute_cosine(bags[a], bags[b]) for a, b in pairs}
        a, b = max(pairs, key=lambda pair: (alike[pair], pair[0] - pair[1], -pair[0]))
        if alike[a, b] < _MIN_THEME_LIKENESS:
            break
        groups[a] = [*groups[a], *groups.pop(b)]
    return groups


def _build_term_bag(group: Sequence[Passage]) -> dict[str, float]:
    """Keywords count thrice: they are what the pages are about."""
    counts: Counter[str] = Counter()
    for page in group:
        counts.update(summarise.count_terms(_strip_speakers(page)))
        for keyword in select_keywords(page):
            counts.update(dict.fromkeys(summarise.count_terms(keyword), 2))
    return {token: float(count) for token, count in counts.items()}


def _build_theme(pages: Sequence[Passage]) -> Theme:
    counts = Counter(keyword for page in pages for keyword in select_keywords(page))
    keywords = _select_most_common(counts)
    told = [claim for page in pages for claim in _select_statements(page)]
    text = summarise.summarise_texts(told, _THEME_SENTENCES)
    text = text or _strip_speakers(pages[0])[:200].strip()
    name = ", ".join(keywords[:2])[:_NAME]
    return Theme(name, keywords, text, tuple(page.handle for page in pages))


def _select_most_common(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(keyword for keyword, _ in counts.most_common(_KEYWORDS))
