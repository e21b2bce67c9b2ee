"""Whom a Chinese statement is about: names, relatives, and the one 他 or 她 may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

import rjieba

from memoryhub.engines.local.wordlists import split_words


def _join_longest_first(words: str) -> str:
    return "|".join(sorted(split_words(words), key=lambda word: (-len(word), word)))


# Several of whom one may have: 大闺女 and 二闺女 are two. 小姐 and 大叔 are anybody.
_ORDERED_KIN = " ".join(
    order + kin
    for order in "大二三四小老幺"
    for kin in split_words("""
        闺女 儿子 女儿 丫头 小子 孙子 孙女 外甥 侄子 娃 宝 哥 姐 弟 妹 嫂 姨 姨妈 舅 舅舅 姑 姑姑 叔
    """)
    if order + kin not in ("小姐", "小哥", "小弟", "小妹", "大叔", "老哥", "老弟", "老妹", "老姐")
)
KIN = _join_longest_first(f"""
    {_ORDERED_KIN}
    爸妈 妈妈 爸爸 妈 爸 父亲 母亲 父母 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 外婆 外公 姥姥
    姥爷 公公 婆婆 岳父 岳母 丈母娘 老丈人 丈夫 妻子 老公 老婆 老伴 老伴儿 老太婆 爱人
    媳妇 媳妇儿 对象 男朋友 女朋友 男友 女友 前夫 前妻 前任 前男友 前女友 未婚夫 未婚妻
    老爸 老妈 老爹 老娘 儿子 女儿 闺女 囡 囡囡 娃 娃儿 娃娃 宝宝 孩子 大儿子 小儿子
    大女儿 小女儿 孙子 孙女 外孙 外孙女 女婿 儿媳 儿媳妇 表哥 表姐 表弟 表妹 堂哥 堂姐
    堂弟 堂妹 大哥 大姐 二哥 二姐 嫂子 姐夫 妹夫 弟媳 舅舅 舅妈 姨妈 姑姑 姑妈 叔叔
    婶婶 伯伯 大伯 侄子 侄女 外甥 外甥女 双胞胎 幺儿 老幺 丫头 妞妞 崽 崽崽 伢子 小孩
    老大 老二 老三 太太 先生 那口子 孩他爸 孩他妈 孩子他爸 孩子他妈 娃他爸 娃他妈 娃他爹
    一家 家人 家里人 亲戚 男票 女票 阿妈 阿爸 老汉儿 老豆 家姐 家兄 细妹 婆娘 堂客 老头子
    家父 家严 先父 家母 家慈 先母 内子 内人 拙荆 贱内 外子 犬子 小女 舍弟 舍妹
""")
# People one has to do with, by what they are to one; of one sound only after "my".
ROLES = _join_longest_first("""
    同事 室友 舍友 同桌 同学 闺蜜 哥们 哥们儿 发小 战友 朋友 邻居 房东 房客 租客 中介
    老板 老板娘 领导 上司 主管 经理 总监 组长 导师 老师 班主任 教练 师傅 徒弟 搭档
    合伙人 客户 助理 保姆 阿姨 月嫂 医生 大夫 司机 护工
    主任 带教 队友 队长 班长 店长 校长 院长 厨师 大厨 编辑 家教 保洁
""")
_WOMEN = re.compile(
    "(?:妈|母亲|娘|姐|妹|奶奶|婆婆?|姥姥|妻子?|老婆|媳妇儿?|女朋友|女友|女儿|闺女|囡囡?|孙女|嫂子?|姑姑?|姨|婶婶?|丫头|妞妞?|婆娘|堂客"
    "|太太|阿姨|月嫂|闺蜜)$"
)
_MEN = re.compile(
    "(?:爸|父亲|爹|哥|弟|爷爷|外公|姥爷|公公|岳父|老丈人|丈夫|老公|男朋友|男友|儿子|女婿|[姐妹]夫|前夫|舅舅?|叔叔|伯伯|大伯|侄子"
    "|先生|哥们)$"
)
SHORT_KIN = "老汉|爹|娘|哥|姐|弟|妹|叔|姨|姑|舅|孙|侄"
_OWNED = r"(?:我|俺|咱)(?:们)?(?:家里|屋头|屋里|家|们家)?(?:的|那个|这个|那)?"
_MY_KIN = re.compile(rf"{_OWNED}(?P<kin>{KIN}|(?:{SHORT_KIN})(?!\w{{0,1}}(?:的|们)))(?!的|一起|和)")
_ANY_KIN = re.compile(rf"(?P<kin>{KIN})")
_OPENING_RELATIVE = re.compile(
    rf"(?:{_OWNED})?(?:老|前|新来的|新|大|小|那个|原来的)??(?P<kin>{KIN}|{ROLES})(?!们?家|节|和(?!我)|人)"
    rf"|{_OWNED}(?P<short>{SHORT_KIN})|(?P<bare>{SHORT_KIN})(?=的)"
)  # fmt: skip
_THEIR_RELATIVE = re.compile(rf"(?:(?:那边|家)?的)?(?P<kin>{KIN}|{ROLES})(?!们?家|节|人)")
# What relatives go by, whatever they are called by whom they belong to: 家父 is only one's own.
_FULL_KIN_WORDS = {
    word: full
    for full, words in (
        ("妈妈", "妈 母亲 家母 家慈 先母 阿妈"),
        ("爸爸", "爸 父亲 家父 家严 先父 阿爸 老汉儿 老汉 老豆"),
        ("妻子", "内子 内人 拙荆 贱内"),
        ("丈夫", "外子"),
        ("儿子", "犬子"),
        ("女儿", "小女"),
        ("弟弟", "舍弟"),
        ("妹妹", "舍妹 细妹"),
        ("哥哥", "家兄"),
        ("姐姐", "家姐"),
        ("男朋友", "男票"),
        ("女朋友", "女票"),
    )
    for word in split_words(words)
}
PLURAL_KIN = ("爸妈", "父母", "孩子", "一家", "家人", "家里人", "亲戚")
_PLACE_OR_THING = re.compile(r"[区市县省镇村路街山湖河江海岛店园]$")
# The segmenter guesses names of unknown runs of characters; these are in hardly any.
NOT_IN_NAMES = re.compile(
    r"[买发些去来做吃说要想把被给和再还很不会是有在了着过的这那我你他她它都也就只更最没]"
)


def is_name(word: str, tag: str) -> bool:
    """A person's (or a pet's) name by its tag, which also names districts now and then."""
    named = tag == "nr" and re.fullmatch(r"[\u4e00-\u9fff]{2,3}", word) is not None
    if re.fullmatch(f"{KIN}|{ROLES}|谢谢", word):
        return False
    return named and not _PLACE_OR_THING.search(word) and not NOT_IN_NAMES.search(word)


# What a name is followed by, and the segmenter takes for its last character: "吴浩读初三".
_BEHIND_NAMES = "读考教住当上跑搬"


def find_name(text: str) -> str:
    """The name of a person that a text opens with, or ""."""
    word, tag = next(iter(rjieba.tag(text)), ("", ""))
    if len(word) == 3 and word[-1] in _BEHIND_NAMES and len(text) > 3:
        word = word[:2]
    return word if is_name(word, tag) else ""


def match_relative(text: str) -> re.Match[str] | None:
    """Somebody who is a relative of the speaker's, or has to do with them, at the opening."""
    return _OPENING_RELATIVE.match(text)


def match_their_relative(text: str, start: int) -> re.Match[str] | None:
    """A relative of the person whose name ends at `start`: "老王的儿子"."""
    return _THEIR_RELATIVE.match(text, start)


def find_relative(text: str, speaker: str) -> str:
    """("我弟弟王强在读书") → "王强", ("我妈妈退休了") → "speaker的妈妈", or "" for none."""
    found = _MY_KIN.search(text)
    if not found:
        return ""
    return find_name(text[found.end() :]) or format_relative(found["kin"], speaker)


def format_relative(kin: str, speaker: str) -> str:
    return f"{speaker}的{_FULL_KIN_WORDS.get(kin, kin)}"


def may_stand_for(pronoun: str, owner: str) -> bool:
    """Whether 他 or 她 may be the relative that an owner goes by: 她 is no father."""
    others = {"她": _MEN, "他": _WOMEN}.get(pronoun)
    return others is None or "的" not in owner or not others.search(owner)


def find_antecedent(texts: Iterable[str], speaker: str) -> str:
    """The only person spoken of in the nearest of `texts` (latest first) that names any."""
    for text in texts:
        named = _find_people(text, speaker)
        if named:
            return named.pop() if len(named) == 1 else ""
    return ""


def _find_people(text: str, speaker: str) -> set[str]:
    names = {w for w, tag in rjieba.tag(text) if is_name(w, tag) and w not in speaker}
    if find_relative(text, speaker) in names:
        return names
    kin = (found["kin"] for found in _ANY_KIN.finditer(text))
    return names | {format_relative(each, speaker) for each in kin if each not in PLURAL_KIN}
