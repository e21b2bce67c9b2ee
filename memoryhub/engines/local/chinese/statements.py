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
    is_planned,
    is_question,
    is_request,
)
from memoryhub.engines.local.chinese.subjects import Subject, find_subject, has_role, is_kin

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
_BARE_VERB = re.compile(r"(?:早|已经|都|刚|后来|全|就|又|也|给)*\w{1,2}(?:掉|完|光)?了")
_NUMBER_ALONE = re.compile(r"\W*[\d.,:：/-]{1,20}[\u4e00-\u9fff%]{0,2}了?\W*")
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
    thing: Subject | None = None  # the last thing that was a subject
    last: Statement | None = None


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
            # "Which, the red one?" asks back; what comes then is the answer.
            asks_back = len(sentence) < 10 and is_question(sentence)
            question = question if asks_back else ""
        return found

    def _read_sentence(
        self, sentence: str, offset: int, before: _Understood, question: str
    ) -> list[Statement]:
        found = list[Statement]()
        current: Statement | None = None
        adds_number = before.last is not None and _NUMBER_ALONE.fullmatch(sentence)
        if adds_number and len(before.last.clauses) < _MOST_CLAUSES:
            before.last.clauses += split_clauses(sentence, offset)
            return found
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
                before.thing = answer.subject if answer.subject.kind == "thing" else None
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
                    subject = self._carry_subject(clause, before, current)
                current = Statement(subject, [clause], sentence)
                found.append(current)
            self._remember(clause, current, before)
        return found

    def _carry_subject(
        self, clause: ChineseClause, before: _Understood, current: Statement | None
    ) -> Subject:
        """A verb alone is about the thing before it ("卖了"). A relative goes on being spoken of,
        unless they did something to the speaker, or plans are told, which are one's own."""
        if before.thing is not None and _BARE_VERB.fullmatch(clause.text):
            return Subject("thing", before.thing.owner, before.thing.phrase)
        carried = before.subject
        if carried.kind != "person" or current is None:
            return self.own
        named = not (is_kin(carried.owner) or has_role(carried.owner))
        causes = _CAUSES.search(current.clauses[0].text) and not named
        own_plans = has_role(carried.owner) and is_planned(clause.text)
        return self.own if causes or own_plans else Subject("person", carried.owner, carried.phrase)

    def _remember(
        self, clause: ChineseClause, statement: Statement, before: _Understood
    ) -> None:
        subject = statement.subject
        before.described = subject.kind in ("thing", "person") or bool(
            _INTRODUCES.search(clause.text)
        )
        before.subject = subject
        before.thing = subject if subject.kind == "thing" else before.thing
        before.last = statement
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
    verbs = clause.list_verbs()
    if not verbs or _DESCRIBES.match(text) or (before.described and text.endswith("的")):
        return True
    if before.described and (_ABLE.match(text) or clause.words[0][1] in ("s", "f")):
        return True
    return verbs[0] in current.clauses[-1].text or verbs[0] in current.clauses[0].text


def _names_topic(clause: ChineseClause, subject: Subject) -> bool:
    """ "烟嘛……", "那个税务局的": only says what the next clause is about."""
    bare = subject.kind in ("thing", "person") and not clause.list_verbs()
    bare = bare and subject.end in (len(clause.text), len(clause.text) - 2)
    told = _TOPIC_MARK.match(clause.mark) or clause.text.startswith("那")
    return bool(bare and told and not re.search(r"\d", clause.text))
