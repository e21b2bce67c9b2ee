"""Chinese: moves, new jobs, corrections, and what is said of others."""

from __future__ import annotations

from datetime import date

import pytest

from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import AT, ENGINE


def read_turn_facts(text: str, *before: tuple[str, str]) -> tuple[FactCandidate, ...]:
    """Facts of a turn of 何苗's in May 2024, after (speaker, text) turns."""
    history = [Utterance(f"h{i}", who, "user", said, AT) for i, (who, said) in enumerate(before)]
    said = [Utterance("m0", "何苗", "user", text, AT)]
    return ENGINE.extract_memories([Exchange(said, history, ("何苗", "Hub"), "何苗")])[0].facts


def list_keyed_facts(text: str) -> list[tuple[str, str, str]]:
    return [
        (f.owner, f.predicate_key, f.object or f.complement)
        for f in read_turn_facts(text)
        if f.predicate_key
    ]


def test_a_move_closes_with_its_day() -> None:
    (fact, _) = read_turn_facts("我上周六搬到厦门了！现在住在鼓浪屿，楼下就是海。")
    assert (fact.predicate_key, fact.object, fact.cardinality) == ("lives_in", "厦门", "single")
    assert fact.event is not None
    assert fact.event.start.date() == date(2024, 5, 11)


def test_the_district_of_a_city_is_no_second_city() -> None:
    assert list_keyed_facts("我上周六搬到厦门了！现在住在鼓浪屿。") == [
        ("何苗", "lives_in", "厦门")
    ]


def test_a_city_one_gets_used_to_is_the_city() -> None:
    assert list_keyed_facts("我住在厦门越来越习惯了。") == [("何苗", "lives_in", "厦门")]


def test_where_somebody_used_to_live_has_ended() -> None:
    past, now = read_turn_facts("我以前住在泉州，我现在住在厦门。")
    assert (past.object, past.polarity, past.predicate_key) == ("泉州", "ended", "lives_in")
    assert (now.object, now.polarity, now.predicate_key) == ("厦门", "holds", "lives_in")


def test_a_new_job_is_a_role_and_an_employer() -> None:
    assert list_keyed_facts("我在白鹭软件上班两周了，现在是产品经理。") == [
        ("何苗", "works_at", "白鹭软件"),
        ("何苗", "works_as", "产品经理"),
    ]


def test_working_in_a_city_names_no_employer() -> None:
    assert list_keyed_facts("我在厦门上班。") == []


@pytest.mark.parametrize(
    ("text", "polarity"), [("我前天已经提了辞职。", "ended"), ("我打算辞职。", "planned")]
)
def test_leaving_a_job(text: str, polarity: str) -> None:
    (fact,) = read_turn_facts(text)
    assert (fact.predicate_key, fact.polarity) == ("works_as", polarity)


def test_a_correction_names_the_new_day() -> None:
    (fact,) = read_turn_facts("更正一下，上次说的考试其实是周五，不是周四，我记错了。")
    assert fact.text == "何苗的考试是周五，不是周四。"
    assert (fact.predicate_key, fact.complement, fact.correction) == (
        "scheduled_exam",
        "周五",
        True,
    )
    assert fact.event is None


def test_said_again_it_is_the_same_sentence() -> None:
    assert (
        read_turn_facts("可是我不太能吃辣。")[0].text
        == read_turn_facts("而且我不太能吃辣。")[0].text
    )


def test_a_pets_age_is_not_its_owners() -> None:
    kept, named = read_turn_facts("我养了一只黑猫，叫墨墨，今年三岁。")
    assert (kept.predicate_key, kept.event) == ("", None)
    assert named.text == "墨墨是何苗的黑猫。"


def test_it_is_the_animal_just_named() -> None:
    texts = [f.text for f in read_turn_facts("门口有一只小花猫。我昨天收养了它。")]
    assert texts == ["何苗昨天收养了那只小花猫。"]


# Others


def test_she_is_the_friend_named_before() -> None:
    facts = read_turn_facts("王芳帮我看家。她是我同学，也住在泉州。")
    assert {f.owner for f in facts} == {"王芳"}
    assert facts[-1].predicate_key == "lives_in"
    assert "她" not in facts[-1].text


def test_nobody_is_guessed() -> None:
    assert read_turn_facts("她刚搬了新家，也住在泉州。") == ()


def test_she_is_the_mother_asked_about() -> None:
    (fact,) = read_turn_facts("她学会了游泳。", ("Hub", "妈妈最近怎么样？"))
    assert (fact.owner, fact.text) == ("何苗的妈妈", "何苗的妈妈学会了游泳。")


def test_a_named_relative_owns_by_name() -> None:
    study, named = read_turn_facts("我弟弟何强在西安读大三。")
    assert (study.owner, study.speaker) == ("何强", "何苗")
    assert named.text == "何强是何苗的弟弟。"


# Times


def test_what_comes_round_is_no_date() -> None:
    (fact,) = read_turn_facts("我每周三和周日打羽毛球。")
    assert fact.event is None


def test_a_day_to_come_is_a_plan() -> None:
    (fact,) = read_turn_facts("我六月二号出发去西安。")
    assert fact.polarity == "planned"


@pytest.mark.parametrize(
    "text",
    [
        "要是我住在海边就好了。",
        "如果辞职的话，我想去一个小城市。",
        "你觉得我适合当老师吗？",
        "请忘记我的地址。",
    ],
)
def test_questions_hypotheses_and_requests_state_nothing(text: str) -> None:
    assert read_turn_facts(text) == ()


@pytest.mark.parametrize(
    "text", ["今天我想出门，并买些水果。", "我们明天再聊。", "我会认真思考的。", "玛雅文明很古老。"]
)
def test_nobody_is_made_of_other_words(text: str) -> None:
    assert {f.owner for f in read_turn_facts(text)} <= {"何苗"}
    assert all("再聊" not in f.text and "思考" not in f.text for f in read_turn_facts(text))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("跳槽了，现在在小米做，人在北京", "works_at", "小米"),
        ("跳槽了，现在在小米做，人在北京", "lives_in", "北京"),
        ("在杭州做产品经理，公司叫云栖科技", "works_at", "云栖科技"),
    ],
)
def test_work_and_home_in_the_words_people_use(text: str, key: str, value: str) -> None:
    assert (key, value) in [
        (fact.predicate_key, fact.object or fact.complement) for fact in read_turn_facts(text)
    ]


@pytest.mark.parametrize("text", ["我人在上海出差", "我在手机上做", "我公司是做软件的"])
def test_a_visit_is_no_home_and_a_trade_no_firm(text: str) -> None:
    assert [fact.predicate_key for fact in read_turn_facts(text) if fact.predicate_key] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("跳槽成功！下个月去腾讯，要搬到深圳了", ("何苗", "works_at", "腾讯")),
        ("在中学教数学，还有两年退休", ("何苗", "works_as", "中学数学老师")),
    ],
)
def test_what_is_told_on_the_way_is_kept(text: str, told: tuple[str, str, str]) -> None:
    assert told in list_keyed_facts(text)


def test_what_one_took_in_is_no_thing_of_ones_own() -> None:
    texts = [fact.text for fact in read_turn_facts("上周领养了一只橘猫，取名叫土豆")]
    assert "土豆是何苗的橘猫。" in texts
    assert not [text for text in texts if "的领养" in text]


def test_what_was_given_up_is_over() -> None:
    ended = [f.text for f in read_turn_facts("酒也戒了两个月了") if f.polarity == "ended"]
    assert "何苗戒酒了。" in ended
