"""Who is named in passing, in Chinese: 我弟弟王强在读书, 养了只橘猫，叫汤圆.

Who that is to the speaker is a claim of its own, whatever becomes of the sentence around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import rjieba

from memoryhub.engines.local.chinese.people import KIN, PLURAL_KIN, ROLES, format_relative, is_name
from memoryhub.engines.local.chinese.subjects import FAMILY_NAMES
from memoryhub.engines.types import FactCandidate, SourceSpan, Utterance

_CONFIDENCE = 0.8
_RELATIVE = re.compile(
    rf"(?:(?<![\w])|[我俺和跟与给带找陪])(?:的|家|们)?(?P<role>{KIN}|{ROLES})"
    r"(?P<rest>[\u4e00-\u9fff]{2,6})"
)
_ANIMAL = (
    r"(?:[^\W\d一和跟有只条匹个头的]{0,4}?)"
    "(?:猫|狗|犬|兔子?|仓鼠|鹦鹉|乌龟|柯基|金毛|哈士奇|泰迪|鸟|鱼|荷兰猪|豚鼠|刺猬)"
)
_PET = re.compile(
    rf"(?:养|领|捡|买|抱|我有|家里?有|我家|家里)[了过的着个一两那这有只条匹头]{{0,5}}(?P<kind>{_ANIMAL})"
    r"(?:的?名字)?[，,]?(?:我?给(?:它|他|她)?)?(?:就|名|取名|起名|名字)?(?:叫做?|叫作)"
    r"(?P<name>[^\W\d得了着过个一不很]{2,3}|[A-Za-z]{2,12})(?=\W|$|的)"
)


def read_introductions(utterance: Utterance) -> Iterator[FactCandidate]:
    """A claim for each name that stands right behind what its bearer is to the speaker."""
    text, speaker = utterance.text, utterance.speaker
    for found in _RELATIVE.finditer(text):
        word, tag = next(iter(rjieba.tag(found["rest"])), ("", ""))
        family = word[:1] in FAMILY_NAMES and len(word) > 1
        if found["role"] not in PLURAL_KIN and family and is_name(word, tag):
            whose = format_relative(found["role"], speaker)
            yield _build_fact(utterance, word, whose, found.start("role"), word)
    for found in _PET.finditer(text):
        whose = f"{speaker}的{found['kind']}"
        yield _build_fact(utterance, found["name"], whose, found.start("kind"), found["name"])


def _build_fact(
    utterance: Utterance, name: str, whose: str, start: int, last: str
) -> FactCandidate:
    end = utterance.text.index(last, start) + len(last)
    return FactCandidate(
        text=f"{name}是{whose}。",
        owner=name,
        speaker=utterance.speaker,
        pattern="SVC",
        subject=name,
        verb="是",
        complement=whose,
        confidence=_CONFIDENCE,
        sources=(SourceSpan(utterance.handle, start, end),),
    )
