"""Short answers made whole with the question before them: "月嫂找了吗？" "定了，姓林"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryhub.engines.local.chinese.clauses import (
    ChineseClause,
    split_clauses,
    split_sentences,
)
from memoryhub.engines.local.chinese.rules import SLIP_WORDS
from memoryhub.engines.local.chinese.subjects import Subject, find_subject

_OPENING = re.compile(r"^(?:那么?|所以|对了|咦|哦|这样的?话|话说|最近|现在|是不是|请问)+")
_ASKING = re.compile(r"(?:吗|吧|没有?|么|呢|啊|是不是|对吧)?[？?\s]*$")
_LONGEST_QUESTION = 200  # characters
_NO = re.compile(r"^(?:还|也|早)?(?:没有?|不是|不|没呢|未|否)(?:了|的)?$")
# It was so, and is no longer: "不弹了", "早没养了", "不了".
_NO_MORE = re.compile(r"^(?:早|早就|已经|现在|都|也)*[不没](?:再)?(?P<verb>\w{0,2}?)了?(?:了|的)$")
_SLIP = re.compile(SLIP_WORDS)
_GOING_ON = re.compile(
    r"在(?:[弹拉吹学练跑打写画读念做教带养用吃喝抽看玩骑开种卖追找等租](?!店|馆|校|院|所)|上[课班学](?!的))"
)
# It is over, in words that do not say what: "早退卡了", "戒了半年了", "上个月搬走了".
_ENDED = re.compile(
    r"^(?:早就?|已经|都|刚刚?|后来|前几天|[上去今前]个?[年月周](?:底|初)?|\w{1,3}[月号](?:份|底|初)?)*"
    r"(?:学到\w{1,6}就)?(?:戒|停|断|退|辞|拆|卖|丢|散|离|搬|注销|取消|倒闭|毕业|不干|出院|分|送人|转)"
    r"(?!给|到)\w{0,2}了(?:[一二两三四五六七八九十半几\d]+(?:年|个?月|天|周)多?了?)?$"
)
# Asks how somebody is, and not whether something is still so.
_IS_WELL = re.compile(r"还(?:好|行|可以|顺利|习惯|适应|不错|满意)$")
_SAYS_NO = re.compile(r"(?:没有?|不是|不|没呢|早没)[，,。\s]*$")
_YES = re.compile(
    r"^(?:是[的啊]?|对[的啊]?|还在|在呢|有啊|嗯+|有的?|在的?|当然|必须的?|没错|可不是?|yes|yep)$",
    re.I,
)
_WH = re.compile(
    r"(?:几(?=[个天次岁点号斤口只条月年周分本门节小瓶杯])[个天次岁点号斤口只条月年周分本门节瓶杯]?|多少[斤公钱岁块]{0,2}|多[大久高重长远]|什么时候|哪(?:里|儿|家|个|位|天|年|些|座|所|种|款|只|边)"
    r"|什么[^了的？?吗呢]{0,3}|啥|谁|怎么样|怎样|如何)"
)
# "现在谁接孩子？": who does it, and nobody that it is told of.
_WHO_DOES = re.compile(
    r"^(?:现在|平时|一般|目前)*(?:是)?谁(?:在|来)?(?P<what>(?!的|是|叫)\w{2,12})$"
)
_STILL = re.compile(r"(?:还|仍然?|依然)(?:是不是)?(?P<old>[^，。？?]{1,14}?)$")


@dataclass(frozen=True, slots=True)
class CompletedAnswer:
    """`text`: what the answer says as a statement; "": only its subject is known."""

    subject: Subject
    text: str = ""


def find_question(text: str) -> str:
    """The last question of an utterance, "" where it does not end in one; the end of a long one."""
    sentences = [said for _, said in split_sentences(text)][-2:]
    asked = next((said for said in reversed(sentences) if re.search(r"[？?]", said)), "")
    return asked.strip()[-_LONGEST_QUESTION:]


def complete_answer(
    question: str,
    answer: ChineseClause,
    speaker: str,
    people: frozenset[str],
    *,
    replies_about_itself: bool,
) -> CompletedAnswer | None:
    """What the first clause of an answer says; None where it needs no question.

    `replies_about_itself`: it names what it is about.
    """
    asked = _read_question(question)
    if asked is None:
        return None
    subject = find_subject(asked, speaker, "", people)
    if subject.kind in ("other", "somebody"):
        return None
    own = subject.kind in ("speaker", "nothing")
    topic = Subject(subject.kind, subject.owner, subject.phrase)
    topic = Subject("speaker", speaker, speaker) if own else topic
    told = _tell(asked.text, subject, speaker)
    if (doing := _WHO_DOES.match(asked.text)) and _is_nominal(answer):
        who = re.sub("^我(?=[\u4e00-\u9fff])", f"{speaker}的", answer.text)
        return CompletedAnswer(topic, f"{who}{doing['what']}")
    wh = _WH.search(told)
    if _STILL.search(told) and not (wh or _IS_WELL.search(told)):
        over = _ENDED.match(answer.text) or _SAYS_NO.search(answer.lead)
        if over and (ended := _deny(told, topic)):
            return CompletedAnswer(topic, f"{ended}，{answer.text}")
    if _NO.match(answer.text) or _is_no_more(answer, told):
        return CompletedAnswer(topic, _deny(told, topic))
    if not wh and _affirms(answer, told):
        done = (
            re.sub(r"(?:要|打算|准备|想)(?=\w)", "", told) if answer.text.endswith("了") else told
        )
        return CompletedAnswer(topic, done)
    if wh and _is_nominal(answer):
        fill = answer.text + ("岁" if wh[0] == "多大" and answer.text.isdigit() else "")
        if told[: wh.start()].endswith("在"):  # "在哪里？" "还在杭州"
            fill = re.sub(r"^(?:(?:还|就|也|现在|一直)?在|还(?=\w))", "", fill)
        rest = told[wh.end() :]
        rest = (
            rest[2:] if rest[:1] == fill[-1] else rest.removeprefix(fill[-2:])
        )  # "哪所大学" "武大"
        return CompletedAnswer(topic, told[: wh.start()] + fill + rest)
    if _is_nominal(answer) and re.search(r"[\d一二两三四五六七八九十半]", answer.text):
        vague = re.sub(r"(?:很|非常|挺)\w$|[多少久远贵高重忙]$", "", told)
        return CompletedAnswer(topic, vague + answer.text) if vague != told else None
    named = subject.phrase[len(subject.owner) + 1 :] if subject.kind == "thing" else subject.owner
    told_anew = own or replies_about_itself or (named and named[-2:] in answer.text)
    return None if told_anew or _SLIP.search(answer.text) else CompletedAnswer(topic)


def _is_no_more(answer: ChineseClause, told: str) -> bool:
    """No to "still", by the verb of the question or by none: "不弹了", "没有了"."""
    found = _NO_MORE.match(answer.text)
    return bool(found and _STILL.search(told) and found["verb"] in told)


def _affirms(answer: ChineseClause, told: str) -> bool:
    """Yes, or the verb of the question alone: "跑过", "生了"."""
    verb = re.fullmatch(r"(?:早|已经|都|刚)?(?P<verb>\w{1,3}?)[了过的]?", answer.text)
    return bool(_YES.match(answer.text) or (verb and verb["verb"] in told))


def _read_question(question: str) -> ChineseClause | None:
    """Its last clause, told by the one asked: "you" is "I"."""
    said = re.sub(r"[您你]们?", "我", _OPENING.sub("", _ASKING.sub("", question)))
    said = re.sub(r"是不是|(?<=有)没有|(\w)(?:不|没)(?=\1)", "", said)
    clauses = [clause for clause in split_clauses(said, 0) if len(clause.text) > 2]
    return clauses[-1] if clauses else None


def _tell(text: str, subject: Subject, speaker: str) -> str:
    if subject.kind == "nothing":
        return speaker + text.replace("我", "")
    return text[: subject.start] + subject.phrase + text[subject.end :].replace("我", speaker)


def _deny(told: str, topic: Subject) -> str:
    still = _STILL.search(told)
    if still:
        # "还在弹吉他" is over as "不弹吉他了", "还在面包店上班" as "不在面包店上班了".
        old = still["old"]
        old = old[1:] if old[:1] == "在" and _GOING_ON.match(old) else old
        return f"{told[: still.start()]}{'没' if old[:1] == '有' else '不'}{old}了"
    rest = told.removeprefix(topic.phrase)
    rest = re.sub(r"^(?:也|都|已经|现在|还)+|了$", "", rest)
    return f"{topic.phrase}没有{rest}" if rest and not _WH.search(rest) else ""


def _is_nominal(clause: ChineseClause) -> bool:
    return not any(tag in ("v", "vd", "vg") for _, tag in clause.words)
