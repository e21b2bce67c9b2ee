"""The slot that a Chinese claim fills: whose landlord, which car, what rent."""

from __future__ import annotations

import re
from typing import NamedTuple

_SAME_NOUN = {
    **dict.fromkeys(("领导", "上司", "主管", "经理", "老板", "顶头上司", "直属领导"), "领导"),
    "leader": "领导",
    **dict.fromkeys(("手机号", "电话", "号码", "手机号码", "电话号码", "联系电话", "号"), "手机号"),
    **dict.fromkeys(("邮箱", "邮箱地址", "邮件地址", "电子邮箱"), "邮箱"),
    **dict.fromkeys(("地址", "家地址", "住址", "家庭地址", "家庭住址"), "地址"),
    **dict.fromkeys(("室友", "舍友", "合租室友"), "室友"),
    **dict.fromkeys(("工资", "月薪", "薪水", "月工资"), "工资"),
    **dict.fromkeys(("主治医生", "医生", "大夫"), "医生"),
    **dict.fromkeys(("房租", "租金"), "房租"),
}  # fmt: skip
_SINGLE_NOUNS = frozenset(_SAME_NOUN.values()) | {
    "房东", "班主任", "导师", "组长", "教练", "微信", "微信号", "工资卡", "密码", "车牌", "车牌号",
    "体重", "身高", "学校", "单位", "房贷", "月供", "学费", "专业", "手机", "健身房", "牙医",
}  # fmt: skip
# Of these one has several, unless the words say that it is a new one.
_MANY_NOUNS = re.compile(
    "朋友|同事|同学|姐|妹|哥|弟|儿子|女儿|孩子|邻居|狗|猫|客户|学生|亲戚|爱好|问题|目标|计划|意思|原因|想法|事|时候"
)
_NEW = r"(?:新(?:来)?的?|现在的?|目前的?|如今的?)"
_NOUN = r"(?P<noun>[一-鿿]{1,8}?)"
_KNOWN = rf"(?P<noun>{'|'.join(sorted({*_SAME_NOUN, *_SINGLE_NOUNS}, key=len, reverse=True))})"
_CHANGED = (
    r"(?:从(?P<from>[^，。]{1,12}?))?(?:已经|刚刚?|都|要|给我|给)?"
    r"(?:换成|换到|改成|改到|改为|改在|变成|变为|涨到|涨成|降到|降成|减到|加到|调到|调成|挪到|推迟到|提前到|延到)了?"
)
_NOW_IS = r"(?:变了|换了|改了|换人了|搬了)[，,、 ]?(?:现在|目前|如今)?(?:是|在|叫|姓)"
_VALUE = r"(?P<value>[^，。；]{1,24}?)了?"
_WHOSE = r"(?P<whose>[^，。；]{1,12}?)"
_PATTERNS = (
    (True, re.compile(
        rf"{_WHOSE}的?(?:房子|公司|学校|班里?|单位)?换{_KNOWN}了[，,、 ]?(?:现在|新的)?(?:是|叫"
        rf"|姓)?{_VALUE}$"
    )),
    (False, re.compile(
        rf"{_WHOSE}的?(?P<new>{_NEW})?{_KNOWN}(?P<now>现在|目前|如今)?(?:就?是|叫做?|姓|在|一个月|每个?月)(?:现在)?{_VALUE}的?$"
    )),
    (True, re.compile(rf"{_WHOSE}的?(?P<new>{_NEW})?{_NOUN}(?:{_CHANGED}|{_NOW_IS}){_VALUE}$")),
    (False, re.compile(
        rf"{_WHOSE}的(?P<new>{_NEW})?{_NOUN}(?P<now>现在|目前|如今)?(?:名字)?(?:就?是|叫做?|姓|在|一个月|每个?月)(?:现在)?{_VALUE}$"
    )),
    (False, re.compile(
        rf"{_WHOSE}(?P<now>现在|目前|如今)?(?P<most>最(?:喜欢|爱)的?){_NOUN}(?:就?是){_VALUE}$"
    )),
    (False, re.compile(
        rf"(?P<value>[^，。；的]{{1,8}}?)(?P<now>现在|目前)?是{_WHOSE}的(?P<new>{_NEW})?{_NOUN}了?$"
    )),
)  # fmt: skip
_DAY = r"(?:下?(?:周|星期|礼拜)[一二三四五六日天末]|每天|\d{1,2}[月号]|明天|后天|下个?月)"
_KINDS = (
    ("安排", True, re.compile(
        rf"(?P<whose>.{{1,10}}?)(?:每|下)?(?P<value>{_DAY}[^，。]{{0,8}}?)(?:要|去|有)?(?P<noun>看\w{{1,3}}?|面试|考试|体检|复查"
        r"|(?:打|上|练|学|跳|踢)\w{1,3}?|游泳|跑步|健身)课?$"
    )),
    ("通勤", True, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|平时|每天|改|都|一般)*(?P<value>(?:坐|骑|开|搭|走路|步行|乘)[^，。]{0,6}?)(?:去)?上下?班"
    )),
    ("车", False, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|刚|又|已经|改|平时)*(?:开|买了|换了|提了|开的是|的车是)(?:一?[辆台部]|的是)?"
        r"(?P<value>[^，。]{0,6}?(?:大众|高尔夫|比亚迪|特斯拉|丰田|本田|宝马|奔驰|奥迪|日产|别克|福特|吉利|长安|哈弗|蔚来|小鹏|理想"
        r"|五菱|现代|起亚|马自达|雪佛兰|沃尔沃|雷克萨斯|卡罗拉|雅阁|凯美瑞|思域|帕萨特|朗逸)[^，。]{0,8}?)了?$"
    )),
    ("手机", False, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|刚|又|已经|改|平时)*(?:用的?是?|买了|换了|换成了?|的手机(?:是|换成了?))(?:一?[部台个])?"
        r"(?P<value>(?:iPhone|苹果|小米|华为|荣耀|三星|红米|OPPO|vivo"
        r"|一加)[^，。]{0,10}?)(?:手机)?了?$", re.I
    )),
    ("学校", True, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|刚|已经)*(?:在|转学?到了?|转去了?|考上了?|去了?)"
        r"(?P<value>[^，。]{2,8}?(?:小学|中学|初中|高中|一中|二中|三中|幼儿园|附小|附中|实验))(?:读书?|上学|念书?)?了?$"
    )),
    ("专业", False, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|已经)*(?:在[^，。]{2,8}?(?:大学|学院))?(?:读|学|念|(?:从[^，。]{1,8}?)?转到了?|转去了?)"
        r"(?P<value>历史|经济|法律|法学|会计|计算机|数学|物理|化学|生物|医学|新闻|英语|中文|金融|管理|心理|艺术|设计|机械|土木|建筑|软件)"
        r"[学系专业]{0,3}了?$"
    )),
    ("感情", True, re.compile(
        r"(?P<whose>.{1,10}?)(?:现在|已经|还|又|终于|也)*(?:是|有|处于|恢复|谈|交)?(?P<value>单身|男朋友|女朋友|对象|男友|女友|脱单)了?(?:，叫.{1,4})?$"
    )),
)  # fmt: skip
_NOW = re.compile("现在|目前|如今|改|换|转|新|变|又|搬")
_FORMER = re.compile("^(?:以前|之前|原来|前|老|旧|上一?[个任])")


_DAY_START = re.compile(_DAY)


def _name_occasion(noun: str) -> str:
    """("打羽毛球", "羽毛球课") → "羽毛球"."""
    return re.sub("^[看打上练学跳踢]|课$", "", noun) or noun


class FilledSlot(NamedTuple):
    """As `claims.slots.Slot`."""

    whose: str
    name: str
    value: str
    single: bool
    renewed: bool


def read_chinese_slot(text: str) -> FilledSlot | None:
    """The slot that a claim fills, in which the person whom all is about is marked."""
    told = text.strip().rstrip("。！!")
    for name, single, pattern in _KINDS:
        if found := pattern.match(told):
            whose = found["whose"].removesuffix("的")
            value = found["value"]
            if name == "安排":
                return FilledSlot(whose, _name_occasion(found["noun"]), value, False, False)
            if name == "感情" and value != "单身":
                value = "有伴"
            return FilledSlot(whose, name, value, single, bool(_NOW.search(told)))
    for changed, pattern in _PATTERNS:
        if found := pattern.fullmatch(told):
            groups = found.groupdict()
            noun, whose = found["noun"], found["whose"].removesuffix("的")
            if _FORMER.match(noun) or not whose:
                return None
            noun = _SAME_NOUN.get(noun, noun)
            if _DAY_START.match(found["value"]):
                noun = _name_occasion(noun)
            renewed = changed or bool(groups.get("new") or groups.get("now"))
            favourite = bool(groups.get("most"))
            single = noun in _SINGLE_NOUNS or favourite
            if not single and (not renewed or _MANY_NOUNS.search(noun)):
                return None
            whose = re.sub("(?:家|现在|目前|如今)$", "", whose) or whose
            value = re.sub("^(?:了|现在|在|是|叫|姓)", "", found["value"])
            return FilledSlot(whose, f"最爱{noun}" if favourite else noun, value, single, renewed)
    return None
