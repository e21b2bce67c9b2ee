"""Which claims a wish to forget means: by the relation it names, by its words, by its meaning, and
by reading it as a question beside them.

One that stands out is meant for certain. Of several alike a person says which; so too where
nothing but the last thing told can be meant, and that was several, where a word of the wish is
told by none of them, and where a part of the wish finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memoryhub.engines.local.claims.predicates import find_question_predicates, get_search_words
from memoryhub.engines.local.comparison.pairs import describe_meaning
from memoryhub.engines.local.grammar.speech import extract_wish_words
from memoryhub.engines.local.language import can_embed_language, detect_language
from memoryhub.engines.reranking.packaged import get_packaged_reranker
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, ClaimVerdict, HeldClaim

# Of what speaks for a claim: each word in common (two at most), the characters, and the topics.
_WORD_WORTH, _MOST_WORDS, _TOPIC_WORTH = 0.25, 2, 0.3
_CHARACTERS_WORTH = {"en": 0.3, "zh": 0.5}
# From here on, and this far before all others, a claim is meant for certain.
_CERTAIN, _LEAD = 0.27, 0.1
_DOUBTFUL = 0.2
_MOST_DOUBTFUL = 4
# So many claims, those that are likest, are read beside a wish; the odds, as a logarithm, from
# which on one may be meant.
_MOST_READ, _LEAST_READ = 24, -3.0


class _Likeness(NamedTuple):
    worth: float
    claim: HeldClaim


_PART = re.compile(r"[,;，；、]|\b(?:and|or|as well as)\b|以及|还有|[和跟]", re.I)
_ALL = re.compile(r"\b(?:all|any|every|everything|anything|whatever)\b|所有|全部|一切|任何", re.I)


def match_forget_wish(
    wish: ClaimCandidate, offered: Sequence[HeldClaim], comparison: ClaimComparison
) -> list[ClaimVerdict]:
    """Verdicts `forget`; not `sure` where a person is to say whether that is meant."""
    words = extract_wish_words(wish.text)
    names = (wish.owner, comparison.subject, *comparison.aliases)
    if not find_question_predicates(wish.text) and not describe_meaning(words, names).stems:
        return _take_last_told(wish, offered)
    parts = split_wish_parts(words)
    if len(parts) == 1:
        return _match_part(wish, words, wish.text, offered, comparison)
    # The cosines are those of the whole wish: a part is found by its own words.
    alone = replace(wish, similar=())
    found = [_match_part(alone, part, part, offered, comparison) for part in parts]
    clear = all(any(verdict.sure for verdict in verdicts) for verdicts in found)
    if not all(found):
        found.append(_match_part(wish, words, wish.text, offered, comparison))
    best: dict[str, ClaimVerdict] = {}
    for verdict in (each for verdicts in found for each in verdicts):
        held = best.get(verdict.target)
        best[verdict.target] = verdict if held is None or verdict.sure else held
    return [replace(each, sure=each.sure and clear) for each in best.values()]


def split_wish_parts(words: str) -> list[str]:
    """The things that a wish names: ("my job and the dog",) -> ["my job", "the dog"]."""
    parts = [part.strip() for part in _PART.split(words)]
    return [part for part in parts if describe_meaning(part).stems] or [words]


def _match_part(
    wish: ClaimCandidate,
    words: str,
    asked: str,
    offered: Sequence[HeldClaim],
    comparison: ClaimComparison,
) -> list[ClaimVerdict]:
    """`words`: what the wish says of the thing; `asked`: where its relation is read."""
    names = (wish.owner, comparison.subject, *comparison.aliases)
    keys = find_question_predicates(asked)
    by_key = [claim for claim in offered if claim.predicate_key and claim.predicate_key in keys]
    if by_key:
        wanted = _ALL.search(wish.text) is not None
        sure = wanted or (len(by_key) == 1 and _is_accounted_for(words, by_key[0], names))
        return [ClaimVerdict(wish.handle, "forget", each.handle, sure=sure) for each in by_key]
    ranked = _rank_claims(wish, words, offered, comparison, names)
    if not ranked:
        return []
    best, others = ranked[0], ranked[1:]
    alike = [each for each in others if each.worth > best.worth - _LEAD]
    if best.worth >= _CERTAIN and not alike:
        return [ClaimVerdict(wish.handle, "forget", best.claim.handle)]
    likely = [each.claim.handle for each in (best, *alike) if each.worth >= _DOUBTFUL]
    # What answers the wish as a question comes first: it tells of "the love life" in other words.
    read = _read_claims(words, [each.claim for each in ranked])
    handles = list(dict.fromkeys([*read, *likely]))[:_MOST_DOUBTFUL]
    return [ClaimVerdict(wish.handle, "forget", handle, sure=False) for handle in handles]


def _read_claims(words: str, claims: Sequence[HeldClaim]) -> list[str]:
    """The handle of the claim, of these, likest first, that best answers what the wish says of the
    thing, if one does. What is meant may not be held at all: a reading alone is never certain."""
    nearest = claims[:_MOST_READ]
    scores = get_packaged_reranker(1).score_texts(words, [claim.text for claim in nearest])
    best = max(range(len(scores)), key=lambda at: scores[at])
    return [nearest[best].handle] if scores[best] >= _LEAST_READ else []


def _is_accounted_for(words: str, claim: HeldClaim, names: tuple[str, ...]) -> bool:
    """Whether the claim tells every word of the wish: "my sister's job" is not one's own."""
    told = describe_meaning(
        f"{claim.text} {claim.predicate_key.replace('_', ' ')}"
        f" {get_search_words(claim.predicate_key)}",
        names,
    )
    return describe_meaning(words, names).stems <= told.stems


def _take_last_told(wish: ClaimCandidate, offered: Sequence[HeldClaim]) -> list[ClaimVerdict]:
    """What was told last before "forget that", which names nothing."""
    before = [claim for claim in offered if (claim.said_at or claim.valid_from) < wish.said_at]
    last = max((claim.said_at or claim.valid_from for claim in before), default=None)
    meant = [claim for claim in before if (claim.said_at or claim.valid_from) == last]
    sure = len(meant) == 1
    return [ClaimVerdict(wish.handle, "forget", c.handle, sure=sure) for c in meant]


def _rank_claims(
    wish: ClaimCandidate,
    words: str,
    offered: Sequence[HeldClaim],
    comparison: ClaimComparison,
    names: tuple[str, ...],
) -> list[_Likeness]:
    """The likest first. Cosines count where the embedder reads the language."""
    language = detect_language(wish.text)
    reads = bool(comparison.embedder) and can_embed_language(comparison.embedder, language)
    similar = wish.similar or (None,) * len(wish.offered)
    cosines = dict(zip(wish.offered, similar, strict=True)) if reads else {}
    said = describe_meaning(words, names)
    found = []
    for claim in offered:
        told = describe_meaning(f"{claim.text} {get_search_words(claim.predicate_key)}", names)
        shared = len(said.grams & told.grams) / len(said.grams) if said.grams else 0.0
        topics = len(said.topics & told.topics) / len(said.topics) if said.topics else 0.0
        worth = _WORD_WORTH * min(_MOST_WORDS, len(said.stems & told.stems))
        worth += _CHARACTERS_WORTH.get(language, 0.0) * shared + _TOPIC_WORTH * topics
        found.append(_Likeness(worth + (cosines.get(claim.handle) or 0.0), claim))
    return sorted(found, key=lambda each: -each.worth)
