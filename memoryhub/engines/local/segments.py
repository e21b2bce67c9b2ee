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

from memoryhub.engines.local import summaries
from memoryhub.engines.local.topics import opens_topic
from memoryhub.engines.local.wordlists import VAGUE, words
from memoryhub.engines.types import ChainJudgement, Passage, SegmentText, Theme

# A silence this long ends a chain, unless what comes after it takes up its words.
GAP = timedelta(minutes=30)
_LONGEST = timedelta(days=2)
_KEYWORDS, _NAME = 12, 120
_CHAIN_SENTENCES, _THEME_SENTENCES, _SEGMENT_SENTENCES = 2, 3, 4
# Two groups of pages this alike are one theme.
_ALIKE = 0.18
_LINE = re.compile(r"^[^:\n]{1,60}: ", re.M)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_COMMON = words(
    """
    about after again also always away back because been before being come could down even ever
    every from gets give goes going good have here into keep know like made make many maybe more
    most much must never only other over really right said same says should since some such sure
    take tell than thank thanks that them then there these they think this those today told took
    tomorrow true very want well went were what when where which while will with without would
    yesterday your yours
    """
)
_SHORTEST = 4  # tokens that make a sentence worth quoting


def summaries_so_far(
    pages: Sequence[Passage], continues: Sequence[bool], summary: str = ""
) -> tuple[str, ...]:
    """For each page, two sentences out of what was read from its chain up to there.

    `summary` is that of the chain which the first page may go on from.
    """
    told = sentences_of(summary)
    summed: list[str] = []
    for page, goes_on in zip(pages, continues, strict=True):
        told = [*(told if goes_on else []), *_told(page)]
        summed.append(summaries.summarise(told, _CHAIN_SENTENCES))
        told = sentences_of(summed[-1])
    return tuple(summed)


class Segmenting:
    def chain(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        """By the gap and the first words."""
        flags = tuple(
            before is not None and _goes_on(before, page)
            for before, page in zip([previous, *pages], pages, strict=False)
        )
        return ChainJudgement(flags, summaries_so_far(pages, flags, summary))

    def themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """The pages in at most two groups that share words."""
        return [_theme(group) for group in _groups(pages)]

    def segment_refresh(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        told = [*sentences_of(summary), *(claim for page in pages for claim in _told(page))]
        counts = Counter(dict.fromkeys(keywords, 1))
        counts.update(keyword for page in pages for keyword in keywords_of(page))
        text = summaries.summarise(told, _SEGMENT_SENTENCES)
        return SegmentText(text, _most(counts))


def sentences_of(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _goes_on(before: Passage, page: Passage) -> bool:
    silence = page.at - before.at
    if silence > _LONGEST or opens_topic(_spoken(page)[:400]):
        return False
    return silence <= GAP or bool(_named(before) & _named(page))


def _named(page: Passage) -> set[str]:
    """What a page names: of its keywords each word, for "oak" takes up "old oak"."""
    return {token for keyword in keywords_of(page) for token in summaries.tokens_of(keyword)}


def _spoken(page: Passage) -> str:
    """The words without the speakers' names in front."""
    return _LINE.sub("", page.text)


def _told(page: Passage) -> list[str]:
    """Claims read from the page; without any, its statements of some length."""
    if page.claims:
        return list(page.claims)
    return [
        s
        for s in sentences_of(_spoken(page))
        if len(summaries.tokens_of(s)) >= _SHORTEST and s[-1] not in "?？"
    ]


def keywords_of(page: Passage) -> tuple[str, ...]:
    """Those of its note; without one, the words said most."""
    if page.keywords:
        return page.keywords[:_KEYWORDS]
    counts = summaries.tokens_of(_spoken(page))
    telling = (word for word, _ in counts.most_common() if _tells(word))
    return tuple(islice(telling, _KEYWORDS // 2))


def _tells(word: str) -> bool:
    """Short and common words name nothing; a Chinese word is two characters long."""
    return word[0] >= "\u3400" or (len(word) > 3 and word not in _COMMON and word not in VAGUE)


def _groups(pages: Sequence[Passage]) -> list[list[Passage]]:
    """Pages joined to the group they share most words with, until two are left, and one if those
    are alike."""
    groups = [[page] for page in pages]
    while len(groups) > 1:
        bags = [_bag(group) for group in groups]
        pairs = [(a, b) for b in range(len(groups)) for a in range(b)]
        alike = {(a, b): summaries.cosine(bags[a], bags[b]) for a, b in pairs}
        a, b = max(pairs, key=lambda pair: (alike[pair], pair[0] - pair[1], -pair[0]))
        if len(groups) == 2 and alike[a, b] < _ALIKE:
            break
        groups[a] = [*groups[a], *groups.pop(b)]
    return groups


def _bag(group: Sequence[Passage]) -> dict[str, float]:
    """Keywords count thrice: they are what the pages are about."""
    counts: Counter[str] = Counter()
    for page in group:
        counts.update(summaries.tokens_of(_spoken(page)))
        for keyword in keywords_of(page):
            counts.update(dict.fromkeys(summaries.tokens_of(keyword), 2))
    return {token: float(count) for token, count in counts.items()}


def _theme(pages: Sequence[Passage]) -> Theme:
    counts = Counter(keyword for page in pages for keyword in keywords_of(page))
    keywords = _most(counts)
    told = [claim for page in pages for claim in _told(page)]
    text = summaries.summarise(told, _THEME_SENTENCES) or _spoken(pages[0])[:200].strip()
    name = ", ".join(keywords[:2])[:_NAME]
    return Theme(name, keywords, text, tuple(page.handle for page in pages))


def _most(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(keyword for keyword, _ in counts.most_common(_KEYWORDS))
