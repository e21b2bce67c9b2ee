"""What a new claim may end at all, whatever speaks for it; and how either is seen by what decides.

A move of somebody else's ends nobody's home, and what happened once is not ended by what happens
later.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from memoryhub.engines.local.chinese.endings import find_ended_thing, may_end_claim
from memoryhub.engines.local.chinese.subjects import is_kin
from memoryhub.engines.local.claims.predicates import is_many_valued
from memoryhub.engines.local.comparison.pairs import ClaimView
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.types import ClaimCandidate, HeldClaim

_TOKEN = re.compile(rf"[^\W_{HAN}]+|[{HAN}]")
_OWNED = re.compile(r"['’]s? |的")
_IDENTITY = re.compile(r" (?:is|was) (?P<whose>[^.]{1,80}?)['’]s? |是(?P<whose_zh>[^。]{1,80}?)的")


def view_claim(claim: HeldClaim | ClaimCandidate, aliases: Collection[str]) -> ClaimView:
    """As what was learned sees it: whoever has several names has one."""
    said_at = claim.said_at or claim.valid_from if isinstance(claim, HeldClaim) else claim.said_at
    own = claim.owner.casefold() in {name.casefold() for name in aliases if name}
    own = own or tells_relative(claim, aliases)
    return ClaimView(
        text=claim.text,
        owner=claim.owner,
        person=next(iter(aliases), claim.owner) if own else claim.owner,
        said_at=said_at,
        predicate_key=claim.slots.predicate_key,
        is_single=claim.slots.is_single,
        verb=claim.slots.verb,
        object=claim.slots.object,
        kind=claim.slots.kind,
        polarity=claim.polarity,
        correction=isinstance(claim, ClaimCandidate) and claim.correction,
        said=claim.said if isinstance(claim, ClaimCandidate) else "",
    )


def tells_relative(claim: HeldClaim | ClaimCandidate, aliases: Collection[str]) -> bool:
    """Who somebody is to the person says something of that person: ("Rita is Ana's sister")."""
    told = _IDENTITY.match(claim.text.removeprefix(claim.owner))
    return told is not None and (told["whose"] or told["whose_zh"]) in aliases


_CALLED_NUMBER = re.compile(
    r"(?:number|mobile|phone|cell|手机|电话|号码?).{0,40}?\d(?:[ ().+-]{0,2}\d){6}", re.I
)
_SPEAKS_OF_NUMBER = re.compile(r"\d(?:[ ().+-]{0,2}\d){4}|\bnumber\b|号", re.I)


# How likely a new claim has to end what is held as an event: much Chinese told as one holds on
# (婚礼定在10月6号), since nothing but its words tells. Of English the tense does.
_LIKELY_OF_EVENT = 0.75


def is_likely(candidate: ClaimCandidate, ends: float) -> bool:
    chinese = detect_language(candidate.text) == "zh"
    return chinese and candidate.assisted and ends >= _LIKELY_OF_EVENT


def may_end(
    new: ClaimCandidate,
    old: HeldClaim | ClaimCandidate,
    aliases: Collection[str],
    *,
    likely: bool = False,
) -> bool:
    """What happened once is not ended by what happens later, unless that is `likely`; nor one of
    many likes by another, nor one person's home or job by another's, nor a number to call by a
    telephone."""
    if _CALLED_NUMBER.search(old.text) and not _SPEAKS_OF_NUMBER.search(new.text):
        return False
    key = new.slots.predicate_key
    if key and key == old.slots.predicate_key and _are_two_people(new.owner, old.owner, aliases):
        return False
    beside = key == old.slots.predicate_key and is_many_valued(key)
    state = old.slots.kind != "event" or old.polarity == "planned" or likely
    return state and not (beside and new.polarity == old.polarity)


def is_of_relative(new: ClaimCandidate, old: HeldClaim | ClaimCandidate) -> bool:
    """Whether it tells what is so with a relative of the one whom the older claim is about: a
    cousin's wedding is not one's own."""
    ended = new.polarity in ("ended", "denied")
    return not ended and is_kin(new.owner) and new.owner.startswith(f"{old.owner}的")


def is_of_neighbour(new: ClaimCandidate, old: HeldClaim | ClaimCandidate) -> bool:
    """Whether what is over is only beside what the older claim tells of: the chemist's next to the
    supermarket that somebody runs."""
    over = find_ended_thing(new.text) if new.polarity == "ended" else new.text
    return over != new.text and not may_end_claim(over, old.text)


def _are_two_people(one: str, other: str, aliases: Collection[str]) -> bool:
    """Two names that have nothing in common; "Ana's sister" may be anybody's."""
    known = {alias.casefold() for alias in aliases}
    if one.casefold() in known and other.casefold() in known:
        return False
    named = not any(_OWNED.search(owner) for owner in (one, other))
    return named and not is_name_within_other(one, other)


def is_name_within_other(left: str, right: str) -> bool:
    a, b = set(tokenise_text(left)), set(tokenise_text(right))
    return bool(a and b) and (a <= b or b <= a)


def tokenise_text(text: str) -> list[str]:
    return _TOKEN.findall(text.replace("’", "'").lower())
