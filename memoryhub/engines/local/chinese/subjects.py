"""Who or what a Chinese clause is about, read off the words before its first verb."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

import rjieba

from memoryhub.engines.local.chinese.clauses import ChineseClause, TaggedWord
from memoryhub.engines.local.chinese.people import (
    KIN,
    ROLES,
    find_name,
    format_relative,
    is_name,
    match_relative,
    match_their_relative,
    may_stand_for,
)
from memoryhub.engines.local.wordlists import split_words

# "thing": of the speaker's. "nothing": the subject is left out. "somebody": 他 or 她, not known
# whom. "other": the listener, people at large, or what is only pointed at.
SubjectKind = Literal["speaker", "person", "thing", "nothing", "somebody", "other"]

# Before a subject: times, adverbs, conjunctions.
_LEADING_TAGS = frozenset({"t", "tg", "d", "c", "ad", "y", "u", "ul", "x", "df"})
_LEADING_WORDS = re.compile(
    r"(?:最近|近来|近期|[这那][回次下阵天周年月里儿边]|[这那]个[月周]|[这那]段时间|[这那]几[天年个][月]?|[这那]时候?|每[天周年月次]|[这上下新本]个?(?:学期|学年|季度|赛季)"
    r"|总算|终于|好歹|反正|幸亏|其实|感觉|估计|好像)"
)
_SHORT_ADVERBS = "又也都才就刚还已再便却倒正曾可老总常只先"
_NOUN_TAGS = ("n", "vn", "an", "j", "eng", "uj", "s", "f", "g", "zg", "b")
_COUNT_TAGS = ("m", "q")
_PLACE_TAGS = ("s", "f")
_PLACE_WORDS = re.compile(
    r"(?:[这那]边|[这那]里|[这那]儿|里|上|下|旁边|附近|楼下|门口|的时候|以[前后])$"
)
# Who is of the family, people or animals, and not what belongs to it.
_OF_FAMILY = re.compile(r"(?:我|俺|咱)们?家(?:的)?\w{1,4}$")
_BELONGING = re.compile(r"[房车店厂地楼屋田院厅门网电机台柜饭钱价货]|[家里上]$")
_WORKPLACE = re.compile(r"(?:[院店厂校行所局馆部站园厅班]|公司|中心|学校|医院|酒店|工地|单位)$")
_WORKING = re.compile(r"(?:做|当|上班|工作|打工|干活|教|读|念|实习|兼职|任职)")
_LATE_SPEAKER = re.compile(
    r"^(?:(?:在|从|当|自从|关于|对于|除了).{1,14}|.{1,14}?(?:的时候|之后|以后|时|后)|\w{1,8}一\w{1,4}(?=我就))我(?!的)"
)
# Rarer family names, as of "老骆"; and the commonest: the segmenter takes brands for people.
_OTHER_FAMILY_NAMES = (
    "骆缪屈仇邢耿柳岳殷施洪翟樊霍倪苗冉尤卫裴温芦窦祝项柯阮裘邬嵇滕鲍穆辛管左童甘宁欧"
    "桂麦卓蓝冼揭佟栾"
)
FAMILY_NAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)  # fmt: skip
ANY_FAMILY_NAME = rf"[{''.join(sorted(FAMILY_NAMES))}{_OTHER_FAMILY_NAMES}]"
_FULL_NAME = re.compile(rf"{ANY_FAMILY_NAME}[\u4e00-\u9fff]{{2}}")
_NAMED_FAMILIARLY = re.compile(
    rf"(?:[小老]{ANY_FAMILY_NAME}|阿(?:(?!里)[\u4e00-\u9fff](?!姨)|[A-Z][a-z]+))(?!们|板|[家公婆师])"
)
_ONE_OF_CHILDREN = re.compile(
    r"(?P<which>[大小]的)(?:那个)?(?=是个?(?P<kin>儿子|女儿|闺女|男孩|女孩))"
)
_LATIN_NAME = re.compile(r"[A-Z][a-z]{1,11}(?=[\u4e00-\u9fff])")
# "孙医生退休了" is told of somebody by name, who is not the speaker.
_TITLED_NAME = (
    rf"{ANY_FAMILY_NAME}"
    r"(?:医生|大夫|老师|经理|主任|阿姨|师傅|教练|教授|护士|领导|校长|院长|律师|总)"
)
_TITLED = re.compile(rf"{_TITLED_NAME}(?=\w)(?![的家们])")
_VOCATIVE = re.compile(
    r"(?:兄弟|姐妹|老?哥|老弟|老铁|家人们|朋友们|老板|老师|师傅|大夫|医生|亲|小助手)(?=我|俺|在[不吗]|你|帮|$)"
)
# "人在北京": whoever is spoken of is there.
_ONESELF = re.compile(r"人(?:也|都|已经|还|就|现在)*在")
_NOBODY = re.compile(
    r"(?:大家|别人|有人|人家|谁|网上|新闻|什么|啥|大多数?人|某些?|.{0,6}人们?$|朋友们)"
)
# What is done by the speaker may stand first, and is not what the clause is about.
_TAKEN_UP = re.compile(rf"[我俺](?!们?的|们|俩|{KIN}|{ROLES}|家|[哥姐弟妹爹娘叔姨姑舅])")
_DISPOSED = re.compile(r"(?:给|都|已经|刚|也)?(?:卖|退|扔|修|换|丢|转)(?:掉|出)?了")
_POINTING = re.compile(r"^[这那](?:些|个|只|条|款|种|家|件|次|本|部|台|辆|套|份|位)?")
_ENOUGH = re.compile(r"(?:即可|就(?:好|行|可以|够)了?)$")
_JUDGED = re.compile(r"^(?:[也都就还]?(?:很|真|太|挺|特别|好|非常|是|算|叫|不错|可以))")


@dataclass(frozen=True, slots=True)
class Subject:
    """`owner`: whom a claim about it is about, "" for nobody one can name.

    Characters [start, end) of the clause are told as `phrase`, which stands alone.
    """

    kind: SubjectKind
    owner: str = ""
    phrase: str = ""
    start: int = 0
    end: int = 0


def find_subject(
    clause: ChineseClause, speaker: str, known: str, people: frozenset[str]
) -> Subject:
    """`known` is whom 他 or 她 stands for, "" for nobody; `people` are names."""
    text = clause.text
    late = _LATE_SPEAKER.match(text)
    if late:
        return Subject("speaker", speaker, speaker, late.end() - 1, late.end())
    at = first = led = 0
    for first, (word, tag) in enumerate(clause.words):
        if opening := _LEADING_WORDS.match(text, at):
            led = opening.end()
        leading = tag in _LEADING_TAGS
        modifies = clause.words[first + 1 : first + 2] == (("的", "uj"),)
        # Of one character only these: "终" of "终稿" is no adverb.
        leading = leading and (len(word) > 1 or word in _SHORT_ADVERBS or tag in ("c", "ul", "y"))
        if not (leading or at < led) or modifies or word[0] in "没不别和跟与同" or word in people:
            break
        at += len(word)
    if vocative := _VOCATIVE.match(text[at:]):
        at += vocative.end()
        first += 1
        if not text[at : at + 1] or text[at] in "在你帮":
            return Subject("other")
    rest = text[at:]
    found = _find_person(rest, speaker, known, people)
    if found is not None and found.kind == "person":
        found = _find_theirs(rest, found)
    if found is None:
        found = _find_thing(rest, clause.words[first:], speaker)
    if found.kind == "thing" and _TAKEN_UP.match(rest, found.end):  # "酒我戒了"
        end = at + found.end
        return Subject("speaker", speaker, speaker, end, end + 1)
    if found.kind == "thing" and at and found.end == len(rest):  # "七月报到" names no thing
        return Subject("nothing")
    return Subject(found.kind, found.owner, found.phrase, found.start + at, found.end + at)


def _find_person(text: str, speaker: str, known: str, people: frozenset[str]) -> Subject | None:
    if re.match(r"[你您]|[有没]人", text):
        return Subject("other")
    if re.match(r"对\w{1,6}(?:过敏|不耐受)", text):  # and not 对虾
        return Subject("nothing")
    if (one := _ONE_OF_CHILDREN.match(text)) is not None:  # "小的是女儿，叫林月"
        owner = format_relative(one["kin"], speaker)
        return Subject("person", owner, f"{speaker}的{one['which']}", 0, one.end("which"))
    if relative := match_relative(text):
        return _name_relative(text, relative, speaker)
    if re.match(
        r"(?:我|俺|咱|本人)(?![的])(?!们?(?:家(?!里?(?:有|养))|公司|单位|学校|医院|班|店|部门|团队|组|小区))",
        text,
    ):
        if text[1:2] in ("们", "俩"):
            return Subject(
                "speaker", speaker, speaker + ("他们" if text[1] == "们" else "俩"), 0, 2
            )
        spoken = re.match(r".?本人|.", text)  # "我本人" is one and the same
        return Subject("speaker", speaker, speaker, 0, spoken.end() if spoken else 1)
    if re.match(r"[他她](?!们)", text):
        meant = known and may_stand_for(text[0], known)
        return Subject("person", known, known, 0, 1) if meant else Subject("somebody")
    if re.match(r"[他她它]|(?:新[来换招]|后来)的(?=[叫是姓])", text):
        return Subject("somebody")
    if called := _find_known_name(text, people):
        name, size = called
        return Subject("person", name, name, 0, size)
    if titled := _TITLED.match(text):
        return Subject("person", titled[0], titled[0], 0, titled.end())
    if named := _NAMED_FAMILIARLY.match(text):
        return Subject("person", named[0], named[0], 0, named.end())
    if text[:1] in FAMILY_NAMES and text[1:2] not in "一二三":  # 高三 is a year of school
        word, tag = next(iter(rjieba.tag(text)), ("", ""))
        disposed = _DISPOSED.match(text[len(word) :])  # what is sold or taken back is a thing
        if is_name(word, tag) and len(word) < len(text) and not disposed:
            return Subject("person", word, word, 0, len(word))
    return None


def _find_known_name(text: str, people: frozenset[str]) -> tuple[str, int] | None:
    """Whose name opens `text`, in full or the given name alone, and how many characters it has."""
    called = [(name, len(name)) for name in people if text.startswith(name)]
    called += [
        (name, 2) for name in people if _FULL_NAME.fullmatch(name) and text.startswith(name[1:])
    ]
    return max((c for c in called if c[1] < len(text)), key=lambda c: c[1], default=None)


# 老婆孩子 are both one's own.
_TOLD_TOGETHER = re.compile(r"(?:老婆|媳妇|老公|爱人|妻子|丈夫)(?:孩子|儿子|女儿|闺女|娃)")


def _find_theirs(text: str, person: Subject) -> Subject:
    """The relative or the thing of a person, if that is what is spoken of: his son is not he."""
    owner, phrase, end = person.owner, person.phrase, person.end
    while not _TOLD_TOGETHER.match(text, max(0, end - 2)) and (
        found := match_their_relative(text, end)
    ):
        owner = phrase = f"{owner}的{found['kin']}"
        end = found.end()
    if text[end : end + 1] != "的":
        return Subject("person", owner, phrase, 0, end)
    thing = text[end : end + 1 + _measure_noun(text[end + 1 :])]
    return Subject("thing", owner, phrase + thing, 0, end + len(thing))


def _measure_noun(text: str) -> int:
    """Characters of the noun phrase that opens `text`."""
    tagged = takewhile(lambda word: word[1].startswith(_NOUN_TAGS), rjieba.tag(text, False))
    return sum(len(word) for word, _ in tagged)


def _name_relative(text: str, relative: re.Match[str], speaker: str) -> Subject:
    kin, end = relative["kin"] or relative["short"] or relative["bare"], relative.end()
    owner = format_relative(kin, speaker)
    word = find_name(text[end : end + 6])
    if word and word[0] in FAMILY_NAMES and len(text) > end + len(word):
        return Subject("person", word, owner + word, 0, end + len(word))
    if named := _NAMED_FAMILIARLY.match(text, end) or _LATIN_NAME.match(text, end):
        return Subject("person", named[0], owner + named[0], 0, named.end())
    return Subject("person", owner, owner, 0, end)


# What the tagger takes for nouns, and is done all the same: "住校半年了".
_DONE_WORDS = split_words(
    "领养 收养 住校 住院 回家 回国 回老家 跳槽 戒烟 戒酒 骨折 上学 开店 跑步 同居 创业 买房 读研 "
    "坐月子 断奶 化疗 输液 吃素 出院 降薪 裁员 异地 手术 "
)


# And with another verb behind them: "毕业去青岛上班".
_DONE_FIRST = split_words("""
    毕业 回家 回国 回老家 出院 退休 住院 跳槽 创业 辞职 离职 下班 放学 放假 吃素 住校 同居 读研
""")


def _is_nominal(words: tuple[TaggedWord, ...], place: int) -> bool:
    """Whether a word is of a noun phrase: by its tag, and by the word after it."""
    word, tag = words[place]
    after, kind = words[place + 1] if place + 1 < len(words) else ("", "")
    done = after in ("了", "过", "着") and (len(word) == 1 or tag == "vn" or word in _DONE_WORDS)
    done = done or (word in _DONE_WORDS and kind.startswith(("m", "t", "x")))
    done = done or (word in _DONE_FIRST and (after == "了" or kind in ("v", "p", "")))
    if word[0] in "姓叫" or done or word == "有点":
        return False
    if after == "的":
        return tag.startswith((*_NOUN_TAGS, "t", "a")) or (tag == "v" and place > 0)
    if tag in ("zg", "nz") and len(word) == 1:  # of no known kind: verbs take objects
        return not kind.startswith(("n", "ul", "m", "q", "r", "s", "j"))
    described = tag == "a" and len(word) == 1 and kind.startswith("n")
    return described or tag.startswith(_NOUN_TAGS)


def _find_thing(text: str, words: tuple[TaggedWord, ...], speaker: str) -> Subject:
    """A noun phrase before a verb: the speaker's thing, unless it is a place or nobody."""
    size, named_yet = 0, False
    tagged = ("", "")
    for place, (word, tag) in enumerate(words):
        counted = tag in _COUNT_TAGS and not named_yet
        pointing = tag == "r" and (word[0] in "这那其" or not size)
        if not (_is_nominal(words, place) or counted or pointing):
            break
        size += len(word)
        named_yet = named_yet or tag.startswith(("n", "eng", "j", "vn"))
        named_yet = named_yet or tag == "zg" or (tag == "b" and len(word) > 1)
        tagged = (word, tag)
    phrase = text[:size]
    named = re.sub(r"^(?:我|俺|咱)们?家?的?", "", phrase)
    bare = _POINTING.sub("", named)
    if not named_yet or not re.search(r"[^\d\W零一二两三四五六七八九十百千万多几个半岁号]", bare):
        return Subject("nothing") if not _POINTING.match(phrase) else Subject("other")
    if _ONESELF.match(text):
        return Subject("nothing")
    if _NOBODY.match(bare):
        return Subject("other")
    predicate = text[size:]
    if bare.endswith("的") and (not predicate or predicate.startswith("是")):
        return Subject("nothing")  # "学的是材料", "学化工的": who studies it was said before
    if phrase != named or size < len(text):
        place = tagged[1].startswith(_PLACE_TAGS) or bool(_PLACE_WORDS.search(phrase))
        works_there = bool(_WORKPLACE.search(phrase) and _WORKING.match(predicate))
        town = tagged[1] == "ns" and not re.match(r"[不没]", predicate)
        if place or works_there or town or re.match(r"[\d一二两三四五六七八九十半几每]", bare):
            return Subject("nothing")
    if (named != bare and _JUDGED.match(predicate)) or _ENOUGH.fullmatch(predicate):
        return Subject("other")
    called = f"{speaker}的{bare}"
    if _OF_FAMILY.match(phrase) and not _BELONGING.search(bare):
        return Subject("person", called, called, 0, size)
    return Subject("thing", speaker, called, 0, size)


def is_kin(owner: str) -> bool:
    """Whether a person goes by what they are to somebody, as family: "陈静的妈妈"."""
    return re.search(rf"的(?:{KIN})$", owner) is not None


def has_role(owner: str) -> bool:
    """Whether a person goes by what they do for somebody: "陈静的医生", "范老师"."""
    return re.search(rf"的(?:{ROLES})$|^{_TITLED_NAME}$", owner) is not None
