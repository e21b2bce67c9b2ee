"""Statements of an utterance: clauses that say one thing of one person or thing.

Chinese leaves out what is understood. A clause without a subject goes on about the person before
it, describes what was just named, or is about its speaker; a short answer is about what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import rjieba

from memoryhub.engines.local.chinese.answers import complete_answer
from memoryhub.engines.local.chinese.clauses import (
    ChineseClause,
    split_clauses,
    split_sentences,
)
from memoryhub.engines.local.chinese.people import KIN, ROLES, find_relative, format_relative
from memoryhub.engines.local.chinese.rules import (
    SLIP_WORDS,
    classify_act,
    classify_predicate,
    is_bare_role,
    is_chitchat,
    is_hypothetical,
    is_planned,
    is_question,
    is_request,
)
from memoryhub.engines.local.chinese.subjects import (
    ANY_FAMILY_NAME,
    Subject,
    find_subject,
    has_role,
    is_kin,
)

_MOST_CLAUSES = 4  # of a statement
# What introduces something that the next clauses may describe: "keeps a cat", "lives in Ghent".
_INTRODUCES = re.compile(
    r"(?:有|养|买|请|找|换|租|开|认识|遇到|招|雇|订|捡|生|交|谈|报|办|用|喝|吃|戴|写|接|做|当|去|在|到|成|选|加入|入职|定)"
    r"(?:了|到|着|过|成|上|的)?\w{1,14}$"
)
_GOES_ON = re.compile(r"(?:还是?|仍然?|继续|只好|只能|先)(?:住|在|租|用|跟|做|去)")
_NOWADAYS = re.compile(r"(?:现在|目前|以后|后来)")
# "刘姨不做了，新来了个小邓": where the speaker is.
_COMES_NEW = re.compile(r"(?:现在|后来|又|刚)*新?(?:来|招|请|换|找)了(?:一?个|一?位)")
_MEETS = re.compile(
    rf"(?:处|谈|交|找|来|招|请|雇|换)了(?:一?个|一?位)新?的?(?P<role>{KIN}|{ROLES})"
    r"|有(?:一?个|一?位)亲?(?P<kin>哥哥|姐姐|弟弟|妹妹|男朋友|女朋友|男友|女友|对象)"
)
# "换了家教，新来的姓唐".
_REPLACED = re.compile(rf"换了?(?:一?个|一?位)?新?的?(?P<role>{ROLES})")
_NEWCOMER = re.compile(r"(?:现在)?(?:新[来换招请]|后来)的(?=[叫是姓])")
_OF_SOMEBODY = frozenset({"works_at", "works_as", "lives_in", "age"})
_IS_FROM = re.compile(r"(?:也是|是)?\w{2,4}(?:人|来的)")
_IS_GONE = re.compile(r"(?:走|离职|辞职|辞了|退休|不干|不教)了?$")
_NOT_THIS_MANY = re.compile(r"不是[\d一二两三四五六七八九十百千万半点.]+\w{0,2}")
_DONE_FOR_THEM = re.compile(
    r"换|(?:一共|总共)?花了(?:我|小|近|快|将近)?[\d一二两三四五六七八九十几]"
)
_FORMER_ONE = re.compile(r"(?:原来|之前|以前)(?:那|的那)")  # why it is no more: 原来那个太远
_HANDS_OVER = re.compile(r"(?:送|交|转|托付|寄养|嫁|过继)(?:给|到|在)(?=[我俺])")
_DESCRIBES = re.compile(
    r"^(?:就|才|都|也|还|大概|差不多|一共|总共|平均|现在|今年)*"
    r"(?:叫|姓|是|属|取名|起名|名叫|名字|[大小全真店]名|号码|尾号|价[钱格]|[\d一二两三四五六七八九十百半几每]|第|不到|快|[公母男女])"
)
_BARE_VERB = re.compile(r"(?:早|已经|都|刚|后来|全|就|又|也|给)*\w{1,2}(?:掉|完|光)?了")
_LONGEST_NUMBER = 40  # characters of a sentence that is a number alone
_NUMBER_ALONE = re.compile(r"\W*[\d.,:：/-]{1,20}[\u4e00-\u9fff%]{0,2}了?\W*")
_IS_CALLED = re.compile(r"(?:姓|叫|名叫)\w")
_TRAITS = re.compile(
    r"的(?:脾气|性格|人品|态度|口音|声音|嗓门|个子|身高|体重|年纪|岁数|酒量|手艺|水平|身体|身子骨|记性|胃口|睡眠|视力|听力"
    r"|耳朵|眼睛|嗓子|牙齿?|心脏|血[压糖脂]|尿酸|膝盖|腿脚?|手脚|腰|颈椎|肩膀"
    r"|数学|语文|英语|物理|化学|成绩|功课|作业|学习|普通话|发音|胆子)$"
)
# Where something is held: "婚礼定在10月6号，在郑州办".
_HELD_AT = re.compile(r"(?:就|也|还是)?在[^，。]{1,12}(?:办|举行|举办|召开|拍|做)的?")
_HEALERS = re.compile("(?:医生|大夫|护士)$")
_EARNED = re.compile(r"的(?:工资|收入|[月年]薪|薪水|退休金|奖金)$")
# What somebody has, told by its name alone: "我爸住院了，脑梗".
_ILLNESS = re.compile(
    r"\w{0,5}(?:癌|炎|病|症|瘤|结石|骨折|中风|[脑心]梗|高血压|痛风|感冒|发烧|突出|囊肿|结节|白内障|贫血)(?:[早中晚]期)?"
)
# What values do, not people.
_SHIFTS = re.compile(
    r"(?:现在|后来|又|已经|都|今年)*(?:涨|降|跌|升|推迟|延期?|改|减|加)(?:到|成|至|为)"
)
# "老谢把铺子卖了，铺租涨到5000": nobody is raised to a number.
_PRICED = re.compile(
    r"(?P<thing>(?!现在|后来|今年|已经|直接|马上|一下|从|又|都|也)[\u4e00-\u9fff]{2,4}?)(?:也|又|都|直接|从\w{1,6})*(?:涨|降|跌)(?:到|成|至)了?\d"
)
_YEARS = r"\d{1,2}|[二三四五六七八九]?十[一二三四五六七八九]?"
_AGED = re.compile(
    rf"(?:我|俺|他|她)?(?:今年|都|已经|刚满|刚|虚岁|周岁|马上|快|转眼)+(?:{_YEARS})了?"
)
_AGE_ALONE = re.compile(rf"[我俺]?(?:{_YEARS})了?")
_ABOUT_PERSON = re.compile(
    r"生日|^\d{2,3}(?:公斤|斤|kg|cm)|^[男女](?:的|生)?$|未婚|已婚|单身|^[我俺](?:姓|叫|是)\w{1,4}$|^\w{2,4}人$"
)
_NAMING = re.compile(r"^(?:名字|[大小全真店]名|号码|尾号|价[钱格])")
_ABLE = re.compile(
    r"^(?:还|特别|可|也)?(?:很|挺|太|真|超|特|贼|好|能|会|可以|够|带|包|含)(?!想|要)"
)
_TOPIC_MARK = re.compile(r"^[嘛呢吧啊…]")
_CAUSES = re.compile(r"让|给|叫(?=[我俺咱])|逼|催|劝|帮|替|陪|说|问|嫌|笑|骂|怪|要求|安排|派")
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
_SLIP = re.compile(rf"^.{{0,4}}(?:{SLIP_WORDS}).{{0,2}}$")
# Of something there, not of anyone: "at the door there is a cat".
_EXISTS = re.compile(r"^(?!家)\w{1,4}(?:有|是)(?!我)")
# What takes the place of something that has gone: "关门了，改去…".
_INSTEAD = re.compile(r"(?:就|所以|现在|后来|只好|我)*(?:改(?![天日变善正口]|主意)|换成|换到|换去)")
_GONE = re.compile(r"不\w{1,4}了$|没了$|(?:关门|倒闭|停业|拆|黄|卖|坏|丢|戒|取消)了?$")
# Who does something for the speaker, and is spoken of from there on: 现在带我们的是Grace.
_DOES_FOR_ONE = re.compile(
    r"(?:现在|目前|如今|以后|后来|新)*\w{1,3}(?:我们?|咱们?)\w{0,4}的(?:老师|人|领导|老板)?(?:是|叫|换成了?)(?:.{1,8}的)?"
    rf"(?P<name>[A-Z][A-Za-z]+|{ANY_FAMILY_NAME}(?:老师|医生|师傅|教练|经理|主任|总)|[小老]{ANY_FAMILY_NAME})"
)
_FOR_EXAMPLE = re.compile(r"(?:比如|例如)说?$")
_RESTARTS = re.compile(r"不过|但|可是|其实|反正|结果|后来|还好")


@dataclass(slots=True)
class Statement:
    """`subject` of its first clause; `completed`: that clause told with what was asked."""

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
    relative: Subject | None = None  # of the speaker's, spoken of in this message
    last: Statement | None = None  # the one just before, which a clause may go on with


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
        clauses = list(split_clauses(sentence, offset))
        last = before.last
        if last and len(last.clauses) < _MOST_CLAUSES and _is_number(sentence):
            last.clauses += clauses
            return []
        if before.subject.kind == "thing" or not is_kin(before.subject.owner):
            before.subject = self.own
        hidden = ""
        opening = next((c for c in clauses if c.list_verbs()), None)
        if opening is None or not _IS_CALLED.match(opening.text):
            before.last = None
        found = list[Statement]()
        for clause in _tell_roles(_tell_ages(clauses, self.speaker)):
            if clause.text in (self.speaker, f"我{self.speaker}"):  # "我胡阳，西安人"
                continue
            subject = find_subject(clause, self.speaker, before.known, self.people)
            open_ended = subject.kind == "nothing" or subject.end == len(clause.text)
            open_ended = open_ended or bool(before.described and _NAMING.match(clause.text))
            open_ended = open_ended or _ILLNESS.fullmatch(clause.text) is not None
            subject = self._find_whose(subject, before)
            subject = _find_newcomer(clause, found) or subject
            made = self._answer(question, clause, subject, sentence) if open_ended else None
            question = ""
            if made is None:
                hidden = _find_reason_to_hide(clause, subject, hidden)
                if subject.kind == "other" and _FORMER_ONE.match(clause.text):
                    continue
                if hidden or _says_nothing(clause, subject, before):
                    before.last = None
                    before.known = subject.owner if subject.kind == "person" else before.known
                    continue
                if before.last is not None and _continues(clause, open_ended, before.last, before):
                    before.last.clauses.append(clause)
                else:
                    if told := _DOES_FOR_ONE.fullmatch(clause.text):
                        name = told["name"]
                        subject = Subject("person", name, name, *told.span("name"))
                    elif subject.kind == "nothing":
                        subject = self._carry_subject(clause, before)
                    made = Statement(subject, [clause], sentence)
            if made is not None:
                found.append(made)
                before.last = made
            self._remember(clause, before)
        return found

    def _answer(
        self, question: str, clause: ChineseClause, subject: Subject, sentence: str
    ) -> Statement | None:
        """The statement that a clause makes with the question just asked."""
        if not question:
            return None
        own_topic = subject.kind != "nothing"
        answer = complete_answer(
            question, clause, self.speaker, self.people, replies_about_itself=own_topic
        )
        if answer is None:
            return None
        return Statement(answer.subject, [clause], sentence, answer.text)

    def _find_whose(self, subject: Subject, before: _Understood) -> Subject:
        """What everybody has is theirs who are spoken of: "the coach is called Lin, has a temper",
        "took on a cook, her hands are quick"."""
        if subject.kind != "thing" or before.last is None:
            return subject
        trait = _TRAITS.search(subject.phrase)
        whose, person = before.subject.owner, before.subject
        if trait and (met := _find_met_role(before.last)):
            whose = format_relative(met, self.speaker)
            person = Subject("person", whose, whose)
        # A boss's wages are none of one's business, and a relative's are.
        earned = _EARNED.search(subject.phrase) and is_kin(whose)
        if person.kind != "person" or not (trait or earned):
            return subject
        thing = subject.phrase.removeprefix(f"{subject.owner}的")
        return replace(subject, owner=whose, phrase=f"{person.phrase}的{thing}")

    def _carry_subject(self, clause: ChineseClause, before: _Understood) -> Subject:
        """A verb alone is about the thing before it ("卖了"). A relative goes on being spoken of,
        unless they did something to the speaker, or plans are told, which are one's own."""
        if before.thing is not None and _BARE_VERB.fullmatch(clause.text):
            return Subject("thing", before.thing.owner, before.thing.phrase)
        carried = before.subject
        # "心脏不好，装了支架": who has such a heart is spoken of.
        theirs = carried.kind == "thing" and carried.owner != self.speaker
        if theirs and _TRAITS.search(carried.phrase):
            carried = Subject("person", carried.owner, carried.owner)
        if _COMES_NEW.match(clause.text):
            return self.own
        if carried.kind == "person" and (priced := _PRICED.match(clause.text)):
            return Subject(
                "thing", self.speaker, f"{self.speaker}的{priced['thing']}", *priced.span("thing")
            )
        shifts = carried.kind == "thing" and bool(_SHIFTS.match(clause.text))
        # A knee changes to nothing: somebody does.
        counted = re.search(r"\d", clause.text) is not None
        shifts = shifts and (counted or not _TRAITS.search(carried.phrase))
        if before.last is not None and shifts:
            return Subject("thing", carried.owner, carried.phrase)
        if met := _find_met(before.last, clause):
            owner = format_relative(met, self.speaker)
            return Subject("person", owner, owner)
        if carried.kind != "person" or before.last is None:
            return self.own
        # Who left changes nothing, and who is ill does not pay: one does, for them.
        if _DONE_FOR_THEM.match(clause.text):
            return self.own
        related = is_kin(carried.owner) or has_role(carried.owner)
        caused = related and _CAUSES.search(before.last.clauses[0].text)
        # What is so still, or now that they are gone, is one's own: "房东不退押金，还住松江".
        goes_on = _GOES_ON.match(clause.text) or (
            _IS_GONE.search(before.last.clauses[-1].text) and _NOWADAYS.match(clause.text)
        )
        # What a doctor has done or advises is done to whoever was ill.
        patient = before.relative if _HEALERS.search(carried.owner) else None
        own_plans = has_role(carried.owner) and (is_planned(clause.text) or bool(goes_on))
        if caused or own_plans or patient:
            return patient or self.own
        return Subject("person", carried.owner, carried.phrase)

    def _remember(self, clause: ChineseClause, before: _Understood) -> None:
        """What the clause, told in the last statement, leaves understood."""
        if before.last is None:
            return
        subject = before.last.subject
        named = subject.kind in ("thing", "person") or bool(before.last.completed)
        apposed = before.described and not clause.list_verbs()
        before.described = named or apposed or bool(_INTRODUCES.search(clause.text))
        before.subject = subject
        if subject.kind == "person" and is_kin(subject.owner):
            before.relative = Subject("person", subject.owner, subject.phrase)
        elif subject.kind == "speaker":
            before.relative = None
        before.thing = subject if subject.kind == "thing" else before.thing
        person = subject.owner if subject.kind == "person" else ""
        relative = find_relative(clause.text, self.speaker)
        # "慢慢送给我妈养了，她在泉州": who was given it is spoken of.
        handed = relative if _HANDS_OVER.search(clause.text) else ""
        before.known = handed or person or relative or before.known


def _find_met(last: Statement | None, clause: ChineseClause) -> str:
    """Who was just told to be new in somebody's life, where the clause says what they do, where
    they live or how old they are: "处了个对象，在奶茶店上班". Else ""."""
    if last is None or not (
        classify_predicate(clause.text).key in _OF_SOMEBODY or _IS_FROM.fullmatch(clause.text)
    ):
        return ""
    return _find_met_role(last)


def _find_met_role(last: Statement) -> str:
    """What somebody is, whom a statement tells to be new; "" for nobody."""
    met = (_MEETS.search(told.text) for told in last.clauses)
    return next((found["role"] or found["kin"] for found in met if found), "")


def _is_number(sentence: str) -> bool:
    return len(sentence) <= _LONGEST_NUMBER and bool(_NUMBER_ALONE.fullmatch(sentence))


def _find_newcomer(clause: ChineseClause, told: Sequence[Statement]) -> Subject | None:
    """Who takes the place of somebody that this sentence has told to be replaced: 新来的姓唐, after
    "the daughter has another tutor"."""
    opening = _NEWCOMER.match(clause.text)
    if opening is None:
        return None
    for statement in reversed(told):
        for each in statement.clauses:
            if replaced := _REPLACED.search(each.text):
                whose = f"{statement.subject.owner}的{replaced['role']}"
                return Subject("person", whose, whose, 0, opening.end())
    return None


def _tell_ages(clauses: list[ChineseClause], speaker: str) -> Iterator[ChineseClause]:
    """ "今年76了", "28，未婚" and "马浩，24" with the years they leave out."""
    for place, clause in enumerate(clauses):
        near = clauses[place - 1] if place else next(iter(clauses[1:]), clause)
        personal = _ABOUT_PERSON.search(near.text) or near.text in (speaker, f"我{speaker}")
        alone = _AGE_ALONE.fullmatch(clause.text) and personal
        aged = alone or _AGED.fullmatch(clause.text)
        yield (
            replace(clause, text=re.sub(r"了?$", r"岁\g<0>", clause.text, count=1))
            if aged
            else clause
        )


def _tell_roles(clauses: Iterable[ChineseClause]) -> Iterator[ChineseClause]:
    """ "大二学生" and "程序员一枚" with the "am" they leave out."""
    before: ChineseClause | None = None
    for clause in clauses:
        alone = before is None or bool(before.list_verbs())
        told = f"是{clause.text}" if is_bare_role(clause.text, alone=alone) else ""
        yield replace(clause, text=told, words=tuple(rjieba.tag(told, False))) if told else clause
        before = clause


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


def _says_nothing(clause: ChineseClause, subject: Subject, before: _Understood) -> bool:
    if len(clause.text) < 2 or subject.kind in ("somebody", "other"):
        return True
    if _FOR_EXAMPLE.search(clause.lead) and not clause.list_verbs():
        return True
    there = before.last is None and clause.words[0][1] == "s" and _EXISTS.match(clause.text)
    nobody_called = before.last is None and _IS_CALLED.match(clause.text)
    if _NOT_THIS_MANY.fullmatch(clause.text):
        return True
    put_right = "不对" in clause.lead and clause.text.startswith("是")
    if there or nobody_called or put_right or _SLIP.search(clause.text):
        return True
    amazed = clause.mark.startswith("你")  # "粉丝破万了你敢信？" asks nothing
    said = clause.text if amazed else clause.text + clause.mark
    return is_question(said) or is_request(clause.text) or is_chitchat(clause.text)


def _continues(
    clause: ChineseClause, open_ended: bool, current: Statement, before: _Understood
) -> bool:
    """Whether a clause says more of what was just said; `open_ended`: it has no own subject."""
    if len(current.clauses) >= _MOST_CLAUSES:
        return False
    gone = _GONE.search(current.clauses[-1].text)
    if open_ended and _INSTEAD.match(clause.text) and gone:
        return True
    if gone and _NOWADAYS.match(clause.text):
        return False
    if _names_topic(current.clauses[-1], current.subject):
        return True
    if open_ended and current.subject.kind == "thing" and _HELD_AT.fullmatch(clause.text):
        return True
    if _find_met(current, clause) and classify_predicate(clause.text).key:
        return False
    if not open_ended or (_ATTRIBUTE.match(clause.text) and not before.described):
        return False
    text, verbs = clause.text, clause.list_verbs()
    if not verbs or _ILLNESS.fullmatch(text):
        return True
    if _DESCRIBES.match(text) or (before.described and text.endswith("的")):
        return True
    if before.described and (_ABLE.match(text) or clause.words[0][1] in ("s", "f")):
        return True
    again = {
        verb[0] for told in (current.clauses[0], current.clauses[-1]) for verb in told.list_verbs()
    }
    return verbs[0][0] in again


def _names_topic(clause: ChineseClause, subject: Subject) -> bool:
    """ "烟嘛……", "那个税务局的": only says what the next clause is about."""
    bare = subject.kind in ("thing", "person") and not clause.list_verbs()
    bare = bare and subject.end in (len(clause.text), len(clause.text) - 2)
    told = _TOPIC_MARK.match(clause.mark) or clause.text.startswith("那")
    return bool(bare and told and not re.search(r"\d", clause.text))
