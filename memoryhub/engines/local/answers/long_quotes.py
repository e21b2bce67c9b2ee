"""Of a long sentence that tells many things at once, the clauses that answer.

"I'm at the depot four days and look after my mum the other three, she's got COPD, and …": who asks
where they work does not want to read all of it. The reader reads each clause beside the question;
around the best one stands as much as says whom and what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memoryhub.engines.local.answers.evidence import EvidenceSentence
from memoryhub.engines.local.answers.quoting import TRAILING
from memoryhub.engines.local.answers.told_changes import LINK
from memoryhub.engines.local.language import HAN, LanguageCode
from memoryhub.engines.reranking.packaged import get_packaged_reranker

# Characters from which on a sentence is cut, and of which something is left at least.
_LONG = {"en": 170, "zh": 80}
_LONGEST = 2_000  # of more each clause would have to be read
_ENOUGH = {"en": 70, "zh": 36}
_FEWEST, _MOST = 3, 3  # clauses: of a sentence that is cut, and of those that answer
_AS_GOOD = 2.0  # by how much less sure the reader may be of another
_CLAUSE = {
    "en": re.compile(
        r"(?:(?![,;:]\s|\s[–—-]+\s|\s(?:and|but|so|because|cos|while|then)\s+(?:i|i['’]\w+|im|ive|we"
        r"|we['’]\w+|he|she|they|it|its|it['’]s|he['’]s|she['’]s|my|our|the|there|now|[\w-]+['’]s)\s)"
        r"[\s\S])+",
        re.I,
    ),
    "zh": re.compile(rf"(?:(?![，,；;、]|(?<=[{HAN}\w])\s+(?=[{HAN}])|(?<=[{HAN}])\s+)[\s\S])+"),
}
# A clause that says of whom or what only together with the one before it.
_GOES_ON = re.compile(
    r"\W*(?:(?:and|but|so|then|because|cos|while)\s+)*(?:he|she|they|it|its|his|her|their|which|who"
    r"|that|this)(?:\b|['’])|\W*[她他它这那]",
    re.I,
)
_CUT = "…"


def shorten_to_clauses(
    question: str, sentence: EvidenceSentence, language: LanguageCode
) -> EvidenceSentence:
    """The parts of a long sentence that the reader takes for the answer; the sentence itself if it
    is not long, or has few clauses."""
    text = sentence.text
    if not _LONG[language] <= len(text) <= _LONGEST:
        return sentence
    clauses = [m.span() for m in _CLAUSE[language].finditer(text) if re.search(r"\w", m[0])]
    if len(clauses) < _FEWEST:
        return sentence
    scores = get_packaged_reranker(1).score_texts(question, [text[a:b] for a, b in clauses])
    ranked = sorted(range(len(clauses)), key=lambda at: -scores[at])
    kept = {at for at in ranked[:_MOST] if scores[at] >= scores[ranked[0]] - _AS_GOOD}
    for at in sorted(kept):
        while at and _GOES_ON.match(text[slice(*clauses[at])]):
            at -= 1
            kept.add(at)
    for at in ranked:
        if sum(clauses[k][1] - clauses[k][0] for k in kept) >= _ENOUGH[language]:
            break
        kept |= {at} & {near + side for near in kept for side in (-1, 1)}
    first, last = min(kept), max(kept)
    runs = [at for at in sorted(kept) if at == first or at - 1 not in kept]
    parts = [_cut_run(text, clauses, at, kept) for at in runs]
    told = f" {_CUT} ".join(parts)
    opening = f"{_CUT} " if first else ""
    closing = f" {_CUT}" if last + 1 < len(clauses) else ""
    span = (sentence.start + clauses[first][0], sentence.start + clauses[last][1])
    return replace(sentence, start=span[0], end=span[1], text=f"{opening}{told}{closing}")


def _cut_run(text: str, clauses: Sequence[tuple[int, int]], at: int, kept: set[int]) -> str:
    """The clauses that follow each other from this one on, without what links them to others."""
    last = at
    while last + 1 in kept:
        last += 1
    start, end = clauses[at][0], clauses[last][1]
    link = LINK.match(text, start, end)
    return TRAILING.sub("", text[link.end() if link and at else start : end])
