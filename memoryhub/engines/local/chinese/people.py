"""Whom a Chinese statement is about: names, relatives, and the one 他 or 她 may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

import rjieba

KIN = (
    "爸妈|妈妈|爸爸|妈|爸|父亲|母亲|父母|哥哥|姐姐|弟弟|妹妹|爷爷|奶奶|外婆|外公"
    "|丈夫|妻子|老公|老婆|男朋友|女朋友|儿子|女儿|孩子"
)
_MY_KIN = re.compile(rf"我的?(?P<kin>{KIN})(?!的|一起|和)")
_ANY_KIN = re.compile(rf"(?P<kin>{KIN})")
_FULL_KIN_WORDS = {"妈": "妈妈", "爸": "爸爸", "母亲": "妈妈", "父亲": "爸爸"}
_PLURAL_KIN = ("爸妈", "父母", "孩子")
_PLACE_OR_THING = re.compile(r"[区市县省镇村路街山湖河江海岛店园]$")
# The segmenter guesses names of unknown runs of characters; these are in hardly any.
_NOT_IN_NAMES = re.compile(
    r"[买发些去来做吃说要想把被给和再还很不会是有在了着过的这那我你他她它都也就只更最没]"
)
_PERSONAL_PRONOUN = re.compile(r"[他她](?!们)")


def is_name(word: str, tag: str) -> bool:
    """A person's (or a pet's) name by its tag, which also names districts now and then."""
    named = tag == "nr" and re.fullmatch(r"[\u4e00-\u9fff]{2,3}", word) is not None
    return named and not _PLACE_OR_THING.search(word) and not _NOT_IN_NAMES.search(word)


def find_relative(text: str, speaker: str) -> str:
    """("我弟弟王强在读书") → "王强", ("我妈妈退休了") → "speaker的妈妈", or "" for none."""
    found = _MY_KIN.search(text)
    if not found:
        return ""
    word, tag = next(iter(rjieba.tag(text[found.end() :])), ("", ""))
    return word if is_name(word, tag) else _format_relative(found["kin"], speaker)


def _format_relative(kin: str, speaker: str) -> str:
    return f"{speaker}的{_FULL_KIN_WORDS.get(kin, kin)}"


def find_antecedent(texts: Iterable[str], speaker: str) -> str:
    """The only person spoken of in the nearest of `texts` (latest first) that names any."""
    for text in texts:
        named = _find_people(text, speaker)
        if named:
            return named.pop() if len(named) == 1 else ""
    return ""


def _find_people(text: str, speaker: str) -> set[str]:
    names = {w for w, tag in rjieba.tag(text) if is_name(w, tag) and w not in speaker}
    if find_relative(text, speaker) in names:
        return names
    kin = (found["kin"] for found in _ANY_KIN.finditer(text))
    return names | {_format_relative(each, speaker) for each in kin if each not in _PLURAL_KIN}


def replace_pronoun(text: str, person: str) -> str:
    """The pronoun that opens a clause put as the name it stands for."""
    return text if person in text else _PERSONAL_PRONOUN.sub(person, text, count=1)
