"""Who somebody is and what they are called, as facts say it: "Rita is Ana's sister", "Ana's dog is
called Rex"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memoryhub.engines.local.answers.asked import AskedIdentity, AskedTense
from memoryhub.engines.local.answers.evidence import QuestionTerms, mentions_name
from memoryhub.engines.local.answers.phrases import Phrase
from memoryhub.engines.local.answers.quoting import NOTHING_FOUND, USED_TO, join_parts
from memoryhub.engines.local.answers.relatives import KIN_WORDS, are_one_relative
from memoryhub.engines.local.answers.tenses import LONG_AGO, NAME_INSIDE
from memoryhub.engines.local.attribution.own_names import find_introduced_name
from memoryhub.engines.local.language import LanguageCode
from memoryhub.engines.local.wordlists import ANIMALS, split_words
from memoryhub.engines.types import GroundedAnswer, Quote

# "Do I have a cat", "has Ana got any fish": an animal of one kind.
_ASKS_ANIMAL = re.compile(
    r"\b(?:have|own|has|got)(?: got)? (?:an?|any|another) (?:\w+ )?"
    rf"(?P<animal>{'|'.join(sorted(ANIMALS - {'pet'}))})s?\W*$"
    r"|(?:有没有|有|养了?|养没养)(?:一?[只条])?(?P<zh>[狗猫鱼鸟马]|兔子|仓鼠|鹦鹉|乌龟)[吗么没]?[?？]?\s*$",
    re.I,
)
# "Rita is Ana's sister.", "Ana's dog is called Rex.", 周然是林晓雨的同学, 林晓雨的猫叫汤圆.
_TOLD_IDENTITY = re.compile(
    r"(?P<name>[^\W\d][\w.'’ -]{0,60}?)(?: (?:is|was) |是)(?P<whose>[\w.'’ -]{1,60}?)(?:['’]s? |的)"
    r"(?P<role>[\w-]+(?: [\w-]+){0,3})(?:[.。]?$|[,，])"
    r"|(?P<whose_2>[\w.'’ -]{1,60}?)(?:['’]s? |的)(?P<role_2>[\w-]+?(?: [\w-]+){0,3}?)"
    r"(?: (?:is|was) (?:now )?(?:called|named) |['’]s? name (?:is|was) |叫)"
    r"(?P<name_2>[\w.'’ -]{1,60}?)"
    r"(?: now)?(?:[.。]?$|[,，])"
    r"|(?P<whose_3>[\w.'’ -]{1,60}?)['’]s? (?P<role_3>[\w-]+(?: [\w-]+){0,3}?)"
    r" (?:is|was) (?:now )?(?P<name_3>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3})(?: now)?(?:[.]?$|,)"
)
_SUBJECT = re.compile(r"the user$|用户$", re.I)
_DAYS_AND_MONTHS = split_words("""
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
    July August September October November December
""")
_SENTENCE_END = re.compile(r"[.!?]\s")
# Of these somebody has one after the other.
_ONE_AT_A_TIME = split_words("""
    boss manager supervisor landlord landlady doctor dentist gp coach teacher flatmate roommate
    housemate girlfriend boyfriend partner wife husband therapist tutor
    男朋友 女朋友 男友 女友 对象 室友 舍友 同桌 房东 领导 老板 上司 主管 经理 教练 班主任 校长 导师
""")
# Words for what is one and the same to somebody.
_ALIKE_ROLES = tuple(
    map(
        split_words,
        (
            "boss manager supervisor",
            "flatmate roommate housemate",
            "landlord landlady",
            "doctor gp",
            "colleague coworker",
        ),
    )
)
# What a dog or a cat is called by whom it belongs to.
_BREEDS = {
    "dog": split_words("""
        puppy pup corgi labrador lab poodle collie beagle terrier spaniel retriever shepherd husky
        dachshund bulldog pug greyhound whippet boxer rottweiler dalmatian lurcher cockapoo hound
    """),
    "cat": split_words("kitten tabby siamese persian ragdoll shorthair sphynx tomcat"),
    "狗": split_words("""
        柯基 金毛 拉布拉多 泰迪 贵宾 哈士奇 边牧 柴犬 萨摩耶 阿拉斯加 博美 法斗 雪纳瑞 比熊 吉娃娃
        小狗 狗狗
    """),
    "猫": split_words("布偶 英短 美短 橘猫 狸花 暹罗 加菲 缅因 蓝猫 小猫 猫咪"),
}
# By what else it is told that somebody is one.
_TOLD_AS = (
    (
        split_words("girlfriend boyfriend partner gf bf"),
        r"(?:dating|going out with|seeing (?:some(?:one|body)|this|a) )",
    ),
    (split_words("husband wife spouse"), r"married"),
    (
        split_words("roommate flatmate housemate"),
        r"(?:shar(?:e|es|ing) .{0,30}\bwith|(?:liv(?:e|es|ing)|mov(?:e|es|ed|ing) in) with)",
    ),
)


def answer_with_identity(
    wanted: AskedIdentity,
    owners: Sequence[str],
    subject: str,
    quotes: Sequence[Quote],
    language: LanguageCode,
    tense: AskedTense,
) -> GroundedAnswer | None:
    """Who somebody is, as facts say it that hold (or held, where the `tense` is former), or the
    name of a relative of one of `owners`; where only somebody else's is known, nothing is. None: no
    fact says such a thing."""
    others, former = False, wanted.role in _ONE_AT_A_TIME and tense == "former"
    once: GroundedAnswer | None = None
    # The boss one was told of last is the boss.
    latest = sorted(enumerate(quotes), key=lambda each: each[1].said_at or LONG_AGO, reverse=True)
    for at, quote in latest if wanted.role in _ONE_AT_A_TIME else enumerate(quotes):
        over = quote.until is not None or quote.tells_end
        told = None if quote.speaker or over < former else _TOLD_IDENTITY.match(quote.text)
        if told is None:
            continue
        name, whose, role = (
            told[part] or told[f"{part}_2"] or told[f"{part}_3"]
            for part in ("name", "whose", "role")
        )
        if wanted.name and mentions_name(name, wanted.name):
            whole = Phrase(at, 0, len(quote.text), quote.text, 0.0)
            lead = USED_TO[language] if over else ""
            found = join_parts([(f"{lead}“{quote.text}”", whole)], "")
            if not over:
                return found
            once = once or found
        if not wanted.role or over != former or not _is_role(role.casefold(), wanted.role):
            continue
        theirs = any(is_owner(whose, each, subject) for each in owners)
        others = bool(owners) and not theirs
        if not others:
            start = quote.text.index(name)
            return join_parts([(name, Phrase(at, start, start + len(name), name, 0.0))], "")
    nothing = GroundedAnswer(NOTHING_FOUND[language], quoted=True) if others else None
    return once or nothing


def list_relatives(
    asked: QuestionTerms, kin: re.Pattern[str], quotes: Sequence[Quote]
) -> GroundedAnswer | None:
    """Who somebody's relatives are, one by one: nobody need say how many they are."""
    owners = asked.people or (asked.subject,)
    parts = list[tuple[str, Phrase]]()
    for at, quote in enumerate(quotes):
        told = None if quote.speaker or quote.until else _TOLD_IDENTITY.match(quote.text)
        if told is None or not kin.search(told["role"] or told["role_2"] or told["role_3"]):
            continue
        whose = told["whose"] or told["whose_2"] or told["whose_3"]
        if any(is_owner(whose, each, asked.subject) for each in owners):
            parts.append((f"“{quote.text}”", Phrase(at, 0, len(quote.text), quote.text, 0.0)))
    return join_parts(parts, " ") if parts else None


def is_owner(whose: str, owner: str, subject: str) -> bool:
    """Facts that were read before the subject's name was known call them the user."""
    return mentions_name(whose, owner) or (owner == subject and bool(_SUBJECT.match(whose)))


def _is_role(told: str, asked: str) -> bool:
    """Whether one's best friend is one's friend, a manager a boss, a white cat (小白猫) a cat."""
    role = told.split()[-1]
    alike = any(role in words and asked in words for words in (*_ALIKE_ROLES, *KIN_WORDS))
    alike = alike or role in _BREEDS.get(asked, ()) or are_one_relative(role, asked)
    return alike or role == asked or (not asked.isascii() and told.endswith(asked))


def find_asked_animal(question: str) -> str:
    """The kind of animal that is asked for, or nothing: "do I have a cat", 我有猫吗."""
    found = _ASKS_ANIMAL.search(question)
    return (found["animal"] or found["zh"]).casefold() if found else ""


def tells_of_animal(text: str, animal: str) -> bool:
    """Whether it speaks of such an animal, by whatever breed: of a parrot where one is asked for a
    cat nothing is said."""
    if not animal.isascii():
        return any(word in text for word in (animal, *_BREEDS.get(animal, ())))
    tame = re.sub(r"\bbig cats?\b", "", text.casefold())
    words = {word.removesuffix("s") for word in re.findall(r"[a-z]+", tame)}
    return animal in words or bool(words & _BREEDS.get(animal, frozenset()))


def names_relative(text: str, role: str, question: str, names: Collection[str]) -> bool:
    """Whether a sentence of it speaks of the one who is that to somebody, of the same person as the
    question does, and has a name besides: without one, it is no answer to what somebody is
    called. `names`: of whom else something is known, however they are written."""
    also = next((told for roles, told in _TOLD_AS if role in roles), "")
    relative = re.compile(rf"\b(?:{'|'.join(filter(None, [re.escape(role), also]))})", re.I)
    owner = re.search(rf"\b([A-Z]\w+?)(?:['’]s?|s) (?:\w+ )?{re.escape(role)}", question)
    said = [s for s in _SENTENCE_END.split(text) if relative.search(s)]
    theirs = [s for s in said if owner is None or mentions_name(s, owner[1])]
    return any(names_anybody(said, names) for said in theirs)


def names_anybody(text: str, names: Collection[str]) -> bool:
    named = set(NAME_INSIDE.findall(text)) - _DAYS_AND_MONTHS
    return bool(named) or any(mentions_name(text, name) for name in names)


def quote_introduction(quotes: Sequence[Quote]) -> GroundedAnswer | None:
    """The words in which somebody last said what they are called; None where nobody did."""
    said = [(q.said_at or LONG_AGO, at) for at, q in enumerate(quotes) if not q.owner]
    for _, at in sorted(said, reverse=True):
        if name := find_introduced_name(quotes[at].text):
            start = quotes[at].text.casefold().index(name.casefold())
            phrase = Phrase(at, start, start + len(name), name, 0.0)
            return join_parts([(name, phrase)], "")
    return None
