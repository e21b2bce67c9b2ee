"""Chinese as it is typed: spaces for commas, fragments, and whom and what each of them is about."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.chinese.clauses import split_clauses
from memoryhub.engines.local.chinese.corrections import apply_corrections
from memoryhub.engines.local.dates.times import find_times
from tests.engines.local.dialogue import AT
from tests.engines.local.test_chinese_changes import list_keyed_facts, read_turn_facts


def list_told(text: str, *before: tuple[str, str]) -> list[tuple[str, str]]:
    return [(fact.owner, fact.text) for fact in read_turn_facts(text, *before)]


# Where a space is a comma


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("今年38 在大连开网店", ["今年38", "在大连开网店"]),
        ("房租5200 押一付三", ["房租5200", "押一付三"]),
        ("换了理想L9 之前开的是朗逸", ["换了理想L9", "之前开的是朗逸"]),
        ("做QA 公司在张江", ["做QA", "公司在张江"]),
        ("今年 38 岁", ["今年 38 岁"]),
        ("我在 Google 上班", ["我在 Google 上班"]),
        ("在Google 上班", ["在Google 上班"]),
        ("买了3 斤苹果", ["买了3 斤苹果"]),
        ("hello 我是做外贸的", ["我是做外贸的"]),
        ("history 我最拿手", ["history 我最拿手"]),
    ],
)
def test_a_space_behind_a_word_written_close_is_a_comma(text: str, clauses: list[str]) -> None:
    assert [clause.text for clause in split_clauses(text, 0)] == clauses


def test_an_age_before_a_space_is_an_age() -> None:
    assert list_keyed_facts("我今年38 在大连开网店") == [("何苗", "age", "38")]


# Who is named, and known from there on


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我老公叫韩磊 在税务局上班", ("韩磊", "韩磊是何苗的老公。")),
        ("对象是个电工 叫周扬", ("周扬", "周扬是何苗的对象。")),
        ("外孙出生了！7斤2两，叫郑一凡", ("郑一凡", "郑一凡是何苗的外孙。")),
        ("儿媳是法国人,叫Claire", ("Claire", "Claire是何苗的儿媳。")),
        ("家里还有只黑猫 叫芝麻", ("芝麻", "芝麻是何苗的黑猫。")),
        ("又养了只狗 柯基 叫短腿", ("短腿", "短腿是何苗的狗。")),
        ("养了条德牧 叫黑豹 两岁", ("黑豹", "黑豹是何苗的德牧。")),
        ("两个娃 大的叫方天 小的叫方晴", ("方晴", "方晴是何苗的娃。")),
        ("室友搬走了 新来的叫曹宁", ("曹宁", "曹宁是何苗的室友。")),
        ("和杜鹏在一起了", ("杜鹏", "杜鹏是何苗的对象。")),
    ],
)
def test_who_somebody_is_is_told_with_the_name(text: str, told: tuple[str, str]) -> None:
    assert told in list_told(text)


@pytest.mark.parametrize(
    "text",
    [
        "我老公叫我吃饭",
        "我老公叫外卖了",
        "我老公叫张医生过来",
        "我儿子的同学叫王浩",
        "我老公开了家店 叫方圆",
        "我弟和李娜在一起了",
        "我和家人在一起了",
        "我女儿养了只猫叫咪咪",
        "室友小贾搬走了",
        "同事小陈上周离职了",
    ],
)
def test_what_only_sounds_like_a_name_introduces_nobody(text: str) -> None:
    assert not any("是何苗的" in told for _, told in list_told(text))


def test_a_name_alone_is_not_told_twice() -> None:
    assert list_told("室友叫周凯 打游戏特别吵") == [
        ("何苗的室友", "何苗的室友打游戏特别吵。"),
        ("周凯", "周凯是何苗的室友。"),
    ]


def test_who_was_named_before_is_spoken_of_by_name() -> None:
    told = list_told("芝麻最近老吐毛", ("何苗", "家里还有只黑猫 叫芝麻"))
    assert told == [("芝麻", "芝麻最近老吐毛。")]


def test_a_given_name_is_enough() -> None:
    told = list_told("小满上小学了", ("何苗", "女儿跟我 叫吴小满"))
    assert [owner for owner, _ in told] == ["吴小满"]


def test_a_flatmate_named_familiarly_owns_what_befell_them() -> None:
    assert ("小贾", "何苗的室友小贾搬走了。") in list_told("室友小贾搬走了")


# Whom a fragment goes on about


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我老婆叫李倩 教初中数学", ("何苗的老婆", "何苗的老婆教初中数学。")),
        ("姥姥身体硬朗 就是耳朵有点背", ("何苗的姥姥", "何苗的姥姥的耳朵有点背。")),
        ("姥姥身体硬朗 我耳朵有点背", ("何苗", "何苗耳朵有点背。")),
        ("我爸住院了 脑梗 在协和", ("何苗的爸爸", "何苗的爸爸住院了，脑梗，在协和。")),
        ("毽子不踢了,膝盖疼,现在改成散步", ("何苗", "何苗现在改成散步。")),
        ("房东不退押金 还住松江", ("何苗", "何苗还住松江。")),
        ("范老师调走了 现在跟着陆老师", ("何苗", "何苗现在跟着陆老师。")),
        ("我爸退休了 现在天天钓鱼", ("何苗的爸爸", "何苗的爸爸退休了，现在天天钓鱼。")),
        ("乌龟送给我妈养了 她在泉州", ("何苗的妈妈", "何苗的妈妈在泉州。")),
        ("招了个厨师 老唐 之前在海底捞干的", ("何苗", "何苗招了个厨师，老唐，之前在海底捞干的。")),
        ("我爸住院了 花了三万多", ("何苗", "何苗花了三万多。")),
        ("酒我戒了", ("何苗", "酒何苗戒了。")),
        ("对虾过敏", ("何苗", "何苗对虾过敏。")),
        (
            "女儿换幼儿园了 原来那个太远 现在在家门口的金摇篮",
            ("何苗的女儿", "何苗的女儿现在在家门口的金摇篮。"),
        ),
    ],
)
def test_a_fragment_is_about_whom_it_goes_on_about(text: str, told: tuple[str, str]) -> None:
    assert told in list_told(text)


def test_what_somebody_does_is_nobody_in_particulars() -> None:
    assert list_told("有人出五百万") == []


def test_she_is_nobodys_father() -> None:
    told = list_told("认识个女生 她是老师", ("何苗", "我爸让我考公"))
    assert not any("爸爸" in text for _, text in told)
    assert list_told("他在烟厂上班", ("何苗", "我爸让我考公")) == [
        ("何苗的爸爸", "何苗的爸爸在烟厂上班。")
    ]


@pytest.mark.parametrize("text", ["别给我推荐海鲜了 过敏", "不是六千"])
def test_half_of_a_claim_is_none(text: str) -> None:
    assert list_told(text) == []


def test_who_is_new_is_not_who_left() -> None:
    told = [text for _, text in list_told("室友小贾搬走了 新来的叫曹宁 学化工的")]
    assert not any("小贾新来" in text or text == "何苗学化工的。" for text in told)


# Who somebody is, where they live and what is over


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("大三学生 在厦大读法律", ("何苗", "何苗是大三学生。")),
        ("前端程序员一枚", ("何苗", "何苗是前端程序员一枚。")),
        ("我何苗 西安人 在一家花店帮忙", ("何苗", "何苗是西安人。")),
        ("我姐 护士 在大连", ("何苗的姐", "何苗的姐，是护士，在大连。")),
        ("住校半年了", ("何苗", "何苗住校半年了。")),
    ],
)
def test_who_one_is_is_told_without_a_verb(text: str, told: tuple[str, str]) -> None:
    assert told in list_told(text)


@pytest.mark.parametrize("text", ["医生 我头疼", "公司裁员", "张老师 早点休息"])
def test_who_is_spoken_to_and_what_befalls_a_firm_is_nobodys_trade(text: str) -> None:
    assert list_keyed_facts(text) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("现在住通州梨园 房租2800", [("何苗", "lives_in", "通州梨园")]),
        ("升职了 现在是编辑室主任", [("何苗", "works_as", "编辑室主任")]),
        ("入职中通一周了", [("何苗", "works_at", "中通")]),
        ("被挖了 猎头推的 去强生 下周报到", [("何苗", "works_at", "强生")]),
        ("男朋友在苏州 做芯片的", [("何苗的男朋友", "works_as", "做芯片")]),
        ("25 男 在合肥", [("何苗", "age", "25")]),
        ("进了科大讯飞 做测试", [("何苗", "works_at", "科大讯飞")]),
        ("我弟进了科大讯飞 做测试", []),
        ("单身 被催婚中", [("何苗", "marital_status", "single")]),
        ("我住院了", []),
        ("我住三楼", []),
        ("住得挺舒服", []),
    ],
)
def test_home_and_work_in_fragments(text: str, facts: list[tuple[str, str, str]]) -> None:
    assert list_keyed_facts(text) == facts


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("陈浩之前是健身教练", "ended"),
        ("之前在美团上班", "ended"),
        ("我从公司撤了", "ended"),
        ("从公司出来已经十点了", "holds"),
        ("我有点想跟过去", "holds"),
    ],
)
def test_what_was_so_before_is_over(text: str, polarity: str) -> None:
    (fact,) = read_turn_facts(text)
    assert fact.polarity == polarity


# Values put right by a word


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        ("换了辆比亚迪秦 旧车卖了", "不对 是秦PLUS", ["换了辆比亚迪秦PLUS"]),
        ("", "我在上海工作 不对 是杭州", ["我在杭州工作"]),
        ("下周三去面试", "说错了 是周四", ["下周四去面试"]),
        ("我表妹在南京读书", "不对不对 是表姐", ["我表姐在南京读书"]),
        ("戒了五天了", "说错了 是六天", ["戒了六天了"]),
        ("月薪六千", "不是六千 说错了 是五千五", ["月薪五千五"]),
        ("我今天去医院了", "不对 是护士", []),
        ("我今天去医院了", "不对 我记错了", []),
        ("明天去看房", "应该是晴天", []),
    ],
)
def test_a_word_puts_right_one_of_its_kind(before: str, said: str, told: list[str]) -> None:
    assert [put.text for put in apply_corrections(said, [before])] == told


def test_what_is_put_right_is_not_who_one_is() -> None:
    assert list_told("不对 是秦PLUS") == []


# Months without a year


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("新车8月到", 2024),
        ("接了个单 给绘本画插图 8月底交", 2024),
        ("我们打算12月去日本", 2024),
        ("我女儿8月出生", 2023),
        ("8月入职的", 2023),
        ("12月做了手术", 2023),
        ("3月换了工作", 2024),
        ("打算3月结婚", 2025),
    ],
)
def test_a_month_without_a_year_is_to_come_unless_told_as_over(text: str, year: int) -> None:
    (span,) = find_times(text, AT)  # of May 2024
    assert span.start.year == year
