"""What a message in whole puts an end to.

Many a message tells by its circumstances that something is over, which none of the claims that it
makes does by itself: "morocco is not happening, the gearbox went" of who was to work there in
spring. So it is read beside what is held, with the question that it answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter

from memoryhub.engines.local.comparison.exchanges import begins_something
from memoryhub.engines.local.comparison.matters import (
    may_contradict,
    names_other_month,
    tells_status_alone,
)
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
from memoryhub.engines.local.trees import BoostedTrees, Share, StrictModel
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimVerdict,
    HeldClaim,
    ToldMessage,
)

# From this sum on a message ends a claim unasked: of the logarithm of how much likelier than not it
# does, and of how likely a claim that it makes does by itself, which weighs four times as much;
# from a higher one where it says that something stays, or the claim tells two things.
_ENDS, _ENDS_ONE_OF_SEVERAL = 5.5, 7.0
_WEIGHT_OF_CLAIM = 4.0
_LEAST = 1.0  # odds of what is ended unasked
# No message ends unasked what none of its claims is as likely to end; what none is as likely to is
# not read, and no more claims held are.
_LEAST_CHANCE, _LEAST_READ, _MOST_READ = 0.12, 0.01, 8
_CUES = ("now", "over", "switch", "new", "wrong", "still", "once", "also")
CUES_OF_CHANGE = frozenset({"now", "over", "switch", "new", "wrong"})
_UNREAD_ODDS = -8.0  # of what stands alone, the others'
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

DECIDERS_PATH = Path(__file__).with_name("message_deciders.json")


class MessageDecider(StrictModel):
    """How likely a message in whole ends a claim, by the `features` that describe an ending. From
    `ask` on a person is asked. `scores` are of authors that were left out when it learned."""

    features: tuple[str, ...]
    ends: BoostedTrees
    ask: Share
    scores: Mapping[str, float]

    def judge_rows(self, rows: Sequence[Mapping[str, float]]) -> list[float]:
        values = np.array([[row[name] for name in self.features] for row in rows])
        return [float(share) for share in self.ends.estimate_shares(values)]


_DECIDERS = TypeAdapter(dict[str, MessageDecider])


@cache
def get_message_deciders() -> Mapping[str, MessageDecider]:
    """By language. Learned by `manage.py lab train-messages`."""
    return _DECIDERS.validate_json(DECIDERS_PATH.read_text(encoding="utf-8"))


def write_message_deciders(path: Path, made: dict[str, MessageDecider]) -> None:
    path.write_text(_DECIDERS.dump_json(made).decode() + "\n", encoding="utf-8")


class LikelyEnd(NamedTuple):
    """A claim held that a message may end: the logarithm of how much likelier than not it does, and
    how likely a claim that it makes does by itself."""

    handle: str
    claim: HeldClaim | ClaimCandidate
    odds: float
    chance: float

    @property
    def weight(self) -> float:
        return self.odds + _WEIGHT_OF_CLAIM * self.chance


@dataclass(frozen=True, slots=True)
class MessageEnds:
    """What a message may end of the claims held, those likeliest first, and what it ends unasked.
    `is_decided`: something was decided of it already."""

    message: ToldMessage
    told: Sequence[ClaimCandidate]
    likely: Sequence[LikelyEnd]
    ended: Sequence[ClaimVerdict]
    is_decided: bool
    chances: Chances
    aliases: Collection[str]

    @property
    def is_open(self) -> bool:
        """Whether a person may be asked about it: nothing was decided of it."""
        return bool(self.likely) and not (self.ended or self.is_decided)


def end_by_messages(
    comparison: ClaimComparison, found: Sequence[ClaimVerdict], chances: Chances
) -> list[ClaimVerdict]:
    """What messages end of the claims offered, beside what was `found` of theirs, and what a person
    is asked. Each verdict rests on the claim of the message that speaks for it most."""
    more = list[ClaimVerdict]()
    for each in list_message_ends(comparison, found, chances):
        more += each.ended
        if each.is_open:
            more += _ask_about(each)
    return more


def list_message_ends(
    comparison: ClaimComparison, found: Sequence[ClaimVerdict], chances: Chances
) -> Iterator[MessageEnds]:
    held: dict[str, HeldClaim | ClaimCandidate] = {c.handle: c for c in comparison.held}
    held |= {c.handle: c for c in comparison.candidates}
    aliases = (comparison.subject, *comparison.aliases)
    settled = {each.target for each in found if each.sure}
    decided = {each.candidate for each in found if each.op in ("contradict", "deny")}
    for message, told in _list_messages(comparison.candidates):
        near = [h for h in _select_endable(told, held, chances) if h not in settled]
        read = get_change_reader().score_texts(
            write_message(message, told[0].speaker), [held[handle].text for handle in near]
        )
        likely = [
            LikelyEnd(handle, held[handle], odds, _find_chance(told, handle, chances))
            for odds, handle in zip(read, near, strict=True)
        ]
        likely.sort(key=lambda each: -each.weight)
        ended = [
            verdict
            for each in likely
            if not _leaves_value(message, each.claim)
            if (verdict := _end_unasked(told, each, chances, aliases)) is not None
        ]
        settled |= {each.target for each in ended}
        is_decided = not decided.isdisjoint(each.handle for each in told)
        yield MessageEnds(message, told, likely, ended, is_decided, chances, aliases)


def describe_ends(ends: MessageEnds) -> list[dict[str, float]]:
    """Numbers that speak for each likely ending or against it, beside the others."""
    cues = find_cues(ends.message.text)
    says = {f"says_{cue}": float(cue in cues) for cue in _CUES}
    return [_describe_end(ends, each) | says for each in ends.likely]


def _describe_end(ends: MessageEnds, end: LikelyEnd) -> dict[str, float]:
    message, told, chances, aliases = ends.message, ends.told, ends.chances, ends.aliases
    beside = [each for each in ends.likely if each.handle != end.handle]
    lead = end.odds - max((each.odds for each in beside), default=_UNREAD_ODDS)
    able = _list_able(told, end.claim, aliases)
    best = max(told, key=lambda each: chances.get((each.handle, end.handle), 0.0))
    new, old = view_claim(best, aliases), view_claim(end.claim, aliases)
    return {
        "odds": end.odds,
        "lead": lead,
        "chance": _compute_log_odds(end.chance),
        "chance_lead": end.chance - max((each.chance for each in beside), default=0.0),
        "able": float(bool(able)),
        "chance_able": _compute_log_odds(_find_chance(able, end.handle, chances)),
        "ends": float(new.polarity in ("ended", "denied")),
        "plans": float(new.polarity == "planned"),
        "of_plan": float(old.polarity == "planned"),
        "happened": float(new.kind == "event"),
        "of_event": float(old.kind == "event"),
        "same_person": float(new.person == old.person),
        "own": float(old.person in aliases),
        "contradicts": float(may_contradict(new, old, aliases)),
        "leaves_value": float(_leaves_value(message, end.claim)),
        "of_liking": float(bool(_LIKES.search(old.text))),
        "parts": float(min(3, len(_PARTS.findall(old.text)))),
        "same_predicate": float(new.predicate_key == old.predicate_key != ""),
        "near": float(len(ends.likely)),
        "told": float(len(told)),
        "length": len(message.text) / 100,
        "old_length": len(old.text) / 100,
    }


def may_be_asked(traits: Mapping[str, float]) -> bool:
    """Whether a person can be asked about an ending in earnest: what happened is not over because
    something else did ("ate three figs", "ate four"), nor a habit that nobody has given up yet."""
    again = traits["of_event"] and traits["happened"] and not traits["able"]
    return bool(traits["contradicts"]) and not again


def _compute_log_odds(share: float) -> float:
    share = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(share / (1 - share))


def _find_chance(told: Sequence[ClaimCandidate], handle: str, chances: Chances) -> float:
    return max((chances.get((each.handle, handle), 0.0) for each in told), default=0.0)


def _list_able(
    told: Sequence[ClaimCandidate], old: HeldClaim | ClaimCandidate, aliases: Collection[str]
) -> list[ClaimCandidate]:
    """The claims of a message that may end the older one at all."""
    lasting = detect_language(old.text) == "zh" or begins_something(old.text)
    return [
        each
        for each in told
        if may_end(each, old, aliases, likely=lasting)
        and not is_of_relative(each, old)
        and not is_of_neighbour(each, old)
        and not is_unreal(each.text)
        and (each.polarity != "planned" or old.polarity == "planned")
    ]


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
    told: Sequence[ClaimCandidate], end: LikelyEnd, chances: Chances, aliases: Collection[str]
) -> ClaimVerdict | None:
    """The ending that is as good as sure; None if it is not."""
    if end.odds < _LEAST or end.weight < _ENDS:
        return None
    able = _list_able(told, end.claim, aliases)
    surest = end._replace(chance=_find_chance(able, end.handle, chances))
    if surest.chance < _LEAST_CHANCE or surest.weight < _ENDS:
        return None
    best, read = _find_telling_claim(able, end.claim)
    if not _is_sure(best, surest):
        return None
    # What takes the place of the older claim has to end it by itself as well.
    return _say_it_ends(best, surest, aliases, replaces=read > 0)


def _ask_about(ends: MessageEnds) -> list[ClaimVerdict]:
    """The one question about a message: whether it ends the claim that it likeliest does."""
    decider = get_message_deciders().get(detect_language(ends.message.text))
    if decider is None:
        return []
    described = zip(ends.likely, describe_ends(ends), strict=True)
    askable = [(end, traits) for end, traits in described if may_be_asked(traits)]
    if not askable:
        return []
    shares = decider.judge_rows([traits for _, traits in askable])
    share, (likeliest, _) = max(zip(shares, askable, strict=True), key=lambda each: each[0])
    if share < decider.ask:
        return []
    best, _ = _find_telling_claim(ends.told, likeliest.claim)
    if _is_idle(best, likeliest.claim):
        return []
    return [replace(_say_it_ends(best, likeliest, ends.aliases), sure=False)]


def _is_idle(new: ClaimCandidate, old: HeldClaim | ClaimCandidate) -> bool:
    """Whether words alone tell that there is nothing to ask. Two answers to two questions of the
    assistant are hardly ever about one thing."""
    answers = all(text.startswith('Asked "') for text in (new.text, old.text))
    elsewhere = old.polarity == "planned" and names_other_month(new.text, old.text)
    return answers or elsewhere or is_unreal(new.text) or tells_status_alone(new.text, old.text)


def _find_telling_claim(
    told: Sequence[ClaimCandidate], old: HeldClaim | ClaimCandidate
) -> tuple[ClaimCandidate, float]:
    """The claim of the message that speaks most for it by itself, and the odds that it ends it."""
    read = {each.handle: get_change_reader().score_texts(each.text, [old.text])[0] for each in told}
    best = max(told, key=lambda each: read[each.handle])
    return best, read[best.handle]


def _say_it_ends(
    best: ClaimCandidate, end: LikelyEnd, aliases: Collection[str], *, replaces: bool = True
) -> ClaimVerdict:
    new, old = view_claim(best, aliases), view_claim(end.claim, aliases)
    holds = best.polarity not in ("ended", "denied")
    return ClaimVerdict(
        best.handle,
        "contradict" if replaces and holds and new.person == old.person else "deny",
        end.handle,
        reason=f"{min(99.0, 100 / (1 + math.exp(-end.odds))):.0f} % that its message ends it",
    )


def _is_sure(new: ClaimCandidate, end: LikelyEnd) -> bool:
    """Whether nobody need be asked. Of what tells several things one may be over and the others
    not, and what stays may be what is asked about."""
    assert new.message is not None
    parts = len(_PARTS.findall(end.claim.text))
    if parts > 1:
        return False
    if _LIKES.search(end.claim.text) and new.polarity not in ("ended", "denied"):
        return False
    cues = find_cues(new.message.text)
    # One may have two appointments.
    if new.polarity == end.claim.polarity == "planned" and not cues & CUES_OF_CHANGE:
        return False
    stays = cues & {"still", "once"}
    return end.weight >= (_ENDS_ONE_OF_SEVERAL if stays or parts == 1 else _ENDS)
