"""What the rules dare say of two claims. Doubt is left to a person: see `notes.facts.judge`.

Nothing here decides: opposite words about the same thing are suspected and reviewed, a wish to
forget is matched by its words, and names are only kept apart, never merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoryhub.engines.local.chinese.endings import may_end_claim
from memoryhub.engines.local.claims.predicates import find_question_predicates, get_search_words
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimVerdict,
    HeldClaim,
    NamePair,
)

_TOKEN = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
_LIKING_WORDS = split_words("like likes love loves enjoy enjoys adore adores prefer prefers")
_DISLIKING_WORDS = split_words("""
    dislike dislikes hate hates detest detests loathe loathes avoid avoids
""")
_LIKING_ZH, _DISLIKING_ZH = ("喜欢", "爱", "热爱"), ("不喜欢", "讨厌", "不爱", "厌恶")
_STOP_WORDS = split_words("""
    a an the i my me you your his her their its it that this of to in on at for with about and
    or please forget delete remove erase don't do not any more anymore remember everything what
    said can could would want wants all is are was were be has have had from
""")
_STOP_WORDS_ZH = frozenset("请你我的了把忘记掉删除去不要再记住得关于吧我们")


class ClaimRules:
    def resolve_claims(self, comparison: ClaimComparison) -> list[ClaimVerdict]:
        """Suspicions (`sure` False), and what wishes to forget are about."""
        held = {claim.handle: claim for claim in comparison.held}
        known: dict[str, HeldClaim | ClaimCandidate] = {**held}
        known |= {c.handle: c for c in comparison.candidates}
        found: list[ClaimVerdict] = []
        for candidate in comparison.candidates:
            if candidate.is_wish:
                offered = [held[h] for h in candidate.offered if h in held]
                found += _match_forget_wish(candidate, offered)
            else:
                found += _suspect_conflict(candidate, [(h, known[h]) for h in candidate.offered])
        return found

    def compare_names(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        """Apart, unless one name's words are all in the other: that is left open."""
        return {p.handle: False for p in pairs if not _is_name_within_other(p.left, p.right)}


def _suspect_conflict(
    candidate: ClaimCandidate, offered: Iterable[tuple[str, HeldClaim | ClaimCandidate]]
) -> list[ClaimVerdict]:
    for handle, claim in offered:
        if _is_opposite(candidate.text, claim.text):
            return [ClaimVerdict(candidate.handle, "contradict", handle, sure=False)]
        if _may_be_ended(candidate, claim):
            return [ClaimVerdict(candidate.handle, "deny", handle, sure=False)]
    return []


def _may_be_ended(candidate: ClaimCandidate, claim: HeldClaim | ClaimCandidate) -> bool:
    """A Chinese ending that may be about a claim it does not name by its predicate."""
    over = candidate.polarity == "ended" and claim.polarity == "holds"
    chinese = over and detect_language(candidate.text) == "zh"
    return chinese and may_end_claim(candidate.text, claim.text)


def _is_opposite(new: str, old: str) -> bool:
    """A like and a dislike of the same thing."""
    ours, theirs = _detect_leaning(new), _detect_leaning(old)
    if not (ours and theirs) or ours == theirs:
        return False
    a, b = _extract_things(new), _extract_things(old)
    return bool(a and b) and (a <= b or b <= a)


def _detect_leaning(text: str) -> int:
    found = set(_tokenise_text(text))
    if found & _DISLIKING_WORDS or any(word in text for word in _DISLIKING_ZH):
        return -1
    if found & {"not", "never", "doesn't", "don't", "doesn"}:
        return 0  # denials are code's to decide
    return 1 if found & _LIKING_WORDS or any(word in text for word in _LIKING_ZH) else 0


def _extract_things(text: str) -> frozenset[str]:
    """What follows the word that leans, without the words that say nothing."""
    cut = re.split(
        rf"(?i)\b(?:{'|'.join(sorted(_LIKING_WORDS | _DISLIKING_WORDS))})\b"
        r"|不喜欢|讨厌|不爱|厌恶|喜欢|热爱|爱",
        text,
        maxsplit=1,
    )
    return frozenset(_tokenise_text(cut[-1])) - _STOP_WORDS - _STOP_WORDS_ZH


def _match_forget_wish(wish: ClaimCandidate, offered: Sequence[HeldClaim]) -> list[ClaimVerdict]:
    """The claims a wish names by their predicate, else by all the words it has."""
    keys = find_question_predicates(wish.text)
    by_key = [claim for claim in offered if claim.predicate_key and claim.predicate_key in keys]
    asked = frozenset(_tokenise_text(wish.text)) - _STOP_WORDS - _STOP_WORDS_ZH
    asked -= set(_tokenise_text(wish.owner))
    by_word = [claim for claim in offered if asked and asked <= _collect_claim_words(claim)]
    return [ClaimVerdict(wish.handle, "forget", claim.handle) for claim in by_key or by_word]


def _collect_claim_words(claim: HeldClaim) -> frozenset[str]:
    known = f"{claim.text} {get_search_words(claim.predicate_key)}"
    found = _tokenise_text(known)
    return frozenset([*found, *(word.rstrip("s") for word in found)])


def _is_name_within_other(left: str, right: str) -> bool:
    a, b = set(_tokenise_text(left)), set(_tokenise_text(right))
    return bool(a and b) and (a <= b or b <= a)


def _tokenise_text(text: str) -> list[str]:
    return _TOKEN.findall(text.replace("’", "'").lower())
