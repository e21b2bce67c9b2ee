"""Chinese: clauses that stand alone, whom each is about, answers, slips, and what is no claim."""

from __future__ import annotations

import time

import pytest

from memoryhub.engines.local.chinese.answers import find_question
from memoryhub.engines.local.chinese.clauses import split_clauses
from memoryhub.engines.local.chinese.judgements import load_decider
from memoryhub.engines.local.chinese.subjects import find_subject
from memoryhub.engines.types import Exchange, Utterance
from tests.engines.local.dialogue import AT, ENGINE
from tests.engines.local.test_chinese_changes import read_turn_facts


def list_claims(text: str, *before: tuple[str, str]) -> list[str]:
    return [fact.text for fact in read_turn_facts(text, *before)]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("没去 下雨了,改天吧", ["没去", "下雨了", "改天"]),
        ("邮箱是he.miao@mail.example，电话0592-555 0134", None),
        ("领到驾照啦😂开车上班", ["领到驾照了", "开车上班"]),
        ("跑了10,000米，用时3:45", ["跑了10,000米", "用时3:45"]),
    ],
)
def test_clauses_end_at_commas_spaces_and_faces(text: str, clauses: list[str] | None) -> None:
    told = [clause.text for clause in split_clauses(text, 0)]
    assert told == (clauses or ["邮箱是he.miao@mail.example", "电话0592-555 0134"])


@pytest.mark.parametrize(
    "text",
    [
        "呢" * 50_000 + "我",
        "a1-" * 20_000,
        "我养猫，“" * 12_000,
        "我住在北京。" + ":" * 49_990 + "a",
        "房租是3000。" + "不是5，是6。" * 7_000,
        "房租" + " " * 49_000 + "多少？",
    ],
)
def test_a_flood_is_read_in_no_time(text: str) -> None:
    started = time.process_time()
    said = [Utterance("m0", "何苗", "user", text[:50_000], AT)]
    (found,) = ENGINE.extract_memories([Exchange(said)])
    assert time.process_time() - started < 20
    for fact in found.facts:
        for source in fact.sources:
            assert 0 <= source.start < source.end <= 50_000


@pytest.mark.parametrize("slip", ["打错了", "写反了", "口误"])
def test_a_slip_says_nothing_by_itself(slip: str) -> None:
    assert list_claims(f"{slip}。我住在泉州。") == ["何苗住在泉州。"]


# Who it is about


def test_of_names_that_begin_alike_the_longest_is_meant() -> None:
    (clause,) = split_clauses("陈静怡会弹琴", 0)
    people = frozenset({"陈静", "陈静怡", "陈"})
    assert find_subject(clause, "何苗", "", people).owner == "陈静怡"


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("老周的儿子考上厦门大学了。", "老周的儿子"),
        ("我同事的老公是警察。", "何苗的同事的老公"),
        ("我婆婆下个月搬到漳州。", "何苗的婆婆"),
        ("老板姓林，脾气挺好。", "何苗的老板"),
        ("我那口子在镇上小学教语文。", "何苗的那口子"),
        ("俺家孩他爸在县医院开救护车。", "何苗的孩他爸"),
    ],
)
def test_a_relative_of_somebody_is_not_they(text: str, owner: str) -> None:
    assert {fact.owner for fact in read_turn_facts(text)} == {owner}


@pytest.mark.parametrize("text", ["谢谢她也爱吃这个。", "谢谢也爱吃这个，我女儿。"])
def test_thanks_are_nobody(text: str) -> None:
    assert all("谢谢" not in fact.owner for fact in read_turn_facts(text))


def test_her_son_is_not_she() -> None:
    facts = read_turn_facts("她儿子在西安读大三。", ("何苗", "王芳帮我看家。"))
    assert [(f.owner, f.text) for f in facts] == [("王芳的儿子", "王芳的儿子在西安读大三。")]


def test_a_thing_that_opens_a_clause_is_the_speakers() -> None:
    assert list_claims("手机号换成13700001234了。") == ["何苗的手机号换成13700001234了。"]


def test_what_is_left_out_is_carried_along() -> None:
    assert list_claims("我爸爸在漳州种茶，养了两头牛。") == [
        "何苗的爸爸在漳州种茶。",
        "何苗的爸爸养了两头牛。",
    ]


def test_what_describes_stays_with_what_it_describes() -> None:
    assert list_claims("请了个阿姨，姓邓，一个月5000。") == ["何苗请了个阿姨，姓邓，一个月5000。"]


def test_a_verb_alone_is_about_the_thing_before_it() -> None:
    assert "何苗的钢琴卖了。" in list_claims("钢琴弹了十年，卖了。")


# Answers


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("您的教练贵姓？", "姓林，女的", "何苗的教练姓林，女的。"),
        ("您家养了几只猫？", "三只", "何苗家养了三只猫。"),
        ("以前跑过马拉松吗？", "跑过", "何苗以前跑过马拉松。"),
        ("旧房子怎么处理的？", "租出去了，一个月1800", "何苗的旧房子租出去了，一个月1800。"),
    ],
)
def test_a_short_answer_is_told_with_its_question(question: str, answer: str, told: str) -> None:
    assert told in list_claims(answer, ("Hub", question))


def test_a_question_is_the_last_one_asked() -> None:
    assert find_question("真好！房租多少？") == "房租多少？"
    assert find_question("真好。") == ""


# Slips


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        ("今年76了。", "打错了，67", "何苗今年67岁了。"),
        ("房租3400。", "不对，是4300", "何苗的房租3400。"),
        ("养老院一个月7400。", "不是7400，是7900", "何苗的养老院一个月7900。"),
    ],
)
def test_a_slip_is_put_right_in_what_was_said(before: str, said: str, told: str) -> None:
    facts = read_turn_facts(said, ("何苗", before))
    expected = told.replace("3400", "4300")
    assert [(fact.text, fact.correction) for fact in facts] == [(expected, True)]


# What ended, by what was learned


@pytest.mark.parametrize(
    "text",
    ["健身卡转给我表弟了。", "我喜欢的餐厅关门了。", "我不在那家公司了。", "我跟合伙人散伙了。"],
)
def test_an_ending_is_known_in_many_words(text: str) -> None:
    assert [fact.polarity for fact in read_turn_facts(text)] == ["ended"]


@pytest.mark.parametrize(
    "text", ["我换了新手机。", "我拿到驾照了。", "我差点把车卖了。", "我快毕业了。"]
)
def test_what_only_sounds_like_an_ending_is_none(text: str) -> None:
    assert "ended" not in [fact.polarity for fact in read_turn_facts(text)]


def test_a_plan_given_up_is_over() -> None:
    assert [f.polarity for f in read_turn_facts("我本来想去厦门读研。")] == ["ended"]


# What asserts nothing


@pytest.mark.parametrize(
    "text",
    [
        "我同学说他年薪百万。",
        "要是老板知道了，肯定扣我工资。",
        "猫绝育几个月做合适",
        "你说我该选哪个呢",
        "我婆婆觉得是男孩。",
        "帮我写个请假条。",
    ],
)
def test_what_others_say_and_what_might_be_is_no_claim(text: str) -> None:
    assert read_turn_facts(text) == ()


def test_a_doctors_word_is_told_as_the_doctors() -> None:
    (fact,) = read_turn_facts("医生说我血糖偏高。")
    assert fact.owner == "何苗的医生"


def test_a_statement_may_end_in_a_rhetorical_question() -> None:
    assert list_claims("我在海风公司上班了，你敢信？")[0].startswith("何苗在海风公司上班")


@pytest.mark.parametrize("name", ["ended", "worth"])
def test_the_deciders_are_shipped(name: str) -> None:
    decider = load_decider(name)
    assert 0 < decider.bar < 1
    assert decider.weights


def test_what_one_does_belongs_to_who_was_named_before() -> None:
    assert list_claims("女儿在北京读博士，学的是材料") == [
        "何苗的女儿在北京读博士。",
        "何苗的女儿学的是材料。",
    ]


def test_a_japanese_is_not_oneself() -> None:
    assert "何苗的老师是个日本人叫山本。" in list_claims("报了个日语班，老师是个日本人叫山本")


def test_what_an_assistant_is_not_to_do_is_no_claim() -> None:
    assert list_claims("我对芒果过敏，别给我推荐芒果的甜品") == ["何苗对芒果过敏。"]


def test_who_does_something_for_one_is_told_of_and_goes_on_being_spoken_of() -> None:
    told = list_claims("何总上周走了，现在带我们的是从上海来的Grace，说话夹英文")
    assert told[1:] == ["现在带何苗他们的是从上海来的Grace。", "Grace说话夹英文。"]


def test_how_an_assistant_speaks_of_ones_father_is_nobody_else() -> None:
    before = [
        Utterance("h0", "何苗", "user", "我爸腰不行，出租不跑了", AT),
        Utterance("h1", "Hub", "assistant", "叔叔身体要紧。", AT),
    ]
    said = [Utterance("m0", "何苗", "user", "嗯，他现在给小区看大门", AT)]
    (found,) = ENGINE.extract_memories([Exchange(said, before, ("何苗", "Hub"), "何苗")])
    assert [fact.text for fact in found.facts] == ["何苗的爸爸现在给小区看大门。"]


def test_each_of_those_who_are_named_in_a_row_is_known() -> None:
    told = list_claims("我和女朋友琳琳住在杭州，养了两只猫，米粒和豆包")
    assert {"琳琳是何苗的女朋友。", "米粒是何苗的猫。", "豆包是何苗的猫。"} <= {*told}
    assert not any("米粒和豆包" in each for each in told)


def test_what_is_said_twice_is_no_name() -> None:
    assert not any("天天是" in each for each in list_claims("我妈天天跳广场舞"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我是护士，一天跑八个小时", "何苗是护士，一天跑八个小时。"),
        ("我是跑外卖的 在郑州", "何苗是跑外卖的，在郑州。"),
        ("老婆孩子都在老家周口", "何苗的老婆孩子都在老家周口。"),
        ("我养了两只猫，大的叫煤球，小的叫年糕，是只布偶", "年糕是何苗的猫。"),
    ],
)
def test_what_is_said_in_passing_of_a_life(text: str, told: str) -> None:
    assert told in list_claims(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("最近房东说要涨租", "最近何苗的房东说要涨租。"),
        ("最近胃疼得厉害", "最近何苗的胃疼得厉害。"),
        ("女儿上小学三年级了,数学跟不上", "何苗的女儿的数学跟不上。"),
        ("招了个阿姨,手脚很快", "何苗的阿姨的手脚很快。"),
        ("女儿换了家教,罗老师毕业走了,新来的姓唐", "何苗的女儿的家教姓唐。"),
        ("我在学英语,英语太难了", "何苗的英语太难了。"),
    ],
)
def test_whose_it_is_that_is_spoken_of(text: str, told: str) -> None:
    assert told in list_claims(text)
