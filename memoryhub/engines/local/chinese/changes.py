"""What Chinese tells by its change: who holds a post now, what a new number is, where one works
from now on, in the words of a state.

"他不是我们经理了，现在是刘敏" is "我们经理现在是刘敏", "邮箱换了，新的是…" is "邮箱现在是…".
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

# 手机号换了 新的是13812345678; 微信改了，以后加linhai_fj.
_CODE = r"(?P<value>[A-Za-z0-9@._+-]{4,40})"
_GIVEN_ANEW = (
    re.compile(
        r"(?:(?<![\u4e00-\u9fff])我?的?|我的?)(?P<thing>[\u4e00-\u9fff]{2,8}?)(?:也|都|又|刚|已经|给)*[换改变]了"
        r"[，,。；;\s]{0,3}(?:新的|现在|以后|之后|就|请|改|用|加|打|发到?|是|叫|[：:\s])+" + _CODE
    ),
    re.compile(
        r"[换改]了?(?:一?个)?新?(?P<thing>[\u4e00-\u9fff]{2,5}?)了?[，,。；;\s]{1,3}新的?(?:是|[：:\s])*"
        + _CODE
    ),
)
# 那个号不用了 新号18629001234.
_NEW_NUMBER = re.compile(r"新(?P<thing>手机号码?|电话|号码?|邮箱|微信号?)(?:是|[：:\s])*" + _CODE)
# 酒也戒了两个月了, 烟终于戒掉了: what was done is named before.
_GIVEN_UP = re.compile(
    r"(?:[我俺]的?)?(?P<what>烟|酒|糖|奶茶|咖啡)(?:也|都|已经|终于|早就?)*戒(?:掉)?了"
)
# 跳槽成功，下个月去腾讯: who changes jobs and goes to a firm works there.
_JOB_CHANGE = re.compile(r"跳槽|被挖|猎头|入职|换工作|拿到.{0,8}offer|offer|录取|录用", re.I)
_GOES_TO = re.compile(
    r"(?P<when>(?:下个?[月周]|明天|下星期|[\d一二三四五六七八九十]+月)(?:[\d一二三四五六七八九十]+[号日])?(?:就|要|会)?)?"
    r"去(?![不哪看过一那这])(?P<firm>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:上班|工作|报到|入职)?(?=[，,。！!；;\s]|$|了)"
)
# 拿到腾讯的offer了，9月8号入职.
_JOINS = re.compile(
    r"拿[到了](?P<firm>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:的|家)?(?:offer|录取通知)了?[，,。！!\s]{1,3}"
    r"(?P<when>[^，,。！!\s]{0,10}?)(?:就|去|要|正式)*(?:入职|报到|上班)(?![^，,。！!\s]*[吗么])",
    re.I,
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


def read_own_changes(said: str) -> Iterator[CorrectedStatement]:
    """What the speaker does from now on or no longer, each with where in the message that was said.
    Whoever else may be spoken of there is for the reader of the message to know."""
    for found in _GIVEN_UP.finditer(said):
        yield CorrectedStatement(f"我戒{found['what']}了", found.start(), found.end())
    for found in _JOINS.finditer(said):
        told = f"我{found['when']}去{found['firm']}上班"
        yield CorrectedStatement(told, found.start(), found.end())
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
    for found in _NEW_NUMBER.finditer(said):
        thing = "手机号" if found["thing"] == "号" else found["thing"]
        told = f"我{thing}现在是{found['value']}"
        yield CorrectedStatement(told, found.start(), found.end())


def read_successors(said: str) -> Iterator[CorrectedStatement]:
    """Who holds a post now, and what a number or an address is now, whoever's it is."""
    for found in _NO_LONGER_IS.finditer(said):
        told = f"{found['whose']}{found['role']}现在是{found['name']}"
        yield CorrectedStatement(told, found.start("name"), found.end("name"))
    for pattern in _GIVEN_ANEW:
        for found in pattern.finditer(said):
            told = f"我{found['thing']}现在是{found['value']}"
            yield CorrectedStatement(told, found.start(), found.end())
