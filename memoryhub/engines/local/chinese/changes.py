"""What Chinese tells by its change: who holds a post now, in the words of a state.

"他不是我们经理了，现在是刘敏" is "我们经理现在是刘敏".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.chinese.corrections import CorrectedStatement
from memoryhub.engines.local.chinese.people import ROLES
from memoryhub.engines.local.chinese.rules import TRADES

_NO_LONGER_IS = re.compile(
    rf"(?:[他她]|(?P<who>[\u4e00-\u9fff]{{2,3}}))(?:已经)?(?:不是|不再是|不当|不做)(?P<whose>我们?|咱们?)的?"
    rf"(?P<role>{ROLES})了[，,。 ]{{1,2}}(?:现在|目前|新来?的?)(?:是|换成了?"
    rf"|叫)(?P<name>[\u4e00-\u9fffA-Za-z]{{1,8}})"
)

# 酒也戒了两个月了, 烟终于戒掉了: what was done is named before.
_GIVEN_UP = re.compile(r"(?P<what>烟|酒|糖|奶茶|咖啡)(?:也|都|已经|终于|早就?)*戒(?:掉)?了")
# 跳槽成功，下个月去腾讯: who changes jobs and goes to a firm works there.
_JOB_CHANGE = re.compile(r"跳槽|被挖|猎头|入职|换工作|拿到.{0,8}offer|offer|录取|录用", re.I)
_GOES_TO = re.compile(
    r"(?P<when>(?:下个?[月周]|明天|下星期|[\d一二三四五六七八九十]+月)(?:[\d一二三四五六七八九十]+[号日])?(?:就|要|会)?)?"
    r"去(?P<firm>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:上班|工作|报到|入职)?(?=[，,。！!；;\s]|$|了)"
)
# 进了科大讯飞 做测试; 下个月去字节 还是做后端.
_WORKS_THERE = re.compile(
    r"(?P<when>(?:下个?[月周]|明天|[\d一二三四五六七八九十]+月)(?:就|要|会)?)?"
    r"(?:进了?|去了?|到了?)(?P<firm>[\u4e00-\u9fffA-Za-z]{2,8})[，,\s]+(?:还是|继续)?做(?:"
    + TRADES
    + r")(?=[，,。！!；;\s]|$)"
)
# 在中学教数学: who teaches at a school is a teacher there.
_TEACHES = re.compile(
    r"在(?P<where>[\u4e00-\u9fff]{0,8}(?:小学|中学|高中|初中|大学|学校|幼儿园))教(?P<what>[\u4e00-\u9fff]{2,4})"
)
# What may stand before that in its clause where nobody else is spoken of: "我媳妇在小学教语文".
_OF_ONESELF = re.compile(
    r"(?:^|[^\w])(?:我|俺|本人|现在|目前|一直|以前|之前|就|也|还|正|都|是|因为|自己)*$"
)


def _read_told_otherwise(said: str) -> Iterator[CorrectedStatement]:
    for found in _GIVEN_UP.finditer(said):
        yield CorrectedStatement(f"我戒{found['what']}了", found.start(), found.end())
    if _JOB_CHANGE.search(said):
        for found in _GOES_TO.finditer(said):
            told = f"我{found['when'] or ''}去{found['firm']}上班"
            yield CorrectedStatement(told, found.start(), found.end())
    for found in _WORKS_THERE.finditer(said):
        if _OF_ONESELF.search(said, 0, found.start()):
            told = f"我{found['when'] or ''}去{found['firm']}上班"
            yield CorrectedStatement(told, found.start(), found.end())
    for found in _TEACHES.finditer(said):
        if _OF_ONESELF.search(said, 0, found.start()):
            told = f"我是{found['where']}{found['what']}老师"
            yield CorrectedStatement(told, found.start(), found.end())


def read_changes(said: str) -> list[CorrectedStatement]:
    """The states that a message leads to, each with where in it that was said."""
    successors = [
        CorrectedStatement(
            f"{found['whose']}{found['role']}现在是{found['name']}",
            found.start("name"),
            found.end("name"),
        )
        for found in _NO_LONGER_IS.finditer(said)
    ]
    return [*successors, *_read_told_otherwise(said)]
