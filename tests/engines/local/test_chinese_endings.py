"""Chinese: what has ended, and what only sounds like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoryhub.engines.local.chinese.endings import may_end_claim
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, HeldClaim, Polarity
from tests.engines.local.dialogue import AT, ENGINE
from tests.engines.local.test_chinese_changes import read_turn_facts


def list_ended_claims(text: str) -> list[tuple[str, str]]:
    """Predicate and value of each claim that is over."""
    return [
        (f.predicate_key, f.object or f.complement)
        for f in read_turn_facts(text)
        if f.polarity == "ended"
    ]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("我辞职了。", "works_as", ""),
        ("我是去年辞职的。", "works_as", ""),
        ("我把工作辞了。", "works_as", ""),
        ("我辞掉了工作。", "works_as", ""),
        ("我辞去了会计师的工作。", "works_as", "会计师"),
        ("我被公司解雇了。", "works_as", ""),
        ("我失业了。", "works_as", ""),
        ("我退休了。", "works_as", ""),
        ("我没多久就辞职了。", "works_as", ""),
        ("我不再是老师了。", "works_as", "老师"),
        ("我从快手辞职了。", "works_at", "快手"),
        ("我不在白鹭软件上班了。", "works_at", "白鹭软件"),
        ("我搬走了。", "lives_in", ""),
        ("我从泉州搬走了。", "lives_in", "泉州"),
        ("我不住在泉州了。", "lives_in", "泉州"),
    ],
)
def test_a_job_or_home_that_ended_has_the_predicate_of_the_table(
    text: str, key: str, value: str
) -> None:
    assert list_ended_claims(text) == [(key, value)]
    assert read_turn_facts(text)[0].cardinality == "single"


@pytest.mark.parametrize(
    "text",
    [
        "我戒烟了。",
        "我终于把烟戒了。",
        "我戒掉了咖啡。",
        "我不再喝咖啡了。",
        "我不弹钢琴了。",
        "我和小李分手了。",
        "我把车卖掉了。",
        "我退出了合唱团。",
        "我停止健身了。",
        "我退学了。",
    ],
)
def test_of_what_may_be_many_it_is_only_said_that_it_ended(text: str) -> None:
    assert list_ended_claims(text)[0][0] == ""


def test_a_divorce_is_a_state_of_its_own() -> None:
    (fact,) = read_turn_facts("我和老公离婚了。")
    assert (fact.predicate_key, fact.object or fact.complement, fact.polarity) == (
        "marital_status",
        "divorced",
        "holds",
    )


@pytest.mark.parametrize(
    "text",
    [
        "我想辞职。",
        "我打算辞职。",
        "我考虑辞职。",
        "我决定辞职了。",
        "我还没辞职。",
        "我没有戒烟。",
        "我想戒烟。",
        "我正在戒烟。",
        "我戒烟失败了。",
        "我没想到会辞职。",
        "我从来没想过从公司辞职。",
        "我不打算戒烟。",
        "我快退休了。",
        "我明年退休。",
        "退休后我想去旅行。",
        "我提交了辞职信。",
        "我要搬走了。",
        "我下个月搬走。",
        "我想卖掉车。",
        "我没卖掉车。",
        "我差点和男朋友分手。",
        "我怕和男朋友分手。",
        "要是我辞职了就好了。",
        "我辞职了吗？",
        "老板让我辞职。",
    ],
)
def test_what_is_wished_planned_feared_or_denied_has_not_ended(text: str) -> None:
    assert list_ended_claims(text) == []


@pytest.mark.parametrize("text", ["我想结婚。", "我不想结婚。", "我考虑离婚。", "我差点离婚。"])
def test_a_wish_says_nothing_of_the_state_one_is_in(text: str) -> None:
    assert all(fact.predicate_key == "" for fact in read_turn_facts(text))


@pytest.mark.parametrize(
    "text",
    [
        "我老板被解雇了。",
        "我同事辞职了。",
        "我朋友离婚了。",
        "我邻居搬走了。",
        "我的朋友戒烟了。",
        "我帮他戒烟了。",
        "我们公司裁员了。",
    ],
)
def test_what_befell_others_ends_nothing_of_the_speaker(text: str) -> None:
    own = [f for f in read_turn_facts(text) if f.owner == "何苗"]
    assert all((f.predicate_key, f.polarity) == ("", "holds") for f in own)


def test_a_colleagues_ending_is_the_colleagues() -> None:
    (fact,) = read_turn_facts("我同事辞职了。")
    assert (fact.owner, fact.predicate_key, fact.polarity) == ("何苗的同事", "works_as", "ended")


def test_a_relatives_ending_is_the_relatives() -> None:
    (fact,) = read_turn_facts("我爸爸退休了。")
    assert (fact.owner, fact.predicate_key, fact.polarity) == ("何苗的爸爸", "works_as", "ended")


def test_the_home_that_was_left_and_the_new_one_are_two_facts() -> None:
    assert [(f.object, f.polarity) for f in read_turn_facts("我从泉州搬走了，搬到了厦门。")] == [
        ("泉州", "ended"),
        ("厦门", "holds"),
    ]


def test_what_is_said_after_an_ending_in_one_breath_holds() -> None:
    (fact,) = read_turn_facts("我从白鹭软件辞职去海风公司上班了。")
    assert (fact.predicate_key, fact.object, fact.polarity) == ("works_at", "海风公司", "holds")


# What they may be about


@pytest.mark.parametrize(
    ("new", "held"),
    [
        ("何苗戒烟了。", "何苗每天抽一包烟。"),
        ("何苗戒酒了。", "何苗喜欢喝点红酒。"),
        ("何苗戒掉了咖啡。", "何苗每天喝两杯咖啡。"),
        ("何苗不再喝咖啡了。", "何苗每天喝两杯咖啡。"),
        ("何苗和男朋友分手了。", "何苗和小李在一起三年了。"),
        ("何苗和小李分手了。", "何苗的男朋友是医生。"),
        ("何苗把车卖掉了。", "何苗有一辆红色的车。"),
        ("何苗卖了房子。", "何苗去年买了一套房子。"),
        ("何苗退出了合唱团。", "何苗参加了合唱团。"),
        ("何苗退学了。", "何苗在泉州读大学。"),
        ("何苗不弹钢琴了。", "何苗弹钢琴。"),
    ],
)
def test_an_ending_is_suspected_of_what_it_may_be_about(new: str, held: str) -> None:
    assert may_end_claim(new, held)


@pytest.mark.parametrize(
    ("new", "held"),
    [
        ("何苗戒酒了。", "何苗住过一家酒店。"),
        ("何苗戒烟了。", "何苗喜欢看烟花。"),
        ("何苗把车卖掉了。", "何苗坐火车去西安。"),
        ("何苗和小李分手了。", "何苗喜欢李子。"),
        ("何苗不再喝咖啡了。", "何苗喜欢吃蛋糕。"),
    ],
)
def test_of_other_things_it_is_not(new: str, held: str) -> None:
    assert not may_end_claim(new, held)


@pytest.mark.parametrize(("polarity", "asked"), [("ended", ["m1"]), ("denied", [])])
def test_the_engine_suspects_and_is_never_sure(polarity: Polarity, asked: list[str]) -> None:
    texts = {"m2": "何苗喜欢茶。", "m1": "何苗每天抽一包烟。"}
    held = [HeldClaim(handle, text, "何苗", "", AT) for handle, text in texts.items()]
    new = ClaimCandidate("c1", "何苗戒烟了。", "何苗", "何苗", AT, offered=tuple(texts))
    new = replace(new, polarity=polarity)
    found = ENGINE.resolve_claims(ClaimComparison([new], held, "何苗"))
    assert [(v.target, v.op, v.sure) for v in found] == [(each, "deny", False) for each in asked]
