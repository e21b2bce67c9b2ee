"""Chinese without a model: segmentation, part-of-speech tags and word patterns.

Facts keep the speaker's own words in the third person. Triples are left out: on real
dialogue too few of them were right.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, takewhile
from types import MappingProxyType

import rjieba

from memoryhub.engines.local.attribution.told import RestatedText
from memoryhub.engines.local.chinese.answers import find_question
from memoryhub.engines.local.chinese.changes import read_own_changes, read_successors
from memoryhub.engines.local.chinese.clauses import (
    ChineseClause,
    TaggedWord,
    split_sentences,
    tag_words,
)
from memoryhub.engines.local.chinese.corrections import CorrectedStatement, apply_corrections
from memoryhub.engines.local.chinese.dates import find_times
from memoryhub.engines.local.chinese.endings import Predicate, is_over
from memoryhub.engines.local.chinese.introductions import read_introductions
from memoryhub.engines.local.chinese.judgements import decide, list_clause_features
from memoryhub.engines.local.chinese.people import (
    KIN,
    ROLES,
    find_antecedent,
)
from memoryhub.engines.local.chinese.rules import (
    GOES_ON,
    GREETING,
    ParsedCorrection,
    classify_act,
    classify_predicate,
    derive_kind,
    derive_polarity,
    find_named_firm,
    has_others_do,
    is_correction,
    is_single_valued,
    parse_correction,
)
from memoryhub.engines.local.chinese.statements import Statement, StatementReader
from memoryhub.engines.local.chinese.subjects import Subject
from memoryhub.engines.local.chinese.traditional import (
    fold_traditional,
    has_traditional,
    list_written_forms,
)
from memoryhub.engines.local.claims.predicates import HOME_AND_JOB
from memoryhub.engines.local.dates.past import find_stated_end, widen_range
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    EntityMention,
    Exchange,
    Extraction,
    FactCandidate,
    NoteDraft,
    Polarity,
    SourceSpan,
    SpeechAct,
    TimeSpan,
    Utterance,
)

_MOST_FACTS, _MOST_KEYWORDS = 20, 12  # spec §16
_CONFIDENCE = 0.8
_NOUN_TAGS = ("n", "vn", "an", "l", "i", "j", "eng")


_EMPTY_NOUNS = split_words(
    "事 事情 问题 时候 东西 朋友 感觉 时间 方法 建议 情况 方面 地方 样子 "
    "意思 有点 有些 一些 一下 人 话 自己 大家 这样 那样 非常 特别 真的 今天 "
    "最近 现在 想法 主意 兴趣 好处 办法 事儿 过程 内容 部分 方式 原因 关系 "
    "个人 感受 心情 机会 伴侣 帮助 聊天 选择 程度 能力 忙 生活 工作 点 会 "
    "天 家 话题 次 个 事物 作用 结果 目前 我会 很多 身边 "
)
# What people say to each other: it is no subject of what they speak of.
_COURTESIES = split_words(
    "你好 您好 大家好 新年好 早上好 上午好 下午好 中午好 晚上好 晚安 早安 再见 拜拜 谢谢 感谢 多谢 "
    "不客气 好消息 恭喜 祝贺 加油 哈哈 哈哈哈 试试 辛苦 抱歉 不好意思 没关系 慢慢来 小时候 长大 "
)
_EMPTY_VERBS = split_words(
    "觉得 感觉 感到 认为 知道 希望 想要 打算 准备 计划 决定 开始 继续 需要 "
    "可以 应该 考虑 尝试 期待 喜欢 没有 发现 成为 进行 试试 看看 想想 分享 "
    "离开 休息 处理 努力 去做 有点 不能 无法 能够 愿意 可能 遇到 解决 改变 "
    "享受 来说 不要 感激 实践 "
)
_THEME_PATTERNS = {
    "饮食": "吃|喝|菜|饭|餐|美食|火锅|咖啡|茶|酒|烹饪|厨",
    "旅行": "旅行|旅游|机票|酒店|景点|出国|度假",
    "工作": "工作|公司|上司|同事|加班|职|项目|面试|辞",
    "学习": "学习|考试|课|大学|学校|作业|毕业|论文|老师",
    "健康": "病|医院|医生|健身|锻炼|跑步|过敏|失眠|减肥|瑜伽",
    "家庭": "妈|爸|父|母|孩子|儿子|女儿|家人|丈夫|妻子|哥|姐|弟|妹|奶奶|爷爷",
    "情感": "恋|分手|结婚|离婚|孤独|压力|焦虑|难过|伤心|开心|烦",
    "艺术": "画|音乐|钢琴|吉他|唱|电影|小说|摄影|舞|演唱会|书法",
    "运动": "球|游泳|骑行|登山|徒步|滑雪|跑|瑜伽",
    "宠物": "猫|狗|宠物|兔|金鱼|鹦鹉",
    "居住": "住|搬|房|公寓|租|家具|装修",
}
_ENTITY_TYPES = {"nr": "person", "ns": "place", "nt": "organisation", "nrt": "person"}
_PARTED = re.compile(r"(?<=..)分$")  # the tagger reads 跟陈浩分了 as of one 陈浩分
_WORDS = re.compile(r"[^\W\d零一二两三四五六七八九十百千万]")
# What one never eats or drinks is to be known, however briefly it is said: "不吃肉".
_DIET = re.compile(
    r"(?:我|平时|从来|一直|也|都|现在)*(?:不(?:能|怎么)?[吃喝](?!了|饭|下|得|到|亏|醋)\w{1,6}$|吃[全素]|.{0,6}(?:过敏|不耐受))"
)
# And what is taken day by day, or befell somebody: "每天吃优甲乐", "怀孕了".
_TAKES = re.compile(
    r"(?:我|现在|目前|一直|还|也|得|要|都)*(?:每[天日晚早周]\w{0,4}?|天天|长期|一天\w{1,2}[次片粒颗针])(?:都|要|得|还|在)*"
    r"(?:吃(?!饭|不)|服|打(?=\w*(?:针|胰岛素))|注射)\w{2,}"
)
_BEFELL = re.compile(
    r"(?:我|俺)?(?:终于|又|已经|刚|真的|都)*(?:怀孕|怀上|离婚|结婚|订婚|领证|失业|毕业|退休|辞职|离职|住院|出院|分手|脱单)了"
)
# A number to call or an address of mail, however briefly it is told.
_CONTACT = re.compile(
    r"\w{0,8}(?:手机号?码?|电话号?码?|号码|邮箱|微信号?|QQ号?|车牌号?|账号|密码)(?:现在|目前)?(?:是|叫|为|[：:\s])*[A-Za-z0-9@._+-]{5,}"
)
_TIED = re.compile(
    r"(?:我|刚|已经|现在|最近)*(?:[有找交]了?(?:新的?)?(?:男|女)?(?:朋友|对象)了?|脱单了?)"
)
# What a "no" says of what was asked with "still".
_NO_LONGER = re.compile(r"[不没][^，。]{1,14}了(?:$|，)")
_SHORTEST_HABIT = 3  # characters
_MEASURE_ALONE = re.compile(
    r"(?:才|都|快|大概|差不多|已经|刚)*[\d一二两三四五六七八九十几半]+(?:个半?)?(?:多)?(?:月|年|天|周|星期|小时)了?"
)
_SPEAKER_IN_PERSON = re.compile(r"(?<![\u4e00-\u9fff])本人")  # and not in 日本人
_POLITE_KIN = re.compile("叔叔|伯父|伯母|阿姨|大爷|大妈|大叔|老人家?")
_PET_WORD = re.compile(r"[只条匹]|猫|狗|宠物|儿子|女儿|孩子")


def extract_from_exchange(
    exchange: Exchange, restated: Mapping[str, RestatedText] = MappingProxyType({})
) -> Extraction:
    """One construction of the exchange's Chinese utterances; facts only from people's turns.

    `restated`: by handle, what was written down to be kept. Traditional characters are read as
    simplified ones, and what is told of them is put into the writer's own.
    """
    said = [u.text for u in (*exchange.history, *exchange.utterances)]
    if not any(map(has_traditional, said)):
        return _extract_simplified(exchange, restated)
    spoke = (u.speaker for u in (*exchange.history, *exchange.utterances))
    names = {
        fold_traditional(name): name
        for name in (*exchange.names, *exchange.participants, *spoke, exchange.subject)
    }
    folded = replace(
        exchange,
        utterances=[_fold_utterance(u) for u in exchange.utterances],
        history=[_fold_utterance(u) for u in exchange.history],
        participants=[fold_traditional(name) for name in exchange.participants],
        subject=fold_traditional(exchange.subject),
        names=[fold_traditional(name) for name in exchange.names],
    )
    return _write_as_told(_extract_simplified(folded, restated), exchange, names)


def _fold_utterance(told: Utterance) -> Utterance:
    return replace(told, speaker=fold_traditional(told.speaker), text=fold_traditional(told.text))


def _write_as_told(found: Extraction, exchange: Exchange, names: Mapping[str, str]) -> Extraction:
    """What was read of folded texts, in the characters of those who wrote them. `names`: as they
    are written, by how they were read."""
    forms = list_written_forms(u.text for u in (*exchange.history, *exchange.utterances))
    known = [(read, name) for read, name in names.items() if read and read != name]

    def write(text: str) -> str:
        for read, name in known:
            text = text.replace(read, name)
        return text.translate(forms)

    said = {u.handle: u.text for u in exchange.utterances}
    facts = tuple(
        replace(
            fact,
            text=write(fact.text),
            owner=write(fact.owner),
            speaker=write(fact.speaker),
            subject=write(fact.subject),
            verb=write(fact.verb),
            object=write(fact.object),
            complement=write(fact.complement),
            event=fact.event and replace(fact.event, text=write(fact.event.text)),
        )
        for fact in found.facts
    )
    note = found.note and replace(
        found.note,
        keywords=tuple(map(write, found.note.keywords)),
        context=write(found.note.context),
    )
    times = {
        handle: tuple(
            replace(time, text=said[handle][time.at : time.at + len(time.text)])
            for time in found_of
        )
        for handle, found_of in found.times.items()
    }
    entities = tuple(replace(each, name=write(each.name)) for each in found.entities)
    return replace(found, facts=facts, note=note, times=times, entities=entities)


def _extract_simplified(exchange: Exchange, restated: Mapping[str, RestatedText]) -> Extraction:
    speakers = (utterance.speaker for utterance in exchange.utterances)
    told = [*exchange.history, *exchange.utterances]
    introduced = (fact.owner for u in told for fact in read_introductions(u))
    people = frozenset([*exchange.participants, *exchange.names, *speakers, *introduced]) - {""}
    acts = {u.handle: _classify_sentences(u.text) for u in exchange.utterances}
    spoken = [u for u in exchange.utterances if u.role == "user"]
    read = (_extract_facts(u, exchange, people, restated.get(u.handle)) for u in spoken)
    facts = [fact for found in read for fact in found][:_MOST_FACTS]
    times = {u.handle: find_times(u.text, u.at) for u in exchange.utterances}
    words = [word for u in exchange.utterances for word in tag_words(u.text)]
    return Extraction(
        facts=tuple(facts),
        entities=_extract_entities(exchange, words, people),
        note=build_note_draft([u.text for u in exchange.utterances], facts, people),
        speech_acts={handle: _choose_overall_act(found) for handle, found in acts.items()},
        times={handle: found for handle, found in times.items() if found},
        topic_cue=bool(exchange.utterances and GREETING.match(exchange.utterances[0].text)),
    )


def _classify_sentences(text: str) -> list[SpeechAct]:
    return [classify_act(sentence) for _, sentence in split_sentences(text)]


def _choose_overall_act(acts: Sequence[SpeechAct]) -> SpeechAct:
    order: tuple[SpeechAct, ...] = ("forget", "assertion", "question", "request", "hypothetical")
    return next((act for act in order if act in acts), "chitchat")


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact with the statement it was read from, whether or not it is worth keeping."""

    fact: FactCandidate
    statement: Statement

    def list_features(self) -> Iterator[str]:
        """What its worth is decided by."""
        statement, fact = self.statement, self.fact
        text = "，".join(clause.text for clause in statement.clauses)
        words = [word for clause in statement.clauses for word in clause.words]
        if statement.completed:  # "没有" says nothing without what was asked
            text = statement.completed.removeprefix(fact.speaker)
            words = rjieba.tag(text, False)
        yield from list_clause_features(text, words)
        yield f"about:{statement.subject.kind}"
        yield f"named:{statement.subject.end > 0}"
        yield f"clauses:{len(statement.clauses)}"
        yield f"answers:{bool(statement.completed)}"
        yield f"mark:{statement.clauses[-1].mark[-1:]}"
        yield f"length:{min(6, len(text) // 4)}"
        yield f"number:{re.search(r'[0-9]', text) is not None}"
        yield f"kind:{fact.kind}"
        yield f"polarity:{fact.polarity}"
        yield f"dated:{fact.event is not None}"

    def is_worth_keeping(self) -> bool:
        """What the table has a predicate for, what ended, and what is like what people kept."""
        known = self.fact.predicate_key or self.fact.polarity == "ended" or self.fact.correction
        clauses = self.statement.clauses
        known = known or any(map(_is_to_be_known, clauses))
        known = known or bool(_BEFELL.fullmatch(clauses[0].text))
        return bool(known) or decide("worth", self.list_features())


def _is_to_be_known(clause: ChineseClause) -> bool:
    """Whether it tells what is kept however briefly it is said: a diet, a medicine, a number to
    call, or what somebody has done for so long ("一天一包烟抽了三十年了")."""
    text = clause.text
    if _DIET.match(text) or _TAKES.match(text) or _CONTACT.fullmatch(text) or _TIED.fullmatch(text):
        return True
    habit = GOES_ON.search(clause.text)
    return habit is not None and habit.start() >= _SHORTEST_HABIT


def _extract_facts(
    utterance: Utterance,
    exchange: Exchange,
    people: frozenset[str],
    restated: RestatedText | None = None,
) -> list[FactCandidate]:
    stated = list_stated_facts(utterance, exchange, people)
    worth = (
        each.fact
        for each in stated
        if (restated and restated.is_kept(each.fact.sources[0].start)) or each.is_worth_keeping()
    )
    found = list(islice(worth, _MOST_FACTS))
    for offset, sentence in split_sentences(utterance.text):
        corrected = parse_correction(sentence)
        if corrected:
            end = offset + len(sentence)
            found = [f for f in found if not offset <= f.sources[0].start < end]
            found.append(_build_correction(utterance, corrected, offset, sentence))
    found = _put_slips_right(found, utterance, exchange, people)
    own = (
        change for change in read_own_changes(utterance.text) if not _is_anothers(change, stated)
    )
    for change in (*read_successors(utterance.text), *own):
        told = replace(utterance, text=change.text)
        source = SourceSpan(utterance.handle, change.start, change.end)
        facts = [each.fact for each in list_stated_facts(told, Exchange([told]), people)]
        found = [f for f in found if not _is_within(f.sources[0], change)]
        found += [replace(fact, sources=(source,)) for fact in facts]
    introduced = _read_new_introductions(utterance, found)
    found = [fact for fact in found if not _only_names(fact, introduced)] + introduced
    return [_demote_second_home(fact, found[:i]) for i, fact in enumerate(found)]


def _is_anothers(change: CorrectedStatement, stated: Sequence[StatedFact]) -> bool:
    """Whether what is taken for the speaker's own is read there as told of somebody else."""
    return any(
        each.fact.owner != each.fact.speaker
        and each.fact.sources[0].start < change.end
        and each.fact.sources[0].end > change.start
        for each in stated
    )


def _is_within(source: SourceSpan, change: CorrectedStatement) -> bool:
    """Whether it says no more than a change that is told in whole."""
    return change.start <= source.start and source.end <= change.end


def _only_names(fact: FactCandidate, introduced: Sequence[FactCandidate]) -> bool:
    """Whether it is no more than the names of those who were introduced: 米粒和豆包, 室友叫周凯."""
    if any(fact.text == f"{each.complement}叫{each.owner}。" for each in introduced):
        return True
    rest = fact.text.removeprefix(f"{fact.speaker}的").rstrip("。")
    return {*re.split("[和跟、]", rest)} <= {each.owner for each in introduced}


def _read_new_introductions(
    utterance: Utterance, found: Sequence[FactCandidate]
) -> list[FactCandidate]:
    told = {fact.text for fact in found}
    made = {fact.text: fact for fact in read_introductions(utterance)}
    return [fact for text, fact in made.items() if text not in told]


def _put_slips_right(
    found: Sequence[FactCandidate],
    utterance: Utterance,
    exchange: Exchange,
    people: frozenset[str],
) -> list[FactCandidate]:
    """What the speaker said before, with the value that is right instead of what was read."""
    said = [*exchange.history, *exchange.utterances]
    before = [u.text for u in said[: said.index(utterance)] if u.speaker == utterance.speaker]
    kept = list(found)
    for put in apply_corrections(utterance.text, before[::-1]):
        told = replace(utterance, text=put.text)
        facts = [each.fact for each in list_stated_facts(told, Exchange([told]), people)]
        kept = [f for f in kept if f.sources[0].end <= put.start or f.sources[0].start >= put.end]
        source = SourceSpan(utterance.handle, put.start, put.end)
        kept += [replace(f, correction=True, sources=(source,)) for f in facts]
    return kept


def list_stated_facts(
    utterance: Utterance, exchange: Exchange, people: frozenset[str]
) -> list[StatedFact]:
    """All that an utterance of the exchange states of people and their things."""
    earlier = [*exchange.history, *exchange.utterances]
    before = earlier[: earlier.index(utterance)]
    known = find_antecedent(map(_drop_polite_kin, reversed(before[-2:])), utterance.speaker)
    asked = before[-1] if before and before[-1].speaker != utterance.speaker else None
    reader = StatementReader(utterance.speaker, people - {utterance.speaker})
    question = find_question(asked.text) if asked else ""
    statements = reader.read_statements(utterance.text, known, question)
    parts = [part for statement in statements for part in _split_by_predicate(statement)]
    times = find_times(utterance.text, utterance.at)
    return [
        StatedFact(_build_fact(utterance, part, times), part)
        for part in parts
        if _is_specific(part.clauses, part.subject.owner)
        and (part.completed or not all(_MEASURE_ALONE.fullmatch(c.text) for c in part.clauses))
    ]


def _drop_polite_kin(utterance: Utterance) -> str:
    """What it says, without an assistant's 叔叔, who is the father just spoken of."""
    text = utterance.text
    return _POLITE_KIN.sub("", text) if utterance.role == "assistant" else text


def _demote_second_home(fact: FactCandidate, before: Sequence[FactCandidate]) -> FactCandidate:
    """A second home in one breath is where in the city it is, not another city."""
    homes = (f for f in before if f.predicate_key == "lives_in" == fact.predicate_key)
    again = any(f.owner == fact.owner and f.polarity == "holds" for f in homes)
    return replace(fact, predicate_key="", cardinality="multi") if again else fact


def _build_correction(
    utterance: Utterance, corrected: ParsedCorrection, offset: int, sentence: str
) -> FactCandidate:
    """The day it was first told on is not known here, so no date is made of a weekday."""
    speaker = utterance.speaker
    return FactCandidate(
        text=f"{speaker}的{corrected.thing}是{corrected.new}，不是{corrected.old}。",
        owner=speaker,
        speaker=speaker,
        pattern="SVC",
        subject=f"{speaker}的{corrected.thing}",
        verb="是",
        complement=corrected.new,
        predicate_key=corrected.key,
        cardinality="single" if is_single_valued(corrected.key) else "multi",
        kind="attribute",
        confidence=_CONFIDENCE,
        correction=True,
        sources=(SourceSpan(utterance.handle, offset, offset + len(sentence)),),
    )


def _split_by_predicate(statement: Statement) -> list[Statement]:
    """One statement per predicate of the table: a move and a new job are two facts, and so are
    the home that was left and the new one."""
    groups: list[list[ChineseClause]] = []
    keys: set[tuple[str, bool]] = set()
    for clause in statement.clauses:
        key = _classify_clause(clause, statement, groups[-1] if groups else ()).key
        said = clause.text
        if clause is statement.clauses[0] and statement.subject.kind == "person":
            said = said[statement.subject.end :]
        told = (key, derive_polarity(said, said) == "ended")
        # "走了，14岁": what was over before it is none of it.
        over = bool(key and groups) and is_over(groups[-1][-1])
        if not groups or (key and (keys or over) and told not in keys):
            groups.append([])
        groups[-1].append(clause)
        keys |= {told} if key else set()
    rest = Subject("nothing", statement.subject.owner, statement.subject.phrase)
    first = replace(statement, clauses=groups[0])
    return [first, *(Statement(rest, each, statement.sentence) for each in groups[1:])]


def _classify_clause(
    clause: ChineseClause, statement: Statement, before: Sequence[ChineseClause]
) -> Predicate:
    """Of the table; what the speaker's belongings are or do is none of the speaker's own."""
    told_of_another = statement.subject.kind == "person" and has_others_do(clause.text)
    if statement.subject.kind == "thing":
        return find_named_firm(clause.text) or Predicate("", "")
    if told_of_another:
        return Predicate("", "")
    told = statement.subject if clause is statement.clauses[0] else None
    # What befalls others is theirs, once they are known.
    theirs = told is not None and told.kind == "person"
    found = classify_predicate(clause.text[told.end :] if told and theirs else clause.text)
    pet = bool(before) and any(_PET_WORD.search(c.text) for c in before)
    return Predicate("", "") if pet and found.key in ("age", "name") else found


def _classify_clauses(statement: Statement) -> list[Predicate]:
    clauses = statement.clauses
    return [_classify_clause(clause, statement, clauses[:i]) for i, clause in enumerate(clauses)]


def _is_specific(clauses: Sequence[ChineseClause], owner: str) -> bool:
    """Whether a statement names something beyond its speaker and the weather of a talk."""
    introduced = re.compile(rf"我(?:叫|是|的名字[是叫])做?{re.escape(owner)}")
    if any(introduced.fullmatch(clause.text) for clause in clauses):
        return False
    if not any(_WORDS.search(clause.text) for clause in clauses):
        return False
    if all(clause.text in ("过敏", "不耐受") for clause in clauses):
        return False
    return not re.search(r"(?:(?<![小准及临按工平])时|时候|之后|以后)$", clauses[-1].text)


def _is_content_noun(word: TaggedWord) -> bool:
    text, tag = word
    return tag.startswith(_NOUN_TAGS) and text not in _EMPTY_NOUNS and (len(text) > 1 or tag == "n")


def find_main_clause(statement: Statement) -> ChineseClause:
    """The first clause that has a verb, else the first."""
    verbal = (clause for clause in statement.clauses if clause.list_verbs())
    return next(verbal, statement.clauses[0])


def _build_fact(
    utterance: Utterance, statement: Statement, times: Sequence[TimeSpan]
) -> FactCandidate:
    speaker, clauses, subject = utterance.speaker, statement.clauses, statement.subject
    main = find_main_clause(statement)
    first = main.text
    key, value = next((p for p in _classify_clauses(statement) if p.key), Predicate("", ""))
    start, end = clauses[0].start, clauses[-1].end
    event = _find_event(utterance.text, times, start, end)
    verb, rest = _split_at_verb(main.words)
    head = first[: len(first) - len(rest)] if rest else first
    if subject.kind == "person" and main is clauses[0]:
        first, head = first[subject.end :], head[subject.end :]
    polarity = _adjust_polarity(first, head, event, utterance.at)
    over = is_over(main) or _NO_LONGER.search(statement.completed)
    if polarity in ("holds", "denied") and not key and over:
        polarity = "ended"
    wished = subject.kind == "person" and re.search(r"想让|要让|希望|盼|催|劝|想叫|非要?让", first)
    polarity = "planned" if wished and polarity == "holds" else polarity
    whichever = key and polarity == "ended" and not value  # "辞掉了工作" names none
    said = "" if whichever else value or _to_third_person(rest, speaker)
    until = None
    if event is not None and polarity == "holds":
        told, event = event, widen_range(utterance.text, event, times)
        until = find_stated_end(utterance.text, event, utterance.at)
        if key in HOME_AND_JOB and event != told and event.end <= utterance.at:
            until = event.end
    return FactCandidate(
        text=_tell_statement(statement, utterance),
        owner=subject.owner or speaker,
        speaker=speaker,
        pattern="SVC" if verb == "是" else "SVO" if said else "SV",
        subject=subject.phrase or speaker,
        verb=verb,
        object="" if verb == "是" else said,
        complement=said if verb == "是" else "",
        predicate_key=key,
        cardinality="single" if is_single_valued(key) else "multi",
        kind=derive_kind(first, head, key, event is not None),
        polarity=polarity,
        event=event,
        confidence=_CONFIDENCE,
        correction=is_correction(statement.sentence),
        sources=(SourceSpan(utterance.handle, start, end),),
        until=until,
    )


def _tell_statement(statement: Statement, utterance: Utterance) -> str:
    """The statement as a sentence that stands alone."""
    speaker, subject = utterance.speaker, statement.subject
    first, *more = (clause.text for clause in statement.clauses)
    if statement.completed:
        opening = statement.completed
    elif not subject.end and first[0] in "我俺咱":  # "我的狗叫…", told as one's own
        opening = _to_third_person(first, speaker)
    else:
        rest = _to_third_person(first[subject.end :], speaker)
        opening = _to_third_person(first[: subject.start], speaker) + subject.phrase + rest
    wordings = [opening, *(_to_third_person(text, speaker) for text in more)]
    return "，".join(_replace_animal_pronoun(wordings, utterance.text)) + "。"


def _adjust_polarity(clause: str, head: str, event: TimeSpan | None, at: datetime) -> Polarity:
    found = derive_polarity(clause, head)
    ahead = event is not None and event.start > at and not re.search(r"[了过]", clause)
    return "planned" if found == "holds" and ahead else found


def _replace_animal_pronoun(clauses: list[str], said: str) -> list[str]:
    """它 put as the one animal the utterance speaks of."""
    animals = set(re.findall(r"[一两][只条]([^，。,的]{0,3}[猫狗兔鸟龟])", said))
    if len(animals) != 1:
        return clauses
    animal = animals.pop()
    return [clause.replace("它", f"那只{animal}", 1) for clause in clauses]


def _find_event(text: str, times: Sequence[TimeSpan], start: int, end: int) -> TimeSpan | None:
    first = bisect_left(times, start, key=lambda time: time.at)
    inside = takewhile(lambda time: time.at < end, islice(times, first, None))
    return next((time for time in inside if not _is_before_age(text, time)), None)


def _is_before_age(text: str, time: TimeSpan) -> bool:
    """今年 in 今年三岁 is no time of anything."""
    return bool(re.match(r" ?\w{1,4} ?岁", text[time.at + len(time.text) :]))


def _split_at_verb(words: Sequence[TaggedWord]) -> tuple[str, str]:
    """The first verb with what goes before it ("打算", "去"), and what comes after."""
    at = next((i for i, (_, tag) in enumerate(words) if tag.startswith("v")), None)
    if at is None:
        return "", ""
    last = at
    while last + 1 < len(words) and words[last + 1][1].startswith("v"):
        last += 1
    verb = "".join(word for word, _ in words[at : last + 1])
    rest = "".join(word for word, _ in words[last + 1 :])
    return verb, re.sub(r"^[了过着]|了$", "", rest)


def _to_third_person(text: str, name: str) -> str:
    text = re.sub(rf"[我俺](?={KIN}|{ROLES})", f"{name}的", text)
    text = _SPEAKER_IN_PERSON.sub(name, text.replace("我们", f"{name}他们"))
    return re.sub(r"(?<!自)[我俺]", name, text)


def _extract_entities(
    exchange: Exchange, words: Sequence[TaggedWord], people: frozenset[str]
) -> tuple[EntityMention, ...]:
    said = "\n".join(u.text for u in exchange.utterances)
    found = [EntityMention(u.speaker, "person") for u in exchange.utterances if u.role == "user"]
    found += [EntityMention(name, "person") for name in sorted(people) if name in said]
    found += [
        EntityMention(_PARTED.sub("", word) if tag == "nr" else word, _ENTITY_TYPES[tag])
        for word, tag in words
        if tag in _ENTITY_TYPES and len(word) > 1
    ]
    found += [EntityMention(title, "object") for title in re.findall(r"《([^》]{1,40})》", said)]
    unique = {mention.name: mention for mention in reversed(found)}
    return tuple(reversed(unique.values()))


def build_note_draft(
    texts: Sequence[str], facts: Sequence[FactCandidate], people: frozenset[str]
) -> NoteDraft | None:
    """The descriptors of what was said; None when it names nothing."""
    keywords = _extract_keywords(texts, people)
    if not keywords and not facts:
        return None
    said = "\n".join(texts)
    tags = tuple(tag for tag, pattern in _THEME_PATTERNS.items() if re.search(pattern, said))
    context = facts[0].text if facts else next(s for _, s in split_sentences(said)).strip()
    return NoteDraft(keywords, tags[:_MOST_KEYWORDS], context[:500])


def _extract_keywords(texts: Sequence[str], people: frozenset[str]) -> tuple[str, ...]:
    words = [word for text in texts for word in tag_words(text)]
    counts = Counter(
        text
        for text, tag in words
        if _is_content_noun((text, tag)) and len(text) > 1 and tag != "nr"
        if text not in _COURTESIES | people
    )
    return tuple(word for word, _ in counts.most_common(_MOST_KEYWORDS))
