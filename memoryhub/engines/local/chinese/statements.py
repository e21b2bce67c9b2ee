"""Statements of an utterance: clauses that say one thing of one person or thing.

Chinese leaves out what is understood. A clause without a subject goes on about the person before
it, describes what was just named, or is about its speaker; a short answer is about what was asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryhub.engines.local.chinese.answers import complete_answer
from memoryhub.engines.local.chinese.clauses import (
    ChineseClause,
    split_clauses,
    split_sentences,
)
from memoryhub.engines.local.chinese.people import find_relative
from memoryhub.engines.local.chinese.rules import (
    classify_act,
    is_chitchat,
    is_hypothetical,
    is_question,
    is_request,
)
from memoryhub.engines.local.chinese.subjects import Subject, find_subject, is_kin

_MOST_CLAUSES = 4  # of a statement
# What introduces something that the next clauses may describe: "keeps a cat", "lives in Ghent".
_INTRODUCES = re.compile(
    r"(?:有|养|买|请|找|换|租|开|认识|遇到|招|雇|订|捡|生|交|谈|报|办|用|喝|吃|戴|写|接|做|当|去|在|到|成|选|加入|入职|定)"
    r"(?:了|到|着|过|成|上|的)?\w{1,14}$"
)
_DESCRIBES = re.compile(
    r"^(?:就|才|都|也|还|大概|差不多|一共|总共|平均|现在|今年)*"
    r"(?:叫|姓|是|属|取名|起名|名叫|名字|[大小全真店]名|号码|尾号|价[钱格]|[\d一二两三四五六七八九十百半几每]|第|不到|快|[公母男女])"
)
_NAMING = re.compile(r"^(?:名字|[大小全真店]名|号码|尾号|价[钱格])")
_ABLE = re.compile(r"^(?:还|特别|可|也)?(?:很|挺|太|真|超|特|贼|好|能|会|可以|够|带|包|含)(?!想|要)")
_TOPIC_MARK = re.compile(r"^[嘛呢吧啊…]")
_CAUSES = re.compile(r"让|给|叫|逼|催|劝|帮|替|陪|说|问|嫌|笑|骂|怪|要求|安排|派")
_ATTRIBUTE = re.compile(r"^\d{1,3}(?:岁|公斤|斤|kg|cm|厘米|米)")
_REPORTED = re.compile(
    r"^.{0,14}?(?:(?<![你您小传])说(?!了算|服|明|好|定|不|清|话)|讲(?![课究台师座义价话解述理道])|(?<![你您])问(?!题|[你您])"
    r"|念叨|叨叨|提议|笑我|笑话|开玩笑|传言|传闻)|听说|据说"
)
# What others believe or would like.
_OTHERS_VIEW = re.compile(r"觉得|认为|以为|猜|估计|怀疑|笃定|断定|建议|嫌")
# Those whose word is taken: what they say is so.
_WITNESS = re.compile(
    r"医生|大夫|护士|医院|检查|复查|报告|体检|B超|老师|学校|公司|单位|[Hh][Rr]|房东|中介|教务|银行|法院|通知|客服"
)
_SLIP = re.compile(r"^.{0,4}[说打记写搞弄看]错.{0,2}$")
# Of something there, not of anyone: "at the door there is a cat".
_EXISTS = re.compile(r"^(?!家)\w{1,4}(?:有|是)(?!我)")
_RESTARTS = re.compile(r"不过|但|可是|其实|反正|结果|后来|还好")


@dataclass(slots=True)
class Statement:
    """`subject` of its first clause, and that clause as it is told where it completes a question."""

    subject: Subject
    clauses: list[ChineseClause]
    sentence: str
    completed: str = ""


@dataclass(slots=True)
class _Understood:
    """What the clauses so far leave understood."""

    subject: Subject
    known: str = ""  # whom 他 or 她 stands for
    described: bool = False  # something was named that may be described


class StatementReader:
    """Reads the utterances of one speaker. `people`: names known to be people's."""

    def __init__(self, speaker: str, people: frozenset[str]) -> None:
        self.speaker = speaker
        self.people = people
        self.own = Subject("speaker", speaker, speaker)

    def read_statements(self, text: str, known: str = "", question: str = "") -> list[Statement]:
        """Its statements in order. `known`: whom 他 or 她 stands for; `question`: just asked."""
        found = list[Statement]()
        before = _Understood(self.own, known)
        for offset, sentence in split_sentences(text):
            if classify_act(sentence) != "forget":
                found += self._read_sentence(sentence, offset, before, question)
            question = ""
        return found

    def _read_sentence(
        self, sentence: str, offset: int, before: _Understood, question: str
    ) -> list[Statement]:
        found = list[Statement]()
        current: Statement | None = None
        if before.subject.kind == "thing" or not is_kin(before.subject.owner):
            before.subject = self.own
        hidden = ""  # why the clauses say nothing: somebody's words, or what might be
        for clause in split_clauses(sentence, offset):
            subject = find_subject(clause, self.speaker, before.known, self.people)
            open_ended = subject.kind == "nothing" or subject.end == len(clause.text)
            open_ended = open_ended or bool(before.described and _NAMING.match(clause.text))
            answer = (
                complete_answer(
                    question,
                    clause,
                    self.speaker,
                    self.people,
                    replies_about_itself=subject.kind != "nothing",
                )
                if question and open_ended
                else None
            )
            question = ""
            if answer is not None:
                current = Statement(answer.subject, [clause], sentence, answer.text)
                before.subject, before.described = answer.subject, True
                found.append(current)
                continue
            hidden = _find_reason_to_hide(clause, subject, hidden)
            exists = current is None and clause.words[0][1] == "s" and _EXISTS.match(clause.text)
            if hidden or exists or _says_nothing(clause, subject):
                current = None
                before.known = subject.owner if subject.kind == "person" else before.known
                continue
            if current is not None and _names_topic(current.clauses[-1], current.subject):
                current.clauses.append(clause)
            elif current is not None and open_ended and _continues(clause, current, before):
                current.clauses.append(clause)
            else:
                if subject.kind == "nothing":
                    subject = self._carry_subject(before, current)
                current = Statement(subject, [clause], sentence)
                found.append(current)
            self._remember(clause, current.subject, before)
        return found

    def _carry_subject(self, before: _Understood, current: Statement | None) -> Subject:
        """A relative goes on being spoken of, unless they did something to the speaker."""
        carried = before.subject
        if carried.kind != "person" or current is None:
            return self.own
        causes = _CAUSES.search(current.clauses[0].text)
        named = Subject("nothing", carried.owner, carried.phrase)
        return self.own if causes and not carried.owner in self.people else named

    def _remember(self, clause: ChineseClause, subject: Subject, before: _Understood) -> None:
        before.described = subject.kind in ("thing", "person") or bool(
            _INTRODUCES.search(clause.text)
        )
        before.subject = subject
        person = subject.owner if subject.kind == "person" else ""
        before.known = person or find_relative(clause.text, self.speaker) or before.known


def _find_reason_to_hide(clause: ChineseClause, subject: Subject, hidden: str) -> str:
    if _RESTARTS.search(clause.lead) or (hidden == "somebody" and subject.kind != "nothing"):
        hidden = ""
    if subject.kind == "somebody":
        return "somebody"
    if is_hypothetical(clause.text + clause.mark):
        return "hypothetical"
    told = _REPORTED.search(clause.text)
    if told and not _WITNESS.search(told[0]):
        return "reported"
    if subject.kind == "person" and _OTHERS_VIEW.search(clause.text):
        return "reported"
    if hidden == "reported" and subject.kind == "speaker":
        return ""
    return hidden


def _says_nothing(clause: ChineseClause, subject: Subject) -> bool:
    if len(clause.text) < 2:
        return True
    if subject.kind in ("somebody", "other") or _SLIP.search(clause.text):
        return True
    said = clause.text + clause.mark
    return is_question(said) or is_request(clause.text) or is_chitchat(clause.text)


def _continues(clause: ChineseClause, current: Statement, before: _Understood) -> bool:
    """Whether a clause without a subject of its own says more of what was just said."""
    if len(current.clauses) >= _MOST_CLAUSES:
        return False
    if _ATTRIBUTE.match(clause.text) and not before.described:
        return False
    text = clause.text
    verbs = [word for word, tag in clause.words if tag.startswith("v") and tag != "vn"]
    if not verbs or _DESCRIBES.match(text) or (before.described and text.endswith("的")):
        return True
    if before.described and (_ABLE.match(text) or clause.words[0][1] in ("s", "f")):
        return True
    return verbs[0] in current.clauses[-1].text or verbs[0] in current.clauses[0].text


def _names_topic(clause: ChineseClause, subject: Subject) -> bool:
    """ "烟嘛……", "那个税务局的": only says what the next clause is about."""
    bare = subject.kind == "thing" and subject.end == len(clause.text)
    told = _TOPIC_MARK.match(clause.mark) or clause.text.startswith("那")
    return bool(bare and told and not re.search(r"\d", clause.text))
