"""Who is named in passing, in Chinese: 我弟弟王强在读书, 养了只橘猫，叫汤圆.

Who that is to the speaker is a claim of its own, whatever becomes of the sentence around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import rjieba

from memoryhub.engines.local.chinese.people import (
    KIN,
    NOT_IN_NAMES,
    PLURAL_KIN,
    ROLES,
    SHORT_KIN,
    find_name,
    format_relative,
    is_name,
)
from memoryhub.engines.local.chinese.subjects import FAMILY_NAMES
from memoryhub.engines.local.wordlists import CHINESE_BREEDS
from memoryhub.engines.types import FactCandidate, SourceSpan, Utterance

_CONFIDENCE = 0.8
_RELATIVE = re.compile(
    rf"(?:(?:(?<![\w])|[我俺和跟与给带找陪])(?:的|家|们)?(?P<role>{KIN}|{ROLES})"
    rf"|[我俺]家?(?P<short>{SHORT_KIN}))"
    r"\s?(?P<rest>[\u4e00-\u9fff]{2,6}|[A-Z][a-z]{1,11}(?![A-Za-z]))"
)
# 我老婆叫李倩; 对象是个程序员 叫许诺: the last one spoken of, unless a thing was named since.
_CALLED = re.compile(r"叫(?:做|作)?(?P<name>[\u4e00-\u9fff]{2,3}|[A-Z][a-z]{1,11})(?=\W|$)")
_ONES_OWN = re.compile(
    rf"(?:(?<!\w)|[我俺咱个位])(?:的|家|们)?[大小老前新]?(?P<role>{KIN}|{ROLES})(?![的家们])"
)
_SOMETHING_ELSE = re.compile(rf"{KIN}|{ROLES}|[他她]|[一了]家|[只条款部首本]|[。？?\n]")
_RIGHT_BEHIND = re.compile(
    r"(?:^|[，,\s！!、])(?:[大小全]?名字?)?$|^(?:也|就)?是[一个位]{1,2}[^\W叫是]{1,8}$|^的?[大小全]?名字?$|(?:新来|新换|新招)的$"
)
_TOGETHER = re.compile(
    r"(?:(?<!\w)|(?<=我))[和跟与](?P<name>[\u4e00-\u9fff]{2,3}?)(?:正式|终于|已经|就)?(?:在一起|好上|处对象|谈恋爱|确定关系)了"
)
_FARTHEST = 30  # characters from who it is to the name
# 琳琳, 小美, 阿强: what is no family name first.
_PET_NAME = re.compile(
    r"(?P<twice>[\u4e00-\u9fff])(?P=twice)"
    r"|小(?![时学区孩心组说吃店儿哥姐妹弟名事气区型号腿腹酒声])[\u4e00-\u9fff]"
    r"|阿(?![姨婆公爸妈嬷爷])[\u4e00-\u9fff]"
)
_SAID_TWICE = frozenset(
    "天刚常偷慢好谢爸妈爷奶哥姐弟妹叔舅姑伯婶往渐看想试人个每早远轻默整仅明白单恰统通时年真聊等坐走说"
)
_ANIMAL = (
    r"(?:[^\W\d一和跟有只条匹个头的]{0,4}?)"
    rf"(?:猫|狗|犬|兔子?|乌龟|鸟|鱼|荷兰猪|豚鼠|刺猬|{CHINESE_BREEDS})"
)
_PET = re.compile(
    rf"(?:养|领|捡|买|抱|我有|家里?有|我家|家里)[了过的着个一两那这有还又只条匹头]{{0,5}}(?P<kind>{_ANIMAL})"
    r"(?:[，,\s]{1,3}[^\W\d叫]{1,4}(?=[，,\s]))?(?:的?名字)?[，,\s]{0,3}(?:我?给(?:它|他|她)?)?(?:就|名|取名|起名|名字)?(?:叫做?|叫作)"
    r"(?P<name>[^\W\d得了着过个一不很]{2,3}|[A-Za-z]{2,12})(?=\W|$|的)"
)
# After this somebody is no flatmate or colleague any more; a grandmother stays one.
_HAS_LEFT = re.compile(
    r"[^，,。！!？?\s]{0,4}?(?:搬走|搬出|离职|辞职|辞了|跑路|退休|调走|调到|被裁|不干了|不做了|走了)"
)
_OF_ANOTHER = re.compile(
    rf"(?:{KIN}|{ROLES}|[我俺]家?(?:{SHORT_KIN})|[他她]们?)[^，,。！!？?\s]{{0,6}}$"
)
_HAS_SEVERAL = (
    r"(?:(?:养了?|有了?)[^，。！？]{0,2}?|(?:^|[，,\s。])我?)(?:两|俩|三|四|[2-4])(?:只|条|个|匹)?"
    rf"(?P<kind>{_ANIMAL}|孩子|娃|儿子|女儿|闺女|妹妹|弟弟|姐姐|哥哥)"
)
# 养了条德牧 叫黑豹: whatever is kept and counted so is an animal.
_KEPT = re.compile(
    r"(?:养|领养|捡)了?(?:一|个)?[只条匹](?P<kind>[^\W\d叫的了]{2,4})[，,\s]{0,3}(?:名字|取名|起名)?叫"
    r"(?P<name>[^\W\d得了着过个一不很]{2,3})(?=\W|$|的)"
)
# 养了两只猫，米粒和豆包; 我有两个儿子，叫大宝和小宝.
_LISTED = re.compile(
    rf"{_HAS_SEVERAL}"
    r"(?:[，,：:]|(?:名字)?(?:分别)?叫做?)+"
    r"(?P<names>[^\W\d和跟、，一叫的在]{2,3}(?:、[^\W\d和跟、，的]{2,3}){0,3}[和跟][^\W\d和跟、，的]{2,3})"
    r"(?=\W|$)"
)
# 养了两只猫，大的叫煤球，小的叫年糕.
_SEVERAL = re.compile(_HAS_SEVERAL)
_ONE_OF_THEM = re.compile(
    r"(?:[大小公母]|老[大二三]|[另]?一[只个条]|还有[一]?[只个条]|那[只个条])的?(?:那[只个条])?"
    r"(?:(?:是|[，,\s])*(?P<kin>儿子|女儿|闺女)[，,\s]*|[^，。,、；;\s叫]{0,6})(?:名字)?叫做?"
    r"(?P<name>[^\W\d了着过的]{2,3}?)(?=[，。,、；;\s]|$)"
)
_MOST_BETWEEN = 60  # characters


@lru_cache(maxsize=256)
def read_introductions(utterance: Utterance) -> tuple[FactCandidate, ...]:
    """A claim for each name that stands behind what its bearer is to the speaker. Kept, since each
    message is asked for them again as the history of those that follow."""
    return tuple(_find_introductions(utterance))


def _find_introductions(utterance: Utterance) -> Iterator[FactCandidate]:
    text, speaker = utterance.text, utterance.speaker
    for found in _RELATIVE.finditer(text):
        at, role = ("role", found["role"]) if found["role"] else ("short", found["short"])
        latin = found["rest"].isascii()
        word = found["rest"] if latin else find_name(found["rest"])
        named = latin or (word[:1] in FAMILY_NAMES and len(word) > 1)
        if not named and (short := _PET_NAME.match(found["rest"])):
            word, named = short[0], short[0][0] not in _SAID_TWICE
        gone = _HAS_LEFT.match(text, found.start("rest") + len(word))
        if gone and re.fullmatch(ROLES, role):  # 室友小贾搬走了
            continue
        if role not in PLURAL_KIN and named:
            whose = format_relative(role, speaker)
            yield _build_fact(utterance, word, whose, found.start(at), word)
    for found in _LISTED.finditer(text):
        start, kind = found.start("names"), found["kind"]
        for name in re.finditer(r"[^和跟、]+", found["names"]):
            yield _build_fact(
                utterance, name[0], f"{speaker}的{kind}", start + name.start(), name[0]
            )
    if several := _SEVERAL.search(text):
        for one in _ONE_OF_THEM.finditer(text, several.end(), several.end() + _MOST_BETWEEN):
            whose = f"{speaker}的{one['kin'] or several['kind']}"
            yield _build_fact(utterance, one["name"], whose, one.start(), one["name"])
    yield from _read_called(utterance)
    for found in chain(_PET.finditer(text), _KEPT.finditer(text)):
        if _OF_ANOTHER.search(text[: found.start()]):
            continue
        whose = f"{speaker}的{found['kind']}"
        yield _build_fact(utterance, found["name"], whose, found.start("kind"), found["name"])


def _read_called(utterance: Utterance) -> Iterator[FactCandidate]:
    text, speaker = utterance.text, utterance.speaker
    for called in _CALLED.finditer(text):
        before = text[max(0, called.start() - _FARTHEST) : called.start()]
        own = next(reversed(list(_ONES_OWN.finditer(before))), None)
        if own is None or own["role"] in PLURAL_KIN or not may_be_name(called["name"]):
            continue
        between = before[own.end() :]
        if _RIGHT_BEHIND.search(between) and not _SOMETHING_ELSE.search(between):
            start = called.start() - len(before) + own.start("role")
            whose = format_relative(own["role"], speaker)
            yield _build_fact(utterance, called["name"], whose, start, called["name"])
    for found in _TOGETHER.finditer(text):
        if may_be_name(found["name"]):
            name = found["name"]
            yield _build_fact(utterance, name, f"{speaker}的对象", found.start("name"), name)


def may_be_name(word: str) -> bool:
    if word.isascii() or (word[0] in FAMILY_NAMES and not NOT_IN_NAMES.search(word)):
        return True
    short = _PET_NAME.fullmatch(word)
    if short:
        return word[0] not in _SAID_TWICE
    return all(is_name(each, tag) for each, tag in rjieba.tag(word))


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
