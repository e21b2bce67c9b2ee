"""What a message in whole puts an end to.

Many a message tells by its circumstances that something is over, which none of the claims that it
makes does by itself: "morocco is not happening, the gearbox went" of who was to work there in
spring. So it is read beside what is held, with the question that it answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from memoryhub.engines.local.comparison.exchanges import begins_something
from memoryhub.engines.local.comparison.may_end import (
    is_of_neighbour,
    is_of_relative,
    may_end,
    view_claim,
)
from memoryhub.engines.local.comparison.pairs import describe_meaning, find_cues
from memoryhub.engines.local.comparison.reading import get_change_reader, write_message
from memoryhub.engines.local.comparison.ties import is_unreal
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimVerdict,
    HeldClaim,
    ToldMessage,
)

# From these sums on a message ends a claim unasked, or a person is asked: of the logarithm of how
# much likelier than not it does, and of how likely a claim that it makes does by itself, which
# weighs four times as much; from a higher one where it says that something stays, or the claim
# tells two things.
_ENDS, _ENDS_ONE_OF_SEVERAL, _ASKS = 5.5, 7.0, 2.0
_WEIGHT_OF_CLAIM = 4.0
_LEAST = 1.0  # odds of what is ended unasked
# No message ends unasked what none of its claims is as likely to end; what none is as likely to is
# not read, and no more claims held are.
_LEAST_CHANCE, _LEAST_READ, _MOST_READ = 0.12, 0.05, 8
# Who goes elsewhere to hear it may like it as before.
_LIKES = re.compile(
    r"\b(?:likes?|loves?|enjoys?|prefers?|fond|fan|hates?)\b|喜欢|欢喜|热爱|[最很]爱|讨厌"
)
_TELLS_AGE = re.compile(
    r"(?<!\d)\d{1,2}(?! ?\w*[万千百%])(?=\W|$)|\bturn(?:s|ed|ing)?\b|\bbirthday\b|\byears? old\b"
    r"|岁|生日|满\w",
    re.I,
)
_UNCHANGED_ZH = re.compile(r"(?P<what>[\u4e00-\u9fff]{2,4}?)(?:还是)?没(?:涨|降|变|换|动|改)")
# "keeps bees and drives the van"
_PARTS = re.compile(r"[,;，；](?!\d)| and (?:is|has|[a-z]{2,}(?<!s)s) ")
_DAYS = re.compile(
    r"\b(?:mon|tue|wed|thu|fri|sat(?=urday)|sun(?=day))(?=(?:s|nes|rs|ur)?(?:days?)?\b)"
    r"|(?<=[周期拜])[一二三四五六日天]",
    re.I,
)


# How likely a candidate is to end a claim, by their handles.
Chances = dict[tuple[str, str], float]


def end_by_messages(
    comparison: ClaimComparison, found: Sequence[ClaimVerdict], chances: Chances
) -> list[ClaimVerdict]:
    """What messages end of the claims offered, beside what was `found` of theirs. Each ending rests
    on the claim of the message that speaks for it most."""
    held: dict[str, HeldClaim | ClaimCandidate] = {c.handle: c for c in comparison.held}
    held |= {c.handle: c for c in comparison.candidates}
    aliases = (comparison.subject, *comparison.aliases)
    settled = {each.target for each in found if each.sure}
    decided = {each.candidate for each in found if each.op in ("contradict", "deny")}
    more = list[ClaimVerdict]()
    for message, told in _list_messages(comparison.candidates):
        near = [h for h in _select_endable(told, held, chances) if h not in settled]
        read = get_change_reader().score_texts(
            write_message(message, told[0].speaker), [held[handle].text for handle in near]
        )
        likely = [
            _LikelyEnd(handle, held[handle], odds, _find_chance(told, handle, chances))
            for odds, handle in zip(read, near, strict=True)
            if not _leaves_value(message, held[handle])
        ]
        likely.sort(key=lambda each: -each.weight)
        ended = [v for each in likely if (v := _end_unasked(told, each, chances, aliases))]
        settled |= {each.target for each in ended}
        more += ended
        # One question a message, the likeliest, where nothing else was decided of it.
        if likely and not ended and decided.isdisjoint(each.handle for each in told):
            more += [v for each in likely[:1] if (v := _ask_about(told, each, aliases))]
    return more


class _LikelyEnd(NamedTuple):
    """A claim held that a message may end: the logarithm of how much likelier than not it does, and
    how likely a claim that it makes does by itself."""

    handle: str
    claim: HeldClaim | ClaimCandidate
    odds: float
    chance: float

    @property
    def weight(self) -> float:
        return self.odds + _WEIGHT_OF_CLAIM * self.chance


def _find_chance(told: Sequence[ClaimCandidate], handle: str, chances: Chances) -> float:
    return max(chances.get((each.handle, handle), 0.0) for each in told)


def asks_of_messages(candidate: ClaimCandidate) -> bool:
    """Whether what it may end is asked of its message in whole."""
    return candidate.assisted and not candidate.is_wish and candidate.message is not None


def _list_messages(
    candidates: Sequence[ClaimCandidate],
) -> Iterator[tuple[ToldMessage, list[ClaimCandidate]]]:
    """What was told to an assistant, with the claims that were read of it."""
    assisted = filter(asks_of_messages, candidates)
    for (message, _), told in groupby(assisted, key=lambda c: (c.message, c.said_at)):
        assert message is not None
        yield message, list(told)


def _select_endable(
    told: Sequence[ClaimCandidate],
    held: Mapping[str, HeldClaim | ClaimCandidate],
    chances: Chances,
) -> list[str]:
    """Of the claims that hold or are planned and were told before, those that a claim of the
    message is likely enough to end for the message to make a difference, the likeliest first."""
    own = {each.handle for each in told}
    likely = dict[str, float]()
    for (handle, target), chance in chances.items():
        if handle in own and chance >= _LEAST_READ:
            likely[target] = max(chance, likely.get(target, 0.0))
    near = sorted(likely, key=lambda target: -likely[target])
    return [
        target
        for target in near
        if held[target].polarity in ("holds", "planned") and not _is_told_now(held[target], told[0])
    ][:_MOST_READ]


def _is_told_now(old: HeldClaim | ClaimCandidate, new: ClaimCandidate) -> bool:
    """Whether it was read of the same message."""
    return old.said_at == new.said_at


def _leaves_value(message: ToldMessage, old: HeldClaim | ClaimCandidate) -> bool:
    """Whether a message has all numbers and days of a claim: "Sundays and Mondays" of what is
    closed on Mondays, "ext 4410" of who has that extension; says nothing of somebody's age; or says
    that what the claim speaks of is as it was: 封面没涨."""
    told, held = describe_meaning(message.text), describe_meaning(old.text, (old.owner,))
    of_age = "age" in held.shapes or "岁" in old.text
    if of_age and not _TELLS_AGE.search(message.text):
        return True
    if (same := _UNCHANGED_ZH.search(message.text)) and same["what"] in old.text:
        return True
    pairs = (held.numbers, told.numbers), (_find_days(old.text), _find_days(message.text))
    return any(values and values <= said for values, said in pairs)


def _find_days(text: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for found in _DAYS.finditer(text))


def _end_unasked(
    told: Sequence[ClaimCandidate],
    end: _LikelyEnd,
    chances: Chances,
    aliases: Collection[str],
) -> ClaimVerdict | None:
    """The ending that is as good as sure; None if none is."""
    old = end.claim
    lasting = detect_language(old.text) == "zh" or begins_something(old.text)
    able = [
        each
        for each in told
        if may_end(each, old, aliases, likely=lasting)
        and not is_of_relative(each, old)
        and not is_of_neighbour(each, old)
        and not is_unreal(each.text)
        and (each.polarity != "planned" or old.polarity == "planned")
    ]
    if not able or end.odds < _LEAST:
        return None
    surest = end._replace(chance=_find_chance(able, end.handle, chances))
    if surest.weight < _ENDS or surest.chance < _LEAST_CHANCE:
        return None
    best, read = _find_telling_claim(able, old)
    return _say_it_ends(best, read, surest, aliases) if _is_sure(best, surest) else None


def _ask_about(
    told: Sequence[ClaimCandidate], end: _LikelyEnd, aliases: Collection[str]
) -> ClaimVerdict | None:
    """What a person is asked: whether the message ends the claim."""
    if end.weight < _ASKS:
        return None
    best, read = _find_telling_claim(told, end.claim)
    if is_unreal(best.text):
        return None
    return replace(_say_it_ends(best, read, end, aliases), sure=False)


def _find_telling_claim(
    told: Sequence[ClaimCandidate], old: HeldClaim | ClaimCandidate
) -> tuple[ClaimCandidate, float]:
    """The claim of the message that speaks most for it by itself, and the odds that it ends it."""
    read = {each.handle: get_change_reader().score_texts(each.text, [old.text])[0] for each in told}
    best = max(told, key=lambda each: read[each.handle])
    return best, read[best.handle]


def _say_it_ends(
    best: ClaimCandidate, read: float, end: _LikelyEnd, aliases: Collection[str]
) -> ClaimVerdict:
    new, old = view_claim(best, aliases), view_claim(end.claim, aliases)
    # What takes the place of the older claim has to end it by itself as well.
    holds = best.polarity not in ("ended", "denied")
    replaces = holds and new.person == old.person and read > 0
    return ClaimVerdict(
        best.handle,
        "contradict" if replaces else "deny",
        end.handle,
        reason=f"{min(99.0, 100 / (1 + math.exp(-end.odds))):.0f} % that its message ends it",
    )


def _is_sure(new: ClaimCandidate, end: _LikelyEnd) -> bool:
    """Whether nobody need be asked. Of what tells several things one may be over and the others
    not, and what stays may be what is asked about."""
    assert new.message is not None
    parts = len(_PARTS.findall(end.claim.text))
    if parts > 1:
        return False
    if _LIKES.search(end.claim.text) and new.polarity not in ("ended", "denied"):
        return False
    stays = find_cues(new.message.text) & {"still", "once"}
    return end.weight >= (_ENDS_ONE_OF_SEVERAL if stays or parts == 1 else _ENDS)
