"""Whose relative or pet a question is about, and what speaks of that one: "where does her sister
live". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memoryhub.engines.local.wordlists import split_words

# Words for one and the same relative, or for several of which it may be one.
KIN_WORDS = tuple(
    split_words(words)
    for words in (
        "mother mom mum mam mama amma mummy mommy stepmother stepmum parent parents folks",
        "father dad daddy papa pop stepfather stepdad parent parents folks",
        "wife missus spouse partner husband hubby",
        "boyfriend girlfriend bf gf partner fiance fiancee fiancé fiancée",
        "son boy kid kids child children baby toddler little",
        "daughter girl kid kids child children baby toddler little",
        "brother brothers bro sibling siblings twin",
        "sister sisters sis sibling siblings twin",
        "grandmother grandma granny nan nana gran grandparents dadi nani abuela nonna oma",
        "grandfather grandpa grandad granddad grandparents",
        "aunt auntie",
        "uncle",
        "cousin",
        "niece",
        "nephew",
        "dog dogs puppy pup pet",
        "cat cats kitten pet",
    )
)
# Each by the words for one relative, whatever he or she is called by in a region or a letter.
_KIN_CHINESE = (
    "妈|母亲|姆妈|娘|爸妈|父母|家母|家慈|先母|双亲",
    "爸|父亲|爹|爸妈|父母|家父|家严|先父|(?<![个位])老汉儿?|老豆|双亲",
    "老婆|妻子|媳妇|太太|爱人|老伴|那口子|婆娘|堂客|内子|内人|拙荆|贱内",
    "老公|丈夫|先生|爱人|老伴|那口子|老头子|外子",
    "儿子|小子|孩子|娃|宝宝|宝贝|犬子|小儿(?![科麻子])|个仔(?!细)",
    "女儿|闺女|丫头|孩子|娃|宝宝|宝贝|小女(?![孩生人友])|个女(?![孩生人友同])",
    "男朋友|男友|对象|男票",
    "女朋友|女友|对象|女票",
    "哥(?!们)|家兄",
    "姐(?!夫)|家姐",
    "弟(?![妹媳])|舍弟",
    "妹(?!夫)|舍妹|细妹",
    "狗|犬(?!子)",
    "猫",
    "儿媳",
    "女婿",
    "孙子",
    "孙女",
    "爷爷|外公|姥爷",
    "奶奶|外婆|姥姥",
    "外孙(?!女)",
    "外孙女",
    "外甥(?!女)",
    "外甥女",
    "侄子|侄儿",
    "侄女",
    "表哥",
    "表姐",
    "表弟",
    "表妹",
    "堂哥",
    "堂姐",
    "堂弟",
    "堂妹",
    "岳母|丈母娘?|老丈母娘?",
    "岳父|老?丈人",
    "婆婆",
    "公公",
    "嫂",
    "[姐妹]夫",
    "弟媳|弟妹",
    "姨",
    "姑",
    "舅",
    "叔",
    "伯",
)
# Of several: 大闺女 is not 二闺女. And what makes another of a relative: 姨妈 is no 妈.
_ORDER = "大二三四小老幺"
_ANY_KIN_CHINESE = "|".join(
    sorted("|".join(_KIN_CHINESE).split("|"), key=lambda word: (-len(word), word))
)
_OF_ANOTHER = "(?<![姨姑舅婶岳丈板表堂外伯儿])"
_KIN_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        *(rf"\b(?:{'|'.join(sorted(words))})(?:['’]?s)?\b" for words in KIN_WORDS),
        *(f"{_OF_ANOTHER}(?:{group})" for group in _KIN_CHINESE),
    )
)
_ASKED_KIN = "|".join(
    sorted({word for words in KIN_WORDS for word in words}, key=len, reverse=True)
)
_OWNED = re.compile(
    r"\b(?:my|his|her|their|our|the user['’]s|[a-z]\w*['’]s) (?:(?:older|younger|big|little|eldest|"
    rf"oldest|youngest|twin|best|late|ex|step) )?(?P<kin>{_ASKED_KIN})(?:['’]?s)?\b",
    re.I,
)
_THEIR_KIN_CHINESE = re.compile(rf"(?:那边|家)?的(?:{_ANY_KIN_CHINESE})")
_THEIRS_CHINESE = f"(?!.?{_THEIR_KIN_CHINESE.pattern})"
_OWNED_CHINESE = re.compile(
    r"(?:[我俺咱他她](?:的|家里?的?|屋头|屋里)?|的|有(?:没有)?|^\W*(?:现在|如今|目前|以前)?)"
    rf"(?:(?P<order>[{_ORDER}])|[亲前])?"
    rf"(?P<kin>{_ANY_KIN_CHINESE})"
    r"(?!的?(?:老师|朋友|公司|同学))"
)
_NAME = r"[A-Z][\w-]+"
_THIRD_PERSON = re.compile(
    r"\b(?:he|she|him|her|his|hers|it|its|they|them|their)\b|[他她它](?!们)", re.I
)


_OPENING = (
    r"^[\W_]*(?:(?:and|so|but|btw|ok|okay|oh|hey|well|also|anyway|today|apparently|guess what"
    r"|finally|then)\b\W*)*"
)
_OPENS_WITH_KIN = re.compile(
    rf"{_OPENING}(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{_ASKED_KIN}|friend|mate|flatmate|roommate|boss"
    r"|manager|colleague|coworker|neighbou?r|landlord|landlady|teacher|coach|dentist|doctor)"
    r"(?:['’]s)?(?! and (?:i|me)\b)\b",
    re.I,
)
_OPENS_WITH_KIN_CHINESE = re.compile(
    rf"^\W*(?:我们?家?的?)?(?:[{_ORDER}]?(?:{_ANY_KIN_CHINESE})|室友|舍友|同事|朋友|邻居|房东|老板|领导)"
    r"(?![和跟与]我)"
)
_CLAUSE_ZH = re.compile(r"[^，,；;]+")
_SPEAKER = re.compile(
    r"\b(?:i|i['’]\w+|im|ive|we|we['’]\w+)\b|我(?!们?(?:家|的|[妈爸哥姐弟妹老爷奶]))", re.I
)


_COUNTED = re.compile(
    r"\bhow many (?P<kin>kids|children|sons|daughters|siblings|brothers|sisters)\b", re.I
)
_COUNTED_KIN = {
    "kids": "kids? child children sons? daughters? boys? girls? twins triplets babies baby",
    "siblings": "siblings? brothers? sisters? twin bros? sis",
}
_COUNTED_KIN["children"] = _COUNTED_KIN["kids"]


def find_counted_kin(question: str) -> re.Pattern[str] | None:
    """What speaks of the relatives whose number is asked for: "how many kids do I have"."""
    asked = _COUNTED.search(question)
    if asked is None:
        return None
    kin = asked["kin"].lower()
    words = _COUNTED_KIN.get(kin, f"{kin}?").split()
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)


# Whom somebody is together with.
_PARTNERS = re.compile(
    r"\b(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]e?|gf|bf|hubby)\b", re.I
)
_ASKS_TIE = re.compile(
    r"^\W*(?:am i|are we|is he|is she|do i have an?|is [\w'’-]+)\b.{0,20}?"
    r"\b(?:single|married|divorced|engaged|widowed|separated|in a relationship"
    r"|seeing (?:some|any)(?:one|body)|dating|girlfriend|boyfriend|wife|husband|partner)\b\W*$",
    re.I,
)
_TIE_WORDS = re.compile(
    rf"{_PARTNERS.pattern}|\b(?:single|marri\w+|divorc\w+|engaged|propos\w+|wedding|widow\w*"
    r"|separat\w+|broke up|break[- ]?up|split up|splitting|dumped|seeing some\w+|dating|dated"
    r"|together"
    r"|a break|lives? alone|living alone|ex)\b",
    re.I,
)


def find_tie_words(question: str) -> re.Pattern[str] | None:
    """What speaks of whom somebody is together with, where that is asked: "am I single"."""
    return _TIE_WORDS if _ASKS_TIE.match(question) else None


def find_listed_kin(question: str) -> re.Pattern[str] | None:
    """The relatives who are named one by one for an answer: those counted, or whom somebody is
    together with."""
    return find_counted_kin(question) or (_PARTNERS if find_tie_words(question) else None)


def list_kin(text: str) -> frozenset[int]:
    """Which relatives and pets a text names, each by the number of the words for it."""
    return frozenset(n for n, pattern in enumerate(_KIN_PATTERNS) if pattern.search(text))


def tells_of_another(text: str, names: Iterable[str]) -> bool:
    """Whether a message opens with somebody else, one of these `names` or a relative, and says
    nothing of its speaker."""
    opening = _OPENS_WITH_KIN.match(text) or _OPENS_WITH_KIN_CHINESE.match(text)
    if opening is None:
        called = "|".join(re.escape(name) for name in names if name)
        opening = (
            re.match(rf"{_OPENING}(?i:{called})(?:['’]s)?(?! and (?:i|me)\b)(?![A-Za-z])", text)
            if called
            else None
        )
    return opening is not None and not _SPEAKER.search(text, opening.end())


_ASKS_HAVING_ZH = re.compile(
    rf"(?:有没有|有)(?:个|几个)?[大小]?(?P<kin>{_ANY_KIN_CHINESE})(?:[吗么没嘛]|没有|了吗)?\W*$"
)


def find_kin_asked_for(question: str) -> re.Pattern[str] | None:
    """What speaks of the relative whom somebody may have or not: 我有女儿吗."""
    asked = _ASKS_HAVING_ZH.search(question)
    if asked is None:
        return None
    return re.compile("|".join(_list_groups(asked["kin"])))


def _list_groups(kin: str) -> list[str]:
    """The words for each Chinese relative that may be called so."""
    return [group for group in _KIN_CHINESE if re.fullmatch(group, kin)]


def are_one_relative(one: str, other: str) -> bool:
    """Whether two Chinese words are for one and the same to somebody: 女朋友 and 对象."""
    return any(re.fullmatch(group, other) for group in _list_groups(one))


def speaks_of_third_person(text: str) -> bool:
    """Whether somebody is called he, she or it in it, who may be anybody."""
    return bool(_THIRD_PERSON.search(text))


class AskedRelative(NamedTuple):
    """What a question's relative may be called in a memory; `names` are proper ones."""

    words: re.Pattern[str]
    names: frozenset[str]

    def is_called(self, owner: str) -> bool:
        """Whether it is whom claims of this owner are about: "Ana's mum", or Rita by her name."""
        return owner in self.names or bool(self.words.search(owner))

    def may_be_spoken_of(self, text: str) -> bool:
        """By a word for a relative, by a name, or as he, she or it."""
        return speaks_of_third_person(text) or self.is_spoken_of(text)

    def is_spoken_of(self, text: str) -> bool:
        """By a word for a relative, or by a name."""
        return bool(self.words.search(text)) or any(name in text for name in self.names)

    def is_another(self, text: str) -> bool:
        """Whether it speaks of another relative, and not of this one: of Mum, where Dad is asked
        about."""
        told = _OWNED.search(text) or _OWNED_CHINESE.search(text)
        return told is not None and not self.is_spoken_of(text)

    def narrow(self, text: str) -> tuple[int, int]:
        """The characters of a Chinese sentence that go on about this one: of 大闺女在沈阳，
        二闺女开饭馆 one clause each. All of them where no clause opens with another."""
        start, theirs, told = 0, True, False
        for clause in _CLAUSE_ZH.finditer(text):
            opening = _OPENS_WITH_KIN_CHINESE.match(clause[0])
            if self.is_spoken_of(opening[0] if opening else clause[0]):
                start, theirs, told = start if theirs else clause.start(), True, True
            elif opening and told:
                return start, clause.start() - 1
            elif opening:
                theirs = False
        return start, len(text)


def find_asked_relative(question: str, told: Iterable[str]) -> AskedRelative | None:
    """The one relative or pet of somebody that a question is about, with the names that `told` says
    it has; None for nobody's, or for several."""
    if found := list(_OWNED.finditer(question)):
        kin = {match["kin"].lower() for match in found}
        if len(kin) > 1:
            return None
        known = frozenset[str]().union(*(group for group in KIN_WORDS if kin & group), kin)
        called = "|".join(sorted(known, key=len, reverse=True))
        words = re.compile(rf"\b(?:{called})(?:['’]?s)?\b", re.I)
        naming = re.compile(
            rf"\b(?i:{called}),? (?:(?:is|was|now|called|named|is called) )*(?P<after>{_NAME})"
            rf"|(?P<before>{_NAME})(?:,| is| was)? (?:my|his|her|their|our|{_NAME}['’]s?)"
            rf" (?:\w+ )?(?i:{called})\b"
        )
    elif match := _OWNED_CHINESE.search(question):
        called = "|".join(_list_groups(match["kin"]))
        others = _ORDER.replace(match["order"], "") if match["order"] else ""
        before = _OF_ANOTHER + (f"(?<![{others}])" if others else "")
        # 小的那个 is 小女儿 as well.
        alone = rf"|(?<![很最更太多])(?:{match['order']}的|老{match['order']})" if others else ""
        # 我妹的儿子 is no 妹, unless it is he who is asked about.
        behind = "" if _THEIR_KIN_CHINESE.match(question, match.end()) else _THEIRS_CHINESE
        words = re.compile(rf"{before}(?:{called}){behind}{alone}")
        told = list(told)
        # Who asks whether they have one at all may have none.
        if match[0].startswith("有") and not any(words.search(text) for text in told):
            return None
        naming = re.compile(
            rf"(?:{called})(?:叫|名叫|名字叫|名字是)(?P<after>\w{{1,4}}?)(?=[，。,.了的]|$)"
            rf"|(?P<before>[A-Za-z]{{2,12}}|\w{{1,4}}?)是\w{{1,6}}?的?(?:{called})"
        )
    else:
        return None
    names = {each["after"] or each["before"] for text in told for each in naming.finditer(text)}
    return AskedRelative(words, frozenset(names))
