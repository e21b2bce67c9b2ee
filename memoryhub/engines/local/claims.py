"""What the rules dare say of two claims. Doubt is left to a person: see `notes.judging`.

Nothing here decides: opposite words about the same thing are suspected and reviewed, a wish to
forget is matched by its words, and names are only kept apart, never merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoryhub.engines.local.chinese_endings import may_end
from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.predicates import predicate_words, question_predicates
from memoryhub.engines.local.wordlists import words
from memoryhub.engines.types import Candidate, Comparison, HeldClaim, NamePair, Verdict

_TOKEN = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
_LIKING = words("like likes love loves enjoy enjoys adore adores prefer prefers")
_DISLIKING = words("dislike dislikes hate hates detest detests loathe loathes avoid avoids")
_LIKING_ZH, _DISLIKING_ZH = ("喜欢", "爱", "热爱"), ("不喜欢", "讨厌", "不爱", "厌恶")
_SAYS_NOTHING = words(
    """
    a an the i my me you your his her their its it that this of to in on at for with about and or
    please forget delete remove erase don't do not any more anymore remember everything what said
    can could would want wants all is are was were be has have had from
    """
)
_SAYS_NOTHING_ZH = frozenset("请你我的了把忘记掉删除去不要再记住得关于吧我们")


class Deciding:
    def resolve(self, comparison: Comparison) -> list[Verdict]:
        """Suspicions (`sure` False), and what wishes to forget are about."""
        held = {claim.handle: claim for claim in comparison.held}
        known: dict[str, HeldClaim | Candidate] = {**held}
        known |= {c.handle: c for c in comparison.candidates}
        found: list[Verdict] = []
        for candidate in comparison.candidates:
            if candidate.is_wish:
                found += _meant(candidate, [held[h] for h in candidate.offered if h in held])
            else:
                found += _suspected(candidate, [(h, known[h]) for h in candidate.offered])
        return found

    def merge_check(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        """Apart, unless one name's words are all in the other: that is left open."""
        return {p.handle: False for p in pairs if not _one_within_other(p.left, p.right)}


def _suspected(
    candidate: Candidate, offered: Iterable[tuple[str, HeldClaim | Candidate]]
) -> list[Verdict]:
    for handle, claim in offered:
        if _opposite(candidate.text, claim.text):
            return [Verdict(candidate.handle, "contradict", handle, sure=False)]
        if _ended(candidate, claim):
            return [Verdict(candidate.handle, "deny", handle, sure=False)]
    return []


def _ended(candidate: Candidate, claim: HeldClaim | Candidate) -> bool:
    """A Chinese ending that may be about a claim it does not name by its predicate."""
    over = candidate.polarity == "ended" and claim.polarity == "holds"
    return over and language_of(candidate.text) == "zh" and may_end(candidate.text, claim.text)


def _opposite(new: str, old: str) -> bool:
    """A like and a dislike of the same thing."""
    ours, theirs = _leaning(new), _leaning(old)
    if not (ours and theirs) or ours == theirs:
        return False
    a, b = _things(new), _things(old)
    return bool(a and b) and (a <= b or b <= a)


def _leaning(text: str) -> int:
    found = set(_tokens(text))
    if found & _DISLIKING or any(word in text for word in _DISLIKING_ZH):
        return -1
    if found & {"not", "never", "doesn't", "don't", "doesn"}:
        return 0  # denials are code's to decide
    return 1 if found & _LIKING or any(word in text for word in _LIKING_ZH) else 0


def _things(text: str) -> frozenset[str]:
    """What follows the word that leans, without the words that say nothing."""
    cut = re.split(
        rf"(?i)\b(?:{'|'.join(sorted(_LIKING | _DISLIKING))})\b|不喜欢|讨厌|不爱|厌恶|喜欢|热爱|爱",
        text,
        maxsplit=1,
    )
    return frozenset(_tokens(cut[-1])) - _SAYS_NOTHING - _SAYS_NOTHING_ZH


def _meant(wish: Candidate, offered: Sequence[HeldClaim]) -> list[Verdict]:
    """The claims a wish names by their predicate, else by all the words it has."""
    keys = question_predicates(wish.text)
    by_key = [claim for claim in offered if claim.predicate_key and claim.predicate_key in keys]
    asked = frozenset(_tokens(wish.text)) - _SAYS_NOTHING - _SAYS_NOTHING_ZH
    asked -= set(_tokens(wish.owner))
    by_word = [claim for claim in offered if asked and asked <= _words(claim)]
    return [Verdict(wish.handle, "forget", claim.handle) for claim in by_key or by_word]


def _words(claim: HeldClaim) -> frozenset[str]:
    known = f"{claim.text} {predicate_words(claim.predicate_key)}"
    found = _tokens(known)
    return frozenset([*found, *(word.rstrip("s") for word in found)])


def _one_within_other(left: str, right: str) -> bool:
    a, b = set(_tokens(left)), set(_tokens(right))
    return bool(a and b) and (a <= b or b <= a)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.replace("’", "'").lower())
