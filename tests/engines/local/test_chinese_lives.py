"""Lives told in Chinese over months: whose each change is, what it ends and what it leaves, and
what is answered to who asks about it afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoryhub.engines.local.answers.asked import counts_in_asked
from memoryhub.engines.local.answers.evidence import parse_question, rank_sentences
from memoryhub.engines.local.answers.former import is_stated
from memoryhub.engines.local.answers.relatives import find_asked_relative
from memoryhub.engines.local.chinese.endings import may_end_claim
from memoryhub.engines.local.comparison.ties import names_person
from memoryhub.engines.local.dates.times import find_times
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    GroundedAnswer,
    HeldClaim,
    Polarity,
    Quote,
)
from tests.engines.local.dialogue import AT, ENGINE
from tests.engines.local.test_chinese_changes import list_keyed_facts, read_turn_facts
from tests.engines.local.test_chinese_typed import list_told

SPOKEN = datetime(2026, 3, 4, 18, tzinfo=UTC)


# Whose it is


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("老公跳槽去了宇通，工资涨了两千", ("何苗的老公", "何苗的老公的工资涨了两千。")),
        ("我爸72了 心脏不好 装了支架", ("何苗的爸爸", "何苗的爸爸装了支架。")),
        ("我妈住院了，医生说要做手术，装支架", ("何苗的妈妈", "何苗的妈妈装支架。")),
        ("闺女定了 毕业去青岛上班", ("何苗的闺女", "何苗的闺女毕业去青岛上班。")),
        ("谈了个对象 叫小满 在花店上班", ("何苗的对象", "何苗的对象在花店上班。")),
        ("我有个姐姐，在北京当护士", ("何苗的姐姐", "何苗的姐姐在北京当护士。")),
        ("姐的店关了", ("何苗的姐", "何苗的姐的店关了。")),
        ("刘姨不做了，新来了个小邓", ("何苗", "何苗新来了个小邓。")),
        (
            "房东换人了，老谢把铺子卖了，铺租涨到5000",
            ("何苗", "何苗的铺租涨到5000。"),
        ),
        ("我爸烟也戒了", ("何苗的爸爸", "何苗的爸爸烟也戒了。")),
        ("同事Amy怀孕了", ("Amy", "何苗的同事Amy怀孕了。")),
        ("小的是女儿，叫林月，刚两岁", ("何苗的女儿", "何苗的小的是女儿，叫林月，刚两岁。")),
        # By whatever word of a letter or a region, and of two each by herself.
        ("家父原是水文站的职员", ("何苗的爸爸", "何苗的爸爸原是水文站的职员。")),
        ("内子近来在档案馆上班", ("何苗的妻子", "何苗的妻子近来在档案馆上班。")),
        ("犬子考上了南开", ("何苗的儿子", "何苗的儿子考上了南开。")),
        ("我屋头老汉儿以前在钢厂当电焊工", ("何苗的爸爸", "何苗的爸爸以前在钢厂当电焊工。")),
        ("男票是程序员", ("何苗的男朋友", "何苗的男朋友是程序员。")),
        ("大闺女在银行上班，二闺女嫁到青岛去了", ("何苗的大闺女", "何苗的大闺女在银行上班。")),
        ("大闺女在银行上班，二闺女嫁到青岛去了", ("何苗的二闺女", "何苗的二闺女嫁到青岛去了。")),
        ("舍妹那边的儿子在同济念建筑", ("何苗的妹妹的儿子", "何苗的妹妹的儿子在同济念建筑。")),
        ("我本人在师大教古代文学", ("何苗", "何苗在师大教古代文学。")),
    ],
)
def test_what_is_told_of_somebody_is_theirs(text: str, told: tuple[str, str]) -> None:
    assert told in list_told(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("老公跳槽去了宇通", "何苗去了宇通上班。"),
        ("我爸烟也戒了", "何苗戒烟了。"),
        ("拿到字节的offer了，还没决定去不去", "何苗去不去上班。"),
        ("我女儿养了只猫叫咪咪", "咪咪是何苗的猫。"),
        ("我姐养了只猫叫咪咪", "咪咪是何苗的猫。"),
        ("老板换了，工资也涨了", "何苗的老板的工资也涨了。"),
        ("怀孕了！两个月", "何苗两个月。"),
    ],
)
def test_it_is_nobody_elses(text: str, told: str) -> None:
    assert told not in [text for _, text in list_told(text)]


def test_what_one_does_oneself_beside_somebody_stays_ones_own() -> None:
    assert ("何苗", "何苗在奶茶店上班。") in list_told("找了个工作，在奶茶店上班")
    assert ("何苗", "何苗在银行上班。") in list_told("我有个女儿，在银行上班")
    assert ("何苗", "何苗去年做了手术。") in list_told("膝盖不好，去年做了手术")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("室友是个越南人叫Minh", ("Minh", "Minh是何苗的室友。")),
        ("女朋友Emily在温哥华", ("Emily", "Emily是何苗的女朋友。")),
        ("我儿子吴浩读初三", ("吴浩", "吴浩是何苗的儿子。")),
        ("我姐刘兰比我大三岁", ("刘兰", "刘兰是何苗的姐。")),
        ("两个娃 大的小学三年级叫林涛 小的是女儿 叫林月", ("林涛", "林涛是何苗的娃。")),
        ("两个娃 大的小学三年级叫林涛 小的是女儿 叫林月", ("林月", "林月是何苗的女儿。")),
    ],
)
def test_who_is_named_in_passing_is_introduced(text: str, told: tuple[str, str]) -> None:
    assert told in list_told(text)


def test_a_name_in_letters_is_known_from_there_on() -> None:
    before = ("何苗", "室友是个越南人叫Minh")
    assert ("Minh", "Minh搬走了。") in list_told("Minh搬走了", before)
    assert names_person("Minh搬走了。", "Minh")
    assert not names_person("Minhas搬走了。", "Minh")


# What is read of it


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("手机号换了 新的是13812345678", "何苗手机号现在是13812345678。"),
        ("邮箱换了，新的是miao2026@163.com", "何苗邮箱现在是miao2026@163.com。"),
        ("微信号改了，以后加hemiao_x", "何苗微信号现在是hemiao_x。"),
        ("137开头那个不用了 新号18629001234", "何苗手机号现在是18629001234。"),
        ("我妈手机号换了 新的是13812345678", "何苗的妈妈手机号现在是13812345678。"),
        ("邮箱是miao88@qq.com", "何苗的邮箱是miao88@qq.com。"),
        ("微信号hemiao_x", "何苗的微信号hemiao_x。"),
        ("我怀孕了", "何苗怀孕了。"),
        ("怀孕了！两个月", "何苗怀孕了。"),
        ("手术很顺利，每天吃优甲乐", "何苗的手术很顺利，每天吃优甲乐。"),
        ("一天一包烟抽了三十年了", "何苗一天一包烟抽了三十年了。"),
        ("毕业啦！", "何苗毕业了。"),
        ("婚礼定在10月6号，在郑州办", "何苗的婚礼定在10月6号，在郑州办。"),
    ],
)
def test_what_is_told_in_few_words_is_kept(text: str, told: str) -> None:
    assert told in [text for _, text in list_told(text)]


def test_a_new_number_is_told_once() -> None:
    assert list_told("手机号换了 新的是13812345678") == [("何苗", "何苗手机号现在是13812345678。")]
    assert not list_told("密码忘了，新的还没设")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("跟小满在长安区租了一室一厅", "lives_in", "长安区"),
        ("我们在Markham租了房子", "lives_in", "Markham"),
        ("在美团送外卖", "works_at", "美团"),
        ("不送外卖了 去顺丰开车", "works_at", "顺丰"),
        ("在郑州一家牙科诊所做前台", "works_at", "牙科诊所"),
        ("拿到腾讯的offer了，9月8号入职", "works_at", "腾讯"),
        ("开出租车的", "works_as", "开出租车"),
        ("我姓赵，58了", "age", "58"),
        ("24 西安人", "age", "24"),
        ("我叫何苗 24 西安人", "age", "24"),
        ("今年 38 岁，在大连", "age", "38"),
    ],
)
def test_homes_jobs_and_ages_in_the_words_people_use(text: str, key: str, value: str) -> None:
    assert ("何苗", key, value) in list_keyed_facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "给我妈在镇上租了个房子",
        "在三亚租了个房子过年",
        "在学校旁边租了个铺面开店",
        "去驾校开车",
        "周末去机场开车接人",
        "弟弟拿到腾讯的offer了，9月入职",
    ],
)
def test_a_room_for_another_and_a_drive_are_no_home_and_job(text: str) -> None:
    keys = [key for owner, key, _ in list_keyed_facts(text) if owner == "何苗"]
    assert not {"lives_in", "works_at"} & {*keys}


def test_what_has_gone_on_for_years_is_a_state() -> None:
    (fact,) = read_turn_facts("一天一包烟抽了三十年了")
    assert fact.kind == "state"


def test_who_died_at_an_age_is_gone() -> None:
    before = ("何苗", "养了条狗叫大黄")
    told = {fact.text: fact.polarity for fact in read_turn_facts("大黄走了 14岁", before)}
    assert told["大黄走了。"] == "ended"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("婚礼改期 10月12", "2026-10-12"),
        ("手术改到5月26号了 说没床位", "2026-05-26"),
        ("我爸8月来不了了", "2026-08-01"),
        ("一月三号要去体检", "2027-01-03"),
    ],
)
def test_a_day_that_something_is_moved_to_lies_ahead(text: str, day: str) -> None:
    (time,) = find_times(text, SPOKEN)
    assert time.start.date().isoformat() == day


@pytest.mark.parametrize(
    "text", ["一月两千六", "一月3000块", "开一辆二手思域，2015年的", "一月三次"]
)
def test_so_much_a_month_and_a_vintage_are_no_date(text: str) -> None:
    assert find_times(text, SPOKEN) == ()


def test_what_is_written_close_to_an_address_has_a_language() -> None:
    assert detect_language("邮箱是miao88@qq.com") == "zh"
    assert detect_language("Emily在哪") == "zh"
    assert detect_language("My friend 王芳 lives in Berlin") == "en"
    assert detect_language("mail me at ana@example.org") == "en"


# What it ends


def judge_surely(
    new: str,
    old: str,
    *,
    owner: str = "",
    held: str = "",
    polarity: Polarity = "holds",
    **told: Any,
) -> bool:
    """Whether `new` ends `old` unasked, both of 小安 where no owner is named."""
    claim = HeldClaim(
        "m1",
        old,
        held or "小安",
        "",
        SPOKEN,
        polarity=told.get("was", "holds"),
        slots=ClaimSlots(kind=told.get("kind", "state")),
        said_at=SPOKEN,
    )
    candidate = ClaimCandidate(
        "c1", new, owner or "小安", "小安", SPOKEN + timedelta(days=30), offered=("m1",),
        polarity=polarity, said=told.get("said", new), assisted=True,
    )  # fmt: skip
    found = ENGINE.resolve_claims(ClaimComparison([candidate], [claim], "小安", ("小安",)))
    return any(verdict.sure and verdict.op in ("deny", "contradict") for verdict in found)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("小安的产假完了。", "小安在休产假。"),
        ("小安回去上班了。", "从下周一起小安休产假。"),
        ("小安现在周一也开了。", "小安店里周一休息。"),
        ("小安星期天也营业了。", "小安的店星期日关门。"),
    ],
)
def test_a_leave_and_a_day_off_are_over(new: str, old: str) -> None:
    assert judge_surely(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("小安现在周二也开了。", "小安店里周一休息。"),
        ("小安周一也去健身。", "小安店里周一休息。"),
        ("小安周一也开会了。", "小安店里周一休息。"),
        ("小安周一也开了。", "小安店里周一周二休息。"),
        ("小安想周一也开门。", "小安店里周一休息。"),
        ("小安的暑假作业写完了。", "小安在休产假。"),
    ],
)
def test_another_day_and_another_leave_are_not(new: str, old: str) -> None:
    assert not judge_surely(new, old)


def test_a_leave_is_ones_own() -> None:
    assert not judge_surely("小安回去上班了。", "小安的姐在休产假。", held="小安的姐")
    assert not judge_surely("小安回去上班了。", "小安的产假完了。")


def test_a_plan_ends_with_who_cannot_come() -> None:
    told: dict[str, Any] = {"held": "小安的爸妈", "was": "planned"}
    plan = "小安的爸妈打算8月来看小安。"
    assert judge_surely("小安的爸爸要做手术，8月来不了了。", plan, owner="小安的爸爸", **told)
    assert not judge_surely("小安的同事8月来不了了。", plan, owner="小安的同事", **told)
    assert not judge_surely("小安的爸爸10月来不了了。", plan, owner="小安的爸爸", **told)


def test_a_relatives_wedding_moves_nobody_elses() -> None:
    mine = "小安的婚礼定在10月6号。"
    new = "小安的表妹婚礼改期 10月12。"
    assert not judge_surely(new, mine, owner="小安的表妹", was="planned", kind="event")


def test_who_married_again_pays_and_lives_as_before() -> None:
    old = "小安的前夫在苏州，每个月给3000抚养费。"
    said = "前夫再婚了，抚养费说要降到2000，我没同意。"
    told: dict[str, Any] = {"owner": "小安的前夫", "held": "小安的前夫", "said": said}
    assert not judge_surely("小安的前夫再婚了。", old, **told)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("小安的姐的店关了。", "小安的姐刘兰在洛阳开服装店。"),
        ("小安的超市转让了。", "小安在镇上开超市。"),
        ("威尔士倒闭了。", "健身房办在威尔士，一周去三次。"),
        ("烟戒了。", "一天一包烟抽了三十年了。"),
        ("戒酒了。", "每天晚上二两酒。"),
        ("出租不开了。", "开出租车的。"),
        ("瑜伽停了。", "每周二练瑜伽。"),
        ("船贷款还清了。", "船贷款还欠12万。"),
        ("Civic报废了。", "开一辆二手的Civic。"),
    ],
)
def test_what_is_over_is_told_by_what_it_names(new: str, old: str) -> None:
    assert may_end_claim(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("手机丢了。", "手机号是13812345678。"),
        ("暖气停了。", "暖气费2000。"),
        ("今天店关了。", "在镇上开药店。"),
        ("药店关了。", "在镇上开超市。"),
        ("出租不开了。", "开货车的。"),
        ("车贷还清了。", "房贷还欠12万。"),
    ],
)
def test_what_only_looks_like_it_is_left(new: str, old: str) -> None:
    assert not may_end_claim(new, old)


def test_what_is_beside_it_is_not_it() -> None:
    told: dict[str, Any] = {"polarity": "ended"}
    assert not judge_surely("小安的威尔士旁边的奶茶店倒闭了。", "小安在威尔士健身。", **told)
    assert not judge_surely("小安超市旁边的药店关了。", "小安在镇上开超市。", **told)
    assert not judge_surely("小安的手机丢了。", "小安的手机号是13812345678。", **told)
    assert judge_surely("小安的威尔士倒闭了。", "小安在威尔士健身。", **told)


def test_a_shop_is_the_relatives_who_is_called_so_and_by_name() -> None:
    told: dict[str, Any] = {"polarity": "ended", "owner": "小安的姐", "held": "刘兰"}
    assert judge_surely("小安的姐的店关了。", "小安的姐刘兰在洛阳开服装店。", **told)
    assert not judge_surely("小安的姐的店关了。", "小安的妹刘梅在洛阳开服装店。", **told)


# What is answered


def say(text: str, days: int = 0, **told: Any) -> Quote:
    known: dict[str, Any] = {"speaker": "小安", "relevance": 3.0, "assisted": True}
    return Quote(text, AT + timedelta(days=days), **known | told)


def hold(text: str, owner: str = "小安", days: int = 0, **told: Any) -> Quote:
    return say(text, days, **{"speaker": "", "owner": owner} | told)


def ask(question: str, *quotes: Quote) -> GroundedAnswer:
    ranked = [replace(q, relevance=(q.relevance or 0) - n / 10) for n, q in enumerate(quotes)]
    return ENGINE.answer_question(question, ranked, subject="小安")


NOTHING = "没有找到相关的记忆。"
PHONE = hold("小安用华为手机。")


def test_of_what_was_before_the_present_one_is_no_answer() -> None:
    assert ask("我以前用什么手机", PHONE).text == NOTHING
    assert ask("我现在用什么手机", PHONE).used == (0,)
    new = hold("小安换成iPhone了。", days=60, replaced=PHONE.text)
    old = replace(PHONE, until=AT + timedelta(days=60))
    assert ask("我以前用什么手机", new, old).text.startswith("曾经：“小安用华为手机。”")


def test_what_is_told_of_the_past_answers_it() -> None:
    trade = hold("小安以前在上海做过销售。", tells_end=True)
    assert ask("我以前做什么的", trade).used == (0,)


def test_ones_own_day_comes_before_a_cousins() -> None:
    mine = hold("小安的婚礼定在10月6号。", predicate="")
    cousin = hold("小安的表妹婚礼改期 10月12。", "小安的表妹", 30)
    assert ask("我婚礼哪天", cousin, mine).used == (1,)
    assert ask("我表妹婚礼哪天", cousin, mine).used == (0,)


def test_ones_own_address_is_not_that_of_ones_wife() -> None:
    mine = hold("小安邮箱是xiaoan@qq.com。")
    hers = hold("小安的老婆邮箱现在是zhen@163.com。", "小安的老婆", 30)
    assert ask("我邮箱多少", hers, mine).used == (1,)
    assert ask("我老婆邮箱多少", hers, mine).used == (0,)


def test_a_relative_who_was_never_told_of_is_not_known() -> None:
    head = hold("方校长调走了。", "方校长", tells_end=True)
    aunt = hold("刘姨要回去带孙子。", "刘姨")
    assert ask("我爸还在吗", head).text == NOTHING
    assert ask("我有女儿吗", aunt).text == NOTHING
    son = hold("小宝是小安的儿子。", "小宝")
    assert ask("我有儿子吗", son, aunt).used == (0,)


def test_who_somebody_goes_out_with_has_many_words() -> None:
    told = hold("小倩是小安的对象。", "小倩")
    assert ask("我女朋友叫啥", told).text == "小倩"
    assert ask("我老婆叫什么", told).text != "小倩"


def test_whether_it_goes_on_is_told_by_what_is_over() -> None:
    dog = hold("小安养了条狗叫大黄。", until=AT + timedelta(days=60))
    heat = hold("小安的暖气停了。", days=30, tells_end=True)
    assert ask("我还养狗吗", dog).text.startswith("曾经：“小安养了条狗叫大黄。”")
    assert ask("我还抽烟吗", heat).text == NOTHING


def test_an_address_of_mail_is_told_whole() -> None:
    mail = hold("小安邮箱现在是xiaoan2026@163.com。")
    assert "xiaoan2026@163.com" in ask("我邮箱是多少", mail).text


# Whom it is asked of


@pytest.mark.parametrize(
    ("question", "told", "another"),
    [
        ("大闺女现在干啥", "小安的大闺女在银行上班。", "小安的二闺女开了家饭馆。"),
        ("内子在哪儿上班", "小安的妻子在档案馆上班。", "小安的儿子在南开上学。"),
        ("我表哥在哪上班", "小安的表哥在港口上班。", "小安的哥哥在邮局上班。"),
        ("我妈住哪", "小安的母亲住在南通。", "小安的姨妈住在杭州。"),
        ("舍妹在哪里", "小安的妹妹在无锡。", "小安的妹妹的儿子在同济。"),
        ("我前男友做什么的", "小安的男票是程序员。", "小安的弟弟是电工。"),
        ("小女儿多大", "小的那个才三岁半。", "小安的大女儿上初一了。"),
    ],
)
def test_of_several_relatives_the_one_is_told_from_the_other(
    question: str, told: str, another: str
) -> None:
    relative = find_asked_relative(question, [])
    assert relative is not None
    assert relative.is_spoken_of(told)
    assert not relative.is_spoken_of(another)
    assert relative.is_another(another)


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("大闺女现在干啥", "大闺女在银行上班"),
        ("二闺女是干什么的", "二闺女嫁到青岛去了，在那边开饭馆"),
        ("我们家住哪", "大闺女在银行上班，二闺女嫁到青岛去了，在那边开饭馆"),
    ],
)
def test_of_a_sentence_about_two_relatives_each_has_a_part(question: str, part: str) -> None:
    told = say("大闺女在银行上班，二闺女嫁到青岛去了，在那边开饭馆", 0)
    asked = parse_question(question, [told], "小安")
    assert [each.text for each in rank_sentences(asked, [told])] in ([part], [])


def test_what_is_told_before_a_question_is_no_question() -> None:
    told = say("先生是电工，总上夜班，喝什么汤好？", 0)
    asked = parse_question("先生是做什么的", [told], "小安")
    found = rank_sentences(asked, [told])
    assert ("先生是电工，总上夜班", False) in [(each.text, each.is_question) for each in found]
    supposed = say("要是辞职了，社保怎么办？", 0)
    found = rank_sentences(parse_question("社保呢", [supposed], "小安"), [supposed])
    assert all(each.is_question for each in found)


def test_what_somebody_did_is_not_told_of_another_by_name() -> None:
    own, theirs = say("出分了，六百七", 0), hold("周叙打游戏很厉害。", owner="周叙")
    asked = parse_question("周叙考了多少分", [own, theirs], "小安")
    assert [each.quote for each in rank_sentences(asked, [own, theirs])] == [1]


def test_a_job_that_somebody_was_moved_from_since_is_not_stated() -> None:
    was = hold("小安的大闺女在银行上班。", owner="小安的大闺女", predicate="works_at")
    since = hold("小安的大闺女调到客服中心去了。", owner="小安的大闺女", days=90)
    asked = parse_question("大闺女在哪上班", [was, since], "小安")
    assert is_stated(asked, [was])
    assert not is_stated(asked, [was, since])


def test_a_relatives_appointment_is_moved_without_naming_them() -> None:
    planned = say("家母膝盖不好，医生约了四月二十二日复诊", 0)
    moved = say("医院来电，说复诊挪到二十五日下午了", 7)
    answer = ask("家母复诊是哪天", planned, moved).text
    assert "二十五" in answer
    assert "二十二" not in answer


@pytest.mark.parametrize(
    ("question", "telling", "other"),
    [
        ("酒席一桌多少钱", "酒席两千八一桌", "酒席改到10月18了，摆两桌"),
        ("二儿子上几年级", "二儿子今年初二", "二儿子天天踢足球"),
        ("药一次吃几片", "药一次两片", "药每周五服一次"),
        ("店开在哪条街", "店在宇拓路上", "店面很小"),
    ],
)
def test_what_is_counted_or_named_has_its_unit(question: str, telling: str, other: str) -> None:
    assert counts_in_asked(telling, question)
    assert not counts_in_asked(other, question)
    assert counts_in_asked(other, "店怎么样")
