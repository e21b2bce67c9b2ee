"""Chinese: what becomes a fact, whose it is, when it was, and what is left alone."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memoryhub.engines.local.chinese.dates import find_times, parse_number
from memoryhub.engines.local.chinese.extract import (
    extract_from_exchange,
)
from memoryhub.engines.local.chinese.rules import find_question_predicates
from memoryhub.engines.types import Exchange, Extraction, FactCandidate, Role, Utterance

AT = datetime(2024, 5, 10, 15, tzinfo=UTC)  # a Friday


def construct_texts(*texts: str, role: Role = "user", speaker: str = "陈静") -> Extraction:
    said = [Utterance(f"m{i}", speaker, role, text, AT) for i, text in enumerate(texts, 1)]
    return extract_from_exchange(Exchange(said, participants=("陈静", "林晓")))


def only_fact(text: str) -> FactCandidate:
    (fact,) = construct_texts(text).facts
    return fact


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("我住在里斯本。", "lives_in", "里斯本"),
        ("我搬到成都了。", "lives_in", "成都"),
        ("我是一名护士。", "works_as", "护士"),
        ("我现在在腾讯当产品经理。", "works_as", "产品经理"),
        ("我在协和医院上班。", "works_at", "协和医院"),
        ("我今年28岁。", "age", "28"),
        ("我离婚了。", "marital_status", "divorced"),
        ("我最喜欢的颜色是绿色。", "favourite_colour", "绿色"),
    ],
)
def test_single_valued_predicates_have_the_english_keys(text: str, key: str, value: str) -> None:
    fact = only_fact(text)
    assert (fact.predicate_key, fact.object or fact.complement) == (key, value)
    assert (fact.cardinality, fact.owner) == ("single", "陈静")


def test_a_fact_is_in_the_third_person_and_points_at_its_source() -> None:
    text = "你好呀，昨天我和我妈妈去了植物园！"
    fact = only_fact(text)
    assert fact.text == "昨天陈静和陈静的妈妈去了植物园。"
    (source,) = fact.sources
    assert text[source.start : source.end] == "昨天我和我妈妈去了植物园"
    assert fact.event is not None
    assert fact.event.start.date() == date(2024, 5, 9)


def test_two_predicates_in_a_sentence_are_two_facts() -> None:
    keys = [
        fact.predicate_key for fact in construct_texts("我是一名软件工程师，今年三十二岁。").facts
    ]
    assert keys == ["works_as", "age"]


def test_clauses_without_a_subject_belong_to_the_statement_before_them() -> None:
    kept, named = construct_texts("我养了一只橘猫，名字叫豆豆。").facts
    assert kept.text == "陈静养了一只橘猫，名字叫豆豆。"
    assert named.text == "豆豆是陈静的橘猫。"


def test_a_relative_has_the_relatives_own_predicates() -> None:
    fact = only_fact("我妈妈是中学老师。")
    assert (fact.owner, fact.speaker, fact.predicate_key) == ("陈静的妈妈", "陈静", "works_as")


def test_a_belonging_does_not_give_its_owner_an_age() -> None:
    assert only_fact("我的猫今年3岁了。").predicate_key == ""


def test_another_participant_owns_what_is_said_of_them() -> None:
    fact = only_fact("林晓喜欢登山。")
    assert (fact.owner, fact.speaker) == ("林晓", "陈静")


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("我喜欢香菜。", "holds"),
        ("我不喜欢香菜。", "denied"),
        ("我从来没去过日本。", "denied"),
        ("我不再喝咖啡了。", "ended"),
        ("我打算下个月去云南旅行。", "planned"),
        ("我想搬到昆明。", "planned"),
        ("我昨天感到胃部不适。", "holds"),
    ],
)
def test_polarity_follows_the_words_before_the_object(text: str, polarity: str) -> None:
    assert only_fact(text).polarity == polarity


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我喜欢弹吉他。", "preference"),
        ("我计划去墨西哥旅游。", "plan"),
        ("昨天我参加了一场音乐会。", "event"),
        ("我今年28岁。", "attribute"),
        ("我对花生过敏。", "state"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert only_fact(text).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "我该怎么学钢琴？",
        "我住在哪里吗？",
        "如果我中了彩票，我就搬到巴黎。",
        "谢谢你的建议，我会试试的。",
        "好的，再见！",
        "请忘记我的地址。",
        "我叫陈静。",
        "我是陈静。",
        "你做的菜真好吃。",
        "这部电影很感人。",
        "……",
    ],
)
def test_what_asserts_nothing_of_a_person_yields_no_fact(text: str) -> None:
    assert construct_texts(text).facts == ()


def test_only_peoples_own_turns_yield_facts() -> None:
    assert construct_texts("我住在云端的服务器上，喜欢弹吉他。", role="assistant").facts == ()


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("我养了一只狗。", "assertion"),
        ("你喜欢跳舞吗？", "question"),
        ("我是做什么的", "question"),
        ("她叫什么来着", "question"),
        ("我去买点水果什么的。", "assertion"),
        ("请忘记我的地址。", "forget"),
        ("请你把我的电话删掉。", "forget"),
        ("别记住我刚才说的话。", "forget"),
        ("我永远不会忘记那次旅行。", "assertion"),
        ("我忘了带钥匙。", "assertion"),
        ("请推荐几本书。", "request"),
        ("要是能飞就好了。", "hypothetical"),
        ("谢谢！", "chitchat"),
        ("你好！我刚搬家。", "assertion"),
    ],
)
def test_speech_acts(text: str, act: str) -> None:
    assert construct_texts(text).speech_acts == {"m1": act}


def test_a_correction_is_marked() -> None:
    fact = only_fact("我说错了，我其实住在杭州。")
    assert (fact.correction, fact.predicate_key, fact.object) == (True, "lives_in", "杭州")
    assert not only_fact("我住在杭州。").correction


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("昨天", (2024, 5, 9), (2024, 5, 10)),
        ("大前天", (2024, 5, 7), (2024, 5, 8)),
        ("上周", (2024, 4, 29), (2024, 5, 6)),
        ("上周三", (2024, 5, 1), (2024, 5, 2)),
        ("下周日", (2024, 5, 19), (2024, 5, 20)),
        ("上周末", (2024, 5, 4), (2024, 5, 6)),
        ("上个月", (2024, 4, 1), (2024, 5, 1)),
        ("去年", (2023, 1, 1), (2024, 1, 1)),
        ("去年夏天", (2023, 6, 1), (2023, 9, 1)),
        ("5月4日", (2024, 5, 4), (2024, 5, 5)),
        ("十二月二十五号", (2023, 12, 25), (2023, 12, 26)),
        ("2021年3月", (2021, 3, 1), (2021, 4, 1)),
        ("二〇一九年", (2019, 1, 1), (2020, 1, 1)),
        ("三年前", (2021, 1, 1), (2022, 1, 1)),
        ("两个星期前", (2024, 4, 22), (2024, 4, 29)),
        ("二十三天前", (2024, 4, 17), (2024, 4, 18)),
        ("几天后", (2024, 5, 12), (2024, 5, 16)),
    ],
)
def test_dates(text: str, start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
    said = f"我记得{text}去过那里"
    (time,) = find_times(said, AT)
    assert (time.start.date(), time.end.date()) == (date(*start), date(*end))
    assert said[time.at : time.at + len(time.text)] == text


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("十二月二十五号要做手术", 2024),
        ("手术定在十二月二十五号", 2024),
        ("十二月二十五号做了手术，现在要休息", 2023),
        ("十二月二十五号的手术", 2023),
    ],
)
def test_a_day_without_a_year_is_to_come_where_its_clause_says_so(text: str, year: int) -> None:
    (span,) = find_times(text, AT)
    assert (span.start.year, span.start.month, span.start.day) == (year, 12, 25)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("复诊挪到二十五日下午了", [(5, 25)]),
        ("复诊改3号了", [(6, 3)]),
        ("7月19号的体检改到26号", [(7, 19), (7, 26)]),
    ],
)
def test_a_day_of_a_month_that_goes_without_saying_is_the_next(
    text: str, days: list[tuple[int, int]]
) -> None:
    told = [span.start for span in find_times(text, AT)]
    assert [(day.month, day.day) for day in told] == days


@pytest.mark.parametrize(
    "text", ["2月30日", "每周五", "一天到晚", "我买了月饼", "换到3号线", "我家住12号"]
)
def test_no_date_is_made_of_what_is_none(text: str) -> None:
    assert find_times(text, AT) == ()


@pytest.mark.parametrize(("text", "n"), [("7", 7), ("十", 10), ("二十三", 23), ("一百零五", 105)])
def test_numerals(text: str, n: int) -> None:
    assert parse_number(text) == n


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("她住在哪里？", "lives_in"),
        ("他搬到哪里去了", "lives_in"),
        ("她做什么工作？", "works_as"),
        ("她在哪家公司上班？", "works_at"),
        ("她结婚了吗？", "marital_status"),
        ("他多大了？", "age"),
        ("她最喜欢什么颜色？", "favourite_colour"),
        ("她最喜欢的电影是什么？", "favourite_film"),
    ],
)
def test_questions_name_their_predicate(question: str, key: str) -> None:
    assert find_question_predicates(question) == (key,)


def test_a_former_job_is_asked_by_what_one_did() -> None:
    assert find_question_predicates("我以前做什么？") == ("works_as", "works_at")


def test_other_questions_name_none() -> None:
    assert find_question_predicates("昨天天气好吗？") == ()


def test_courtesies_are_no_keywords() -> None:
    note = construct_texts("你好，有个好消息，我在敦煌看了壁画展览，谢谢你。").note
    assert note is not None
    assert "壁画" in note.keywords
    assert not {"你好", "好消息", "谢谢"} & {*note.keywords}


def test_entities_and_note_are_in_the_source_language() -> None:
    read_off = construct_texts("上个月我去了敦煌，看了壁画展览，还读完了《楼兰往事》。")
    assert {("陈静", "person"), ("敦煌", "place"), ("楼兰往事", "object")} <= {
        (entity.name, entity.type) for entity in read_off.entities
    }
    assert read_off.note is not None
    assert "壁画" in read_off.note.keywords
    assert "陈静" not in read_off.note.keywords
    assert read_off.relations == ()


def test_a_greeting_opens_a_topic() -> None:
    assert construct_texts("你好，我回来了。").topic_cue
    assert not construct_texts("我继续说昨天的事。").topic_cue


def test_a_flood_of_facts_is_capped() -> None:
    assert len(construct_texts("我喜欢弹吉他。" * 50).facts) == 20
