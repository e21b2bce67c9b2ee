"""What has ended in a Chinese clause: a job, a home, a habit, a bond, a belonging.

Only an ending that has happened counts: what is wished, planned, feared, advised or denied has
not. A job or a home that ended has a predicate of the table, so code may end the claim; of the rest
it is only suspected what they end, and a person decides (spec §11.7).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memoryhub.engines.local.chinese.clauses import ChineseClause
from memoryhub.engines.local.chinese.judgements import decide, list_ending_features

# Words beside an ending after which it has not happened: wished, planned, feared, advised, near.
_UNREAL = (
    r"想(?!到)|打算|准备|计划|考虑|决定(?!了)|犹豫|纠结|希望|期待|期望|梦想|建议|劝|逼|让|叫我|要求|怕|担心|害怕"
    r"|差点|差一点|险些|几乎|可能|也许|或许|大概|正在|试着|尝试|努力|如果|要是|万一|假如|梦见|假装|以后再|什么时候|讨论|商量|闹"
    r"|明[年天晚]|下个?[月周年]|下个?星期"
)
_NOT_HAPPENED = re.compile(
    rf"{_UNREAL}|没(?!过?多久|几[天年个])|未(?!来)|别(?!的|人|墅)|不(?!得不|再|在|住|久|仅|但|只)"
)
_STILL_AHEAD = re.compile(
    rf"{_UNREAL}|(?:快|将|要|马上|即将|该)(?:要|就)?\w{{1,6}}了$|失败|[了不]成$|给了?(?:我|俺)(?:了|$|[一两])"
)
_SOON_WORDS = re.compile(r"[快将要会能该]")
# After these an ending is a time, a thing, or somebody it happened to.
_ENDING_AS_NOUN = re.compile(
    r"(?:了?(?:之|以)?[后前时]|了?的时候|那[年天]|金|手续|信|申请|率|年龄|生活|老|教[师授]|费|证|协议|者|失败|未遂|不了|不成|的(?!$))"
)
# It happened to somebody else: "my boss was dismissed", "I helped him give it up".
_OTHER_PEOPLE = re.compile(
    r"我们?的?(?:前|老|好|大|小)?(?:老板|上司|领导|经理|主管|同事|同学|朋友|友|闺蜜|哥们|兄弟们|室友|舍友|邻居|房东|房客|租客"
    r"|男友|女友|对象|任|老师|学生|客户|医生|助理|保姆|公司|单位|部门|团队)(?!和我|跟我|与我)"
    r"|(?:帮|替|陪|看到|看见|听说|听到|得知|知道|支持|羡慕)[^，。,]{0,4}(?:他|她|他们|别人|朋友|同事)|[他她]们?"
)
_LEAVING_JOB = (
    r"辞(?:掉|去)?了?(?:.{0,8}的)?(?:职务?|工作)|辞了|离了?职|失业|下岗|退休|(?:丢|没)了工作|丢掉了?工作"
    r"|(?:工作|职)(?:给|都)?(?:辞|丢)(?:掉)?了|(?<!再)(?:不干|不做)了(?=$|[，。,])|被.{0,8}?(?:裁员|裁掉|裁了|解雇|开除|辞退|炒了?鱿鱼|炒了)"
)
# "从公司撤了" says where from, and so that it is no way out of a building.
_OUT_OF_FIRM = (
    r"从(?:原来的|老|前|上家|这家|那家)?(?:公司|单位|厂里|厂子)(?:那边|里)?"
    r"(?:撤|走|出来|离开|跑路|退出来)了(?=$|[，。,])"
)
_LEFT_JOB = re.compile(
    rf"(?:从(?P<firm>[^，。,]{{2,14}}?))?(?:里|那里|那边)?(?:正式|主动|已经|提前|终于|刚刚?|提了)*(?:{_LEAVING_JOB})|{_OUT_OF_FIRM}"
)
_LEFT_ROLE = re.compile(r"辞(?:掉|去)了?(?P<role>[^，。,]{2,10}?)的(?:职务|工作|职位)")
_PLACE = r"[^，。,的了过]{2,10}?"
_LEFT_HOME = re.compile(
    rf"从(?P<from>{_PLACE})(?:那里|那边)?(?:搬走|搬离|搬出(?:去|来)?)|搬(?:离|出)了?(?P<out>{_PLACE})(?:了|$)"
    r"|搬(?:走|出去)了?$|搬离了?$"
)
_ENDINGS = re.compile(
    r"戒(?:掉|了|断|成功|[烟酒赌糖毒网])|卖(?:掉|出|给|了)|(?:报废|倒闭|停业|歇业)(?:掉|了)|退(?:学|休|出|掉|了)|辍学|分手|分开了|(?<=[和跟与]\w{2})分了|(?<=[和跟与]\w)分了|分居|绝交|断绝|停止|停掉|放弃了?"
    rf"|送(?:人|走)了|转(?:让|卖)|解散|搬(?:走|离|出)|{_LEAVING_JOB}"
)


def is_over(clause: ChineseClause) -> bool:
    """Whether a clause says that something ended, as far as its words tell ("卡都转给同事了")."""
    if _STILL_AHEAD.search(clause.text):
        return False
    return decide("ended", list_ending_features(clause.text, clause.words))


class Predicate(NamedTuple):
    """A predicate of the table and its value; of one that ended "" for whichever was held."""

    key: str
    value: str


def has_ended(clause: str) -> bool:
    """("我戒烟了") → True; ("我想戒烟") → False."""
    found = _ENDINGS.search(clause)
    return found is not None and _has_happened(clause, found)


def extract_continuation(clause: str) -> str:
    """What a clause goes on to say after an ending: ("从北京搬走搬到上海") → "搬到上海"."""
    found = _ENDINGS.search(clause)
    return clause[found.end() :] if found and _has_happened(clause, found) else ""


def find_ended_predicate(clause: str) -> Predicate | None:
    """The job or home that a clause says is over."""
    for rule in (_find_ended_role, _find_ended_job, _find_left_home):
        if found := rule(clause):
            return found
    return None


def _has_happened(clause: str, ending: re.Match[str]) -> bool:
    """Whether nothing before the ending says that it is not so, or not yet."""
    before, named = clause[: ending.start()], "".join(ending.groupdict(default="").values())
    open_yet = _NOT_HAPPENED.search(before) or _NOT_HAPPENED.search(named)
    open_yet = open_yet or _SOON_WORDS.search(before)
    noun = _ENDING_AS_NOUN.match(clause[ending.end() :])
    return not (open_yet or noun or is_about_others(before))


def is_about_others(words: str) -> bool:
    """Whether what follows these words befell somebody who is not their speaker."""
    return bool(_OTHER_PEOPLE.search(words))


def _find_ended_role(clause: str) -> Predicate | None:
    found = _LEFT_ROLE.search(clause)
    happened = found and _has_happened(clause, found)
    return Predicate("works_as", found["role"]) if found and happened else None


def _find_ended_job(clause: str) -> Predicate | None:
    found = _LEFT_JOB.search(clause)
    if not found or not _has_happened(clause, found):
        return None
    firm = re.sub(r"(?:公司|单位)$", "", found["firm"] or "")
    return Predicate("works_at", found["firm"]) if len(firm) > 1 else Predicate("works_as", "")


def _find_left_home(clause: str) -> Predicate | None:
    found = _LEFT_HOME.search(clause)
    if not found or not _has_happened(clause, found):
        return None
    return Predicate("lives_in", found["from"] or found["out"] or "")


_BOND_WORDS = r"男朋友|女朋友|男友|女友|对象|恋人|恋爱|交往|在一起|约会|同居"
_OWNING_WORDS = r"(?:有|买|拥有|开着?|养|骑).{0,10}"
# What an ending may end: words of the new claim, and those of the one held ("{x}" its thing).
_ENDING_PATTERNS = (
    (r"戒(?:掉|了|断)?了?烟|烟(?:给|都)?戒", r"(?:抽|吸).{0,5}烟|烟.{0,4}抽|[包根条]烟|烟瘾"),
    (r"戒(?:掉|了|断)?了?酒|酒(?:给|都)?戒", r"(?:喝|饮).{0,5}酒|酒.{0,4}喝|[两斤瓶杯]酒|酒瘾"),
    (r"戒(?:[掉断]了?|了)(?P<x>[^，。,了]{1,8})|把(?P<y>[^，。,]{1,8}?)戒", "{x}"),
    (r"(?:和|跟|与)(?P<x>[^，。,]{1,6}?)(?:分手|分开了|分了|分居|绝交)", f"{_BOND_WORDS}|{{x}}"),
    (r"分手", _BOND_WORDS),
    (r"把(?P<x>[^，。,]{1,8}?)(?:给|都)?(?:卖|转让|转卖|送人|送走)", f"{_OWNING_WORDS}{{x}}"),
    (r"(?:卖[掉出了]了?|转[让卖]了?)(?:我的|自己的|那.)?(?P<x>(?![\d一二两三四五六七八九十])[^，。,了]{1,8})",
     f"{_OWNING_WORDS}{{x}}"),
    (r"(?:^|[\s的，把])(?P<x>[^\s，。,了的把]{1,8}?)(?:昨[天晚]|今天|上[个周月]+|已经|早就?|也|都|给|刚)*(?:卖|转|报废)掉?了",
     f"{_OWNING_WORDS}{{x}}"),
    (r"(?:^|[\s的，])(?P<x>[^\s，。,了的]{2,8}?)(?:昨[天晚]|今天|上[个周月]+|又|也|都)*"
     r"(?:(?:被|让|叫)(?:人|小偷|贼)?(?:给)?偷|(?:弄|搞)?丢)了",
     "{x}"),
    (r"(?:^|[\s的，])(?P<x>[^\s，。,了的]{2,8}?)(?:已经|突然|上[个周月]+|去年|也|都)*"
     r"(?:倒闭|停业|歇业)了",
     "{x}"),
    (r"(?:^|[\s的，])(?P<x>[^\s，。,了的]{1,6}?)(?:也|都|终于|已经|全|今年)*"
     r"(?:还清|还完|结清|付清)了",
     r"{x}.{0,4}[欠还剩]|欠.{0,10}{x}"),
    (r"(?:^|[\s的，])(?P<x>[^\s，。,了的]{2,6}?)课?(?:已经|也|都|就)*停(?:掉|用)?了",
     r"{x}课?(?:$|[，。])"),
    # 出租不开了: what is no longer done stands first.
    (r"(?:^|[\s的，])(?P<x>[^\s，。,了的不没]{2,6}?)(?:现在|已经|早|早就|也|都|就)*"
     r"不(?P<y>[开做干养学练弹打跑送教用吃喝抽租卖])了",
     "{y}.{0,5}{x}"),
    (r"退学|辍学", r"(?:读|上|念).{0,10}(?:大学|学校|中学|专业|研究生|学院|[大高初][一二三四])"),
    (r"退出了?(?P<x>[^，。,了]{2,10})", "{x}"),
    (r"(?:停止|停掉|放弃|不再|再也不|再不)了?(?P<x>[^，。,了]{2,10})", "{x}"),
    (r"不(?P<x>[^，。,了]{2,8})了", "{x}"),
)  # fmt: skip
_PARTNERS = re.compile(_BOND_WORDS)


# "超市旁边的药店关了" says nothing of the supermarket.
_BESIDE = re.compile(r"[^，。]{1,12}?(?:旁边|隔壁|对面|附近|楼下|楼上|门口|边上)的?")
_SHOPS = "店|馆|铺|超市|厂|公司|吧|诊所|工作室|民宿|摊|坊|饭堂|网吧"
_CLOSED_SHOP = re.compile(
    rf"(?:^|[\s的，我咱])们?家?(?P<kind>[^\s，。的了我咱]{{0,4}}?)(?P<shop>{_SHOPS})子?(?:已经|终于|也|都|给|上个?月|去年)*"
    r"(?:关掉?|转让|转|盘|盘出去|兑|兑出去|倒闭|不开|黄|停业|歇业)了(?!门|一?[天会]|会儿|[\d一二两三]+天)"
)
_FOR_TODAY = re.compile(r"今[天晚]|昨[天晚]|早早|提前|临时|周[一二三四五六日末]")


_HOW_IT_ENDED = re.compile(r"^(?P<ended>[^，]{0,12}[不没][^，。]{1,14}了)，.*")


def find_ended_thing(text: str) -> str:
    """What a claim that something ended tells of, without what that is beside, and without how:
    "不抽烟了" of "不抽烟了，戒了半年了"."""
    return _HOW_IT_ENDED.sub(r"\g<ended>", _BESIDE.sub("", text))


def closes_shop(new: str, old: str) -> bool:
    """Whether the one who runs a shop has it no more: "店关了" after "在洛阳开服装店"."""
    closed = _CLOSED_SHOP.search(new)
    if closed is None or _FOR_TODAY.search(new):
        return False
    kind = closed["kind"][-2:]
    shop = _SHOPS if closed["shop"] == "店" and not kind else closed["shop"]
    return (
        re.search(rf"[开经营有]了?(?:着|过)?(?:一?[家个间])?[^，。]{{0,8}}{kind}(?:{shop})", old)
        is not None
    )


def may_end_claim(new: str, old: str) -> bool:
    """Whether a claim that something ended may be about the one held, both in Chinese."""
    if closes_shop(new, old):
        return True
    for ending, held in _ENDING_PATTERNS:
        if found := re.search(ending, new):
            groups = found.groupdict()
            done = groups.get("y") if "{y}" in held else None
            things = [thing for thing in groups.values() if thing]
            pattern = held.replace("{x}", _build_thing_pattern(things))
            return bool(re.search(pattern.replace("{y}", done or ""), old))
    return False


def _build_thing_pattern(things: list[str]) -> str:
    """A thing as it may stand in another sentence: ("喝咖啡") in "每天喝两杯咖啡"."""
    if not things or _PARTNERS.search(things[0]):
        return _BOND_WORDS
    thing = things[0]
    # A telephone that was lost leaves its number.
    whole = "(?![号费卡壳])" if thing[-1] not in "号费卡壳" else ""
    parts = (thing[:1], thing[1:]) if thing[1:] else (thing,)
    return ".{0,4}".join(map(re.escape, parts)) + whole
