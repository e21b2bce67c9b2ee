"""One thing given for another, told with both: "switched from Barclays to Monzo".

What held of the thing given up is over, in whatever words it was told; what is told of it beside
the one who had it ("the Barclays branch in Leeds") is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memoryhub.engines.local.comparison.pairs import ClaimView, describe_meaning
from memoryhub.engines.local.language import detect_language

_OLD = r"(?P<old>[^,.;:]{2,40}?)"
_WHAT = r"(?:(?:their|the|his|her|my|our) [\w -]{2,30}? )?(?:over )?"
_THERE = r"(?: (?:at|in|on|with|for))?"
_EXCHANGED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:switched|changed|upgraded|downgraded|swapped) {_WHAT}from {_OLD} (?:over )?to \S",
        rf"\b(?:swapped|traded|exchanged)(?: in)? {_OLD}(?: in)? for \S",
        rf"\breplaced {_OLD} (?:with|by) \S",
        rf"\b(?:is|are|'m|am) (?:on|with|using|at|in) \S[^,.;:]{{1,40}}? (?:instead of|rather than)"
        rf" {_OLD}(?: now)?\W*$",
        # "Lives in Bath now, not Bristol", "no longer Bristol", "not Bristol any more".
        r"\b(?:now|these days|nowadays),? (?:and )?(?:not|no longer|rather than|instead of)"
        rf"{_THERE} {_OLD}(?: any ?more)?(?=\W*$|[.,;])",
        rf"\w(?:,| and) not{_THERE} {_OLD} any ?more(?=\W*$|[.,;])",
        rf"\w(?:,| and) no longer{_THERE} {_OLD}(?=\W*$|[.,;])",
        rf" now [^.;]+, not{_THERE} {_OLD}(?=\W*$|[.;])",
    )
)
_INTO_ZH = "(?:换|改|转|升级|切换)(?:成|到|为|用|喝|吃|坐|骑|学|去|做)了?"
_EXCHANGED_ZH = (
    re.compile(rf"从(?P<old>[^，。]{{1,12}}?){_INTO_ZH}[^，。]"),
    re.compile(rf"把(?P<old>[^，。]{{1,12}}?){_INTO_ZH}[^，。]"),
    re.compile(
        r"(?:^|[的•，])(?P<old>[^，。的]{1,8}?)(?:不|没)(?:再|接着|继续)?\w{0,2}了[，,]?\s?"
        r"(?:现在)?改\w"
    ),
)
# What begins with these is had from then on; other events are over by themselves.
_BEGINS = re.compile(
    r"\b(?:bought|got|joined|started|began|signed|opened|took|picked up|leased|moved|adopted"
    r"|switched|upgraded|changed)\b|买|换|办|报|开始|加入|入手|租|签",
    re.I,
)
# What is given up may be liked as before.
_LIKES = re.compile(r"\b(?:like|love|enjoy|prefer|hate|miss|want)(?:s|es|d)?\b|喜欢|爱|讨厌", re.I)
# A kind of thing that many claims name, and its name or number is none of them ("手机号").
_KINDS_ZH = re.compile("手机|电话|车子?|房子?|工作|号码?|地址|专业|学校|密码|头像|名字?|时间|公司")
# Behind a thing that a claim says somebody has, takes or drinks, and no other noun with it.
_ENDS_CLAIM_ZH = r"(?:$|[，。！；了]|上班|上学|去|回)"
_ENDS_CLAIM = r"(?=[.,;!]|$| (?:to|on|in|at|every|each|now|for|with|and|when|from|of)\b)"
_NAMED = re.compile(r"[A-Z]|\d")
_LONGEST_HELD = 120  # characters: what is longer tells a story
_LEADING = re.compile(r"^(?:(?:a|an|the|their|his|her|my|our|old)\s)+", re.I)


def begins_something(text: str) -> bool:
    """Whether what is told as an event tells of what is so from then on: "joined the gym"."""
    return _BEGINS.search(text) is not None


def find_given_up(
    new: ClaimView, held: Sequence[ClaimView], aliases: Collection[str] = ()
) -> list[str]:
    """For each claim held the thing given up in the new one, where it tells that the same person
    has it; "" where it does not."""
    if new.polarity == "planned":
        return [""] * len(held)
    names = tuple(dict.fromkeys(filter(None, (new.owner, *aliases))))
    chinese = detect_language(new.text) == "zh"
    things = _list_things_zh(new.text, names) if chinese else _list_things(new.text)
    has = _has_thing_zh if chinese else _has_thing
    return [
        next((t for t in things if _may_be_had(new, old) and has(old, t, names)), "")
        for old in held
    ]


def _may_be_had(new: ClaimView, old: ClaimView) -> bool:
    """Whether the older claim tells of something that the same person has, and not only likes."""
    return (
        old.polarity == "holds"
        and old.person == new.person
        and len(old.text) <= _LONGEST_HELD
        and (old.kind != "event" or begins_something(old.text) is not None)
        and not _LIKES.search(old.text)
    )


def _has_thing(old: ClaimView, thing: str, names: tuple[str, ...]) -> bool:
    """What has a name is known by it; of other things only what the claim says is had."""
    owners = tuple(dict.fromkeys(filter(None, (*names, old.owner))))
    sought = describe_meaning(thing, owners).stems
    had = _NAMED.search(thing) or re.search(re.escape(thing) + _ENDS_CLAIM, old.text, re.I)
    return bool(had and sought) and sought <= describe_meaning(old.text, owners).stems


def _has_thing_zh(old: ClaimView, thing: str, _: tuple[str, ...]) -> bool:
    return re.search(re.escape(thing) + _ENDS_CLAIM_ZH, old.text) is not None


def _list_things(text: str) -> list[str]:
    found = (pattern.search(text) for pattern in _EXCHANGED)
    return [_LEADING.sub("", match["old"]) for match in found if match]


def _list_things_zh(text: str, names: Collection[str]) -> list[str]:
    for name in names:
        text = text.replace(name, "•")
    found = (pattern.search(text) for pattern in _EXCHANGED_ZH)
    things = (match["old"].strip("•的了 ") for match in found if match)
    return [thing for thing in things if len(thing) > 1 and not _KINDS_ZH.fullmatch(thing)]
