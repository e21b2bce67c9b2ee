"""What people say they are called: "my name is Priya", 我叫李敏 (spec E25)."""

from __future__ import annotations

import re

from memoryhub.engines.local.attribution.made_texts import asks_for_text, is_role_play
from memoryhub.engines.local.language import HAN
from memoryhub.engines.local.wordlists import compile_patterns, split_words

_CAPITALISED = r"[A-ZÀ-Þ][\w'’-]{0,30}"
_FULL_NAME = rf"{_CAPITALISED}(?: {_CAPITALISED}){{0,3}}"
_ENDS = r"(?=\s?(?:[.,;:!?)\n—–-]|$|and\b|but\b|i\b|I\b|from\b|here\b|by the way\b))"
_OWN = r"(?:my|(?:the )?user(?:'s|’s)?|(?:^|[\n.!] ?)(?:full )?)\s?(?:(?:full|real|first) )?name"
_ENGLISH = compile_patterns(
    rf"(?i:\b{_OWN}(?:['’]s| is|:))\s(?:actually |really )?(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:\b{_OWN}(?:['’]s| is|:))\s(?P<name>[^\W\d_]{{2,20}}){_ENDS}",
    rf"(?i:\b(?:i['’]m|i am|user is|im) called)\s(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:\b(?:call me|i go by|address me as))\s(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:^\W{{0,3}}(?:hi|hello|hey)(?: there| all)?[,!. ]{{1,3}}(?:i['’]?m|i am"
    rf"|this is))\s(?P<name>{_FULL_NAME}){_ENDS}",
    # "quick intro: I'm Petra, vet nurse in Inverness".
    rf"(?i:\bintro\w*\W{{1,3}}(?:i['’]?m|i am|this is))\s(?P<name>{_FULL_NAME}){_ENDS}",
    # "I'm Tom, 52, electrician in Hull", "im jess, 23, ...", "Callum here, 41".
    rf"(?i:\b(?:i['’]?m|i am|this is))\s(?P<name>{_FULL_NAME}|[a-z]{{2,20}}),"
    r"\s(?=[1-9]\d(?:,|\.|!|$))",
    rf"(?i:^\W{{0,3}}(?:(?:hi|hello|hey)\b\W{{1,3}})?)(?P<name>{_FULL_NAME})(?i:\shere)(?=[,.!])",
    flags=re.M,
)
_HAN_NAME = rf"[{HAN}]{{2,4}}?|[A-Za-z][A-Za-z .'-]{{1,30}}[A-Za-z]"
# What begins what somebody is to do and no name. Mo is also a family name, before no verb.
_TASK_START = (
    "[起一回去来过吃做帮的们早晚别不在少多先要该赶甭勿再喝睡看买给把跟写跑走住坐搬换找拿送"
    "交打试用考读还每戒忌减停注休控等]|莫[吃喝抽熬去来要再急怕哭想管走打跑做动生碰提说]"
)
_CHINESE = re.compile(
    rf"(?:(?:我|用户)(?:的?(?:名字|姓名|全名|大名)(?:就?是|叫做?|：|:)|叫做?|名叫)|(?:可以|就"
    # Who is called to do something is told by somebody: 医生喊我少吃稀饭.
    rf"|请|(?<![{HAN}])|(?<=都)|(?<=家))(?:叫|喊|称呼)我"
    rf"(?!{_TASK_START}))"
    rf"(?P<name>{_HAN_NAME})(?=就[好行可]|吧|[，,。.！!、；;\s]|$)"
)
_NOT_NAMES = split_words("""
    not on in at the a an is it that this what back later tomorrow when if maybe crazy anytime
    sir madam so also very just still unknown none null mr mrs ms dr i my fine good great sorry
    here there happy glad new sure tired back
""")
_NOT_CHINESE = re.compile(r"^[了他她你您它这那什谁啥外车人过不没来去]|什么|外卖|帮忙$")
_SUPPOSED = re.compile(r"\b(?:if|say|suppose|imagine|pretend)\b[^.!?\n]{0,20}$", re.I)
_QUOTES = "\"'“”‘’「」《》`*"


def find_introduced_name(text: str) -> str:
    """The name that the speaker gives as their own, the last one said; "" for none.

    What is asked to be written or played tells nobody's name.
    """
    if is_role_play(text) or asks_for_text(text):
        return ""
    found = [m for pattern in (*_ENGLISH, _CHINESE) for m in pattern.finditer(text)]
    told = [m for m in sorted(found, key=lambda m: (m.end(), -m.start())) if _is_own(m, text)]
    return _format_name(told[-1]["name"]) if told else ""


def _is_own(found: re.Match[str], text: str) -> bool:
    name = found["name"].strip()
    words = name.lower().split()
    quoted = text[max(0, found.start() - 2) : found.start()].strip()[-1:] in tuple(_QUOTES)
    supposed = _SUPPOSED.search(text[max(0, found.start() - 30) : found.start()])
    return not (quoted or supposed or words[0] in _NOT_NAMES or _NOT_CHINESE.search(name))


def _format_name(name: str) -> str:
    name = " ".join(name.split()).strip(" .'-")
    return name if name != name.lower() else name.title()
