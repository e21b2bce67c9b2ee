"""What a question asks for, by its words: about whom, as of when, and what kind of value. Pure.

Searching and answering read a question the same way by it.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memoryhub.engines.local.chinese.traditional import fold_traditional
from memoryhub.engines.local.dates.calendar import MONTHS
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE

# "now": what holds; "former": what held before; "": what happened, or nothing that ends.
AskedTense = Literal["now", "former", ""]
# What the answer has to have: a number, a time, a number to call, an address of mail, who somebody
# is; "": words.
ValueKind = Literal["amount", "time", "phone", "mail", "identity", ""]

# What one has after the other: of these the last one is the one before.
_THINGS_HAD = (
    r"job|home|house|flat|apartment|place|address|car|bike|phone|laptop|number|boss|manager|school"
    r"|gym|bank|doctor|dentist|landlord|employer|company|team|wife|husband|partner|boyfriend"
    r"|girlfriend|salary|rent|price|plan|deadline|password|e-?mail|course|teacher|coach|shift"
)
_FIRST_OR_LAST = "first|last|earlier"
_WHOSE = r"(?:m[ye]|his|her|their|our|the|['’]s)"
_FORMER_ENGLISH = (
    r"used to|previous(?:ly)?|former(?:ly)?|originally|back then|back when|no longer|ex"
    r"|before(?=\W*$|\W+(?:that|then|this|now)\b"
    r"|\W+(?:the|my|his|her|i|he|she|they)(?: [\w'’-]+){1,3}\W*$)"
    rf"|{_WHOSE} (?:{_FIRST_OR_LAST})(?= (?:{_THINGS_HAD})\b)"
    rf"|{_WHOSE} old(?! (?:friends?|people|man|woman|folks|age)\b)"
    rf"|(?:old|{_FIRST_OR_LAST}) (?:{_THINGS_HAD})"
)
# With a verb in the past before it: "what was I paying when we first spoke", "where did I live
# before Leeds".
_FORMER_AFTER_PAST = (
    rf"before|years ago|{_WHOSE} (?:very )?first|started|start(?:ed)? (?:on|with|at|out|as)"
    r"|(?:at|in|from|to) (?:the )?(?:very )?(?:first|start|begin(?:ning)?|outset)"
    r"|when (?:[\w'’]+ ){1,3}(?:first|still|was|were|started|began|lived|worked)"
)
_FORMER_CHINESE = (
    r"以前|原来|原先|原本|从前|曾经|当初|那会|早先|旧的|老的|最[早先初开]|一开始|刚(?:开始|来)|第一次[跟和最]|头一年"
    r"|(?:的|那|小|年轻)时候|那(?:时|阵子|段)|(?<!\d)当年|(?<!怎么)(?<!咋)过去(?!怎么|要|得)"
    r"|前(?=夫|妻|任|东家|公司|单位|[一两]个|[男女]朋?友|室友|舍友|房东|领导|老板|上司|教练)|(?<=[老旧])(?:店|摊|搭档|公司|单位|房子|车)"
    r"|上一?(?=[个任份家辆台部])(?!.?(?:月|周|年|星期|礼拜|季|学期))|之前(?!.{0,4}[要得先吃喝])"
    # 换车前, 退休前, 去南湖前
    r"|(?:[换涨降搬停跳离结辞转调生来去]|怀孕|开店|退休|毕业|出国)[^\s前目]{0,6}前(?![天面台后])"
)
_FORMER = re.compile(
    rf"\b(?:{_FORMER_ENGLISH}|(?<!when )(?:was|were|did|had|worked|lived)\b.* "
    rf"(?:{_FORMER_AFTER_PAST}))\b"
    rf"|{_FORMER_CHINESE}",
    re.I,
)
_PAST_TENSE = re.compile(
    r"\b(?:did|was|were|had|when|since|ago|happened)\b|什么时候|哪[年天]|过[吗没]", re.I
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|old|long|often|far|tall|big|heavy|fast)\b"
    r"|\bwhat (?:time|percent\w*|size)\b"
    r"|\b(?:number|digits|phone|age|price|cost|salary|rent|budget|weight|weigh\w*|height|dose|pin)\b"
    r"|多少|多大|多高|多重|多久|多长|几(?!乎)|号码|电话|手机号|年龄|价格|房租|工资|体重|身高|剂量",
    re.I,
)
_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|night)s?\b|\bhow long ago\b|\bdeadline\b"
    r"|什么时候|何时|哪[一个]?[年月日天]|几[月号点]|星期几|周几|礼拜几|生日",
    re.I,
)
_MAIL = re.compile(r"\be-?mail\b|邮箱|电邮", re.I)
_PHONE = re.compile(
    r"\b(?:phone|mobile|cell|landline|telephone) (?:number|no)\b|\bnumber (?:to|can) (?:i )?call\b"
    r"|\b(?:phone |telephone )?extension\b|电话|手机号|联系方式",
    re.I,
)
_HAS_PHONE = re.compile(r"\d(?:[ ().+-]{0,2}\d){2}")
_HAS_TIME = re.compile(
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?|tue|wed|thu|today|tonight|tomorrow"
    r"|yesterday|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|noon|midnight|spring|summer|autumn"
    r"|winter|christmas|easter|next|last|weekends?|mornings?|evenings?|nights?)\b"
    r"|[年月号日点周]|星期|礼拜|今天|明天|昨天|后天|春天|夏天|秋天|冬天|早上|晚上",
    re.I,
)
_HAS_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|once|twice"
    r"|couple)\b|[二两三四五六七八九十百千万半]|一(?=[个次块天月年岁百千万])",
    re.I,
)
_HAS_MAIL = re.compile(r"\S@\S")
_ASKS_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would)\b|[吗嘛][?？]?\s*$",
    re.I,
)
# A pet that died had a name all the same.
_PET_NAMED_ZH = re.compile(r"[狗猫兔鸟龟](?:狗|猫|咪|子)?(?:的?名字)?(?:叫|是)(?:什么|啥)")
_STILL_ZH = re.compile(r"还(?!是|款|钱|债|清|没).{1,12}[吗么嘛]\W*$")
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]\w+|im|ive|me|myself|my|mine|our|ours)\b|\bwe (?:have|own|drive|live|use|keep)\b"
    r"|[我俺咱](?!们)",
    re.I,
)
# Chinese leaves out who asks: 以前干什么的, 现在住哪.
_UNSAID_ZH = re.compile(
    r"^\W*(?:现在|目前|如今|以前|之前|原来|原先|从前|今年|平时|最近|到底|究竟|都|还)*"
    r"(?:住|在哪|[干做]|多大|几岁|结婚|上班|从事)(?![^，。？?]*[你他她它])"
)
# Who is meant where nobody is named: most likely whom the space is about.
_THIRD_PERSON = re.compile(
    r"\b(?:he|she|him|her|his|hers|the (?:user|customer|client|person))\b|[他她](?!们)|用户|客户",
    re.I,
)
_OWNED = re.compile(r"\b(?:my|our|his|her|their|the user['’]s)((?: [\w'’-]+){1,3})", re.I)
_POSSESSIVE = re.compile(r"['’]?s\b")
_CHINESE_RELATIVE_OF = re.compile(
    r"(?:[我俺咱他她你](?:的|们|家)?|^)(?:[大小二老]?(?:妈|爸|父|母|哥|姐|弟|妹|爷|奶|姥|外婆|外公|儿子|女儿|闺女"
    r"|孩子|老婆|老公|媳妇|爱人|丈夫|妻子|老伴|男朋友|女朋友|男友|女友|对象|舅|姨|姑|叔|伯|嫂|孙"
    r"|外孙|老板|领导|同事|朋友|室友|房东|老师|狗|猫))"
)


_ROLE_WORDS = "|".join(sorted(PEOPLE | ANIMALS, key=lambda word: (-len(word), word)))
# "Who was my flatmate before Petra".
_BEFORE_WHOM = r" before(?: [\w'’.-]+){1,2}"
_WHO_IS = re.compile(
    r"^\W*(?:(?:so|and|hey|ok|okay|remind me|again),? )*who(?: is|['’]?s| was) "
    r"(?P<who>[\w'’.-]+(?: [\w'’.-]+){0,3}?)"
    rf"(?:{_BEFORE_WHOM})?(?: again)?\W*$"
    r"|^\W*(?:谁是(?P<who_zh>[\w]{2,8})|(?P<zh_who>[\w]{2,8}?)(?:到底|究竟)?是谁(?:啊|呀|来着)?)\W*$",
    re.I,
)
_CALLED = re.compile(
    rf"\b(?P<role>{_ROLE_WORDS})(?:['’]?s)? (?:full )?(?:name|called|named)\b"
    rf"|\b(?:name of|names?) (?:my|his|her|their|our|the) (?P<of>{_ROLE_WORDS})\b"
    r"|[我他她](?:的|家的?)?(?P<zh>\w{1,4}?)(?:叫(?:做|什么|啥)|(?:的?名字)(?:是|叫)?(?:什么|啥))",
    re.I,
)
# Whatever is somebody's own is what they are to that person: "my midwife", "anas boss".
_OWNED_ROLE = re.compile(
    r"^(?:my|his|her|their|our)(?: \w+)?? (?P<own>[\w-]+)$"
    rf"|['’]?s (?:\w+ )?(?P<role>{_ROLE_WORDS})$",
    re.I,
)
_OWN_ROLE_ZH = re.compile(r"[我俺咱他她](?:们)?(?:家)?的?(?:现在的?|新的?)?(?P<role>\w{1,6})$")
# Who was that before: a 前夫 is called so now.
_FORMER_ROLE_ZH = re.compile(
    r"^(?:前|(?:以前|之前|原来|原先)的?|上一?[个任]的?)(?=[男女]朋?友|室友|舍友|房东|领导|老板|上司|主管|经理|教练|班主任|校长|导师)"
)
# Of whom it is asked what they do, and not who they were: 我前男友做什么的.
_OF_FORMER_ROLE_ZH = re.compile(
    r"前(?:[夫妻任]|[男女]朋?友|室友|舍友|房东|领导|老板|上司|教练)(?!的?名字|叫|是谁|是哪|\W*$)"
)
_AT_PRESENT = re.compile(
    r" (?:now|currently|rn|these days|at the moment|right now|nowadays|before|previously"
    r"|originally|back then|at first)$",
    re.I,
)
_NO_NAME = re.compile(
    r"^(?:at|in|on|from|with|to|for|the|a|an|he|she|they|it|that|this|\w+ing)\b|\b\w+ing$",
    re.I,
)
_TELLS_WHO = re.compile(
    rf" (?:is|was) [^.]{{1,60}}['’]s? (?:[\w-]+ ){{0,3}}(?:{_ROLE_WORDS})\b"
    rf"|(?:{_ROLE_WORDS}) (?:is|was) (?:called|named) |的\w{{1,4}}叫|是\w{{1,8}}的\w{{1,4}}",
    re.I,
)


class _Measure(NamedTuple):
    """How a question asks for it, and what tells it: not any number will do."""

    asks: re.Pattern[str]
    tells: re.Pattern[str]


_MEASURES = (
    _Measure(
        re.compile(
            r"\bhow old\b|\b(?:my|his|her|their|['’]?s) age\b|多大(?!的)|几岁|年龄|岁数|年纪", re.I
        ),
        re.compile(
            r"\b(?:is|am|i['’]?m|was|turn(?:s|ed|ing)?|aged?|just|now) (?:now )?\d{1,3}\b"
            r"(?! ?[%£$€:/-])|(?:^|, ?)\d{1,2}(?=,|\.| and\b| now\b| today\b|$)|\byears? old\b"
            r"|\b(?:has|have) \d{1,3} years\b"
            r"|\byrs?\b|\bbirthday\b|\bborn\b|\b(?:\w+teen|\w+ty(?:-\w+)?)\b|\b(?:19|20)\d\d\b"
            r"|[\d一二两三四五六七八九十百半]岁|[\d一二三四五六七八九十]了|个多?月大|\d{2}后|年生|生于|生日",
            re.I,
        ),
    ),
    _Measure(
        re.compile(r"\bhow tall\b|\bheight\b|多高|身高", re.I),
        re.compile(
            r"\d ?(?:cm|m|ft|feet|foot)\b|\d['’]\d|\b[12][.]?\d{2}\b|一米|米\d|[12]\d\d", re.I
        ),
    ),
)


def asks_measure(question: str) -> bool:
    """Whether it measures somebody: "how old am I", 我多高."""
    return any(measure.asks.search(question) for measure in _MEASURES)


def tells_measure(text: str, question: str) -> bool:
    """Whether it has what the question measures somebody by; of one that measures nothing, any."""
    asked = (measure for measure in _MEASURES if measure.asks.search(question))
    return all(measure.tells.search(text) for measure in asked)


_NUMERAL = "[\\d零一二两三四五六七八九十百千万半几]"
# What a Chinese question counts in, and what has that: "一桌多少钱" is told by no date.
_COUNTED_IN_ZH = (
    _Measure(
        re.compile("多少钱|几块|几[百千万](?!个|人)"),
        re.compile(
            rf"{_NUMERAL}(?:多|来)?(?:块|元|毛|美|[百千万kKwW])|[百千万]{_NUMERAL}|免费|白[送给]|不[要花]钱"
            r"|(?<![\d.:月/-])\d{2,}(?![\d:/-]|[月日号点年岁层楼平公分个人桌])"
        ),
    ),
    _Measure(
        re.compile("几年级"),
        re.compile("年级|[初高大研中小][一二三四五六]|幼儿园|[大中小]班|毕业|升[初高小]"),
    ),
    _Measure(re.compile("[几多少]+[片粒颗]"), re.compile(f"{_NUMERAL}(?:多|来)?[片粒颗]")),
    _Measure(re.compile("哪[条个]?[街路巷]"), re.compile("[街路巷道弄里]|胡同")),
)


def counts_in_asked(text: str, question: str) -> bool:
    """Whether it has the unit that a Chinese question counts in; of one that names none, any."""
    asked = (unit for unit in _COUNTED_IN_ZH if unit.asks.search(question))
    return all(unit.tells.search(text) for unit in asked)


class AskedIdentity(NamedTuple):
    """Who somebody of this `name` is, or the name of somebody's `role` ("sister"); else ""."""

    name: str = ""
    role: str = ""


def find_asked_identity(question: str) -> AskedIdentity | None:
    """Whom it wants to have told, or None: "who is Rita", "what's my dog called"."""
    if len(question) > _MOST_CHARACTERS:
        return None
    if called := _CALLED.search(question):
        role = called["role"] or called["of"] or called["zh"]
        return AskedIdentity(role=_FORMER_ROLE_ZH.sub("", role).lower())
    found = _WHO_IS.match(question)
    if found is None:
        return None
    who = found["who"] or found["who_zh"] or found["zh_who"]
    if own := _OWN_ROLE_ZH.match(who):
        return AskedIdentity(role=_FORMER_ROLE_ZH.sub("", own["role"]))
    if owned := _OWNED_ROLE.search(_AT_PRESENT.sub("", who)):
        return AskedIdentity(role=(owned["own"] or owned["role"]).lower())
    return None if _NO_NAME.search(who) else AskedIdentity(name=who)


# Asks for all that is known of somebody, and not for one thing.
_OVERVIEW = re.compile(
    r"^\W*(?:(?:so|hey|ok|okay|and|please|now|well),? )*(?:(?:can|could) you )?"
    r"(?:what (?:all |else )?(?:do|did) (?:you|u) (?:know|remember|have)(?: (?:about|of|on))?"
    r"|what have (?:you|u) (?:learned|noted|got)(?: (?:about|of|on))?"
    r"|(?:tell me|list|show me) (?:all|everything|what)(?: that)? (?:you|u) (?:know|remember)"
    r"(?: (?:about|of))?|tell me (?:all |everything )?about) [\w'’. -]{1,40}\W*$|^\W*who am i\W*$"
    r"|^\W*你(?:都|还)?(?:知道|记得|了解|记住了?)(?:了|些|关于)?(?:我|他|她|用户)的?(?:什么|哪些|多少|些什么|一切)?"
    r"(?:事情?|信息|情况)?\W*$|^\W*关于[我他她]的?\W?你(?:都|还)?(?:知道|记得|了解)(?:些|了)?(?:什么|多少|哪些)?\W*$"
    r"|^\W*(?:说说|讲讲|告诉我)你(?:知道|记得|了解)的?(?:关于)?[我他她]的?.{0,6}$|^\W*我是谁\W*$",
    re.I,
)


# A longer text is about many things, and its "I" tells nothing.
_MOST_CHARACTERS = 300


def asks_of_former_role(question: str) -> bool:
    """Whether it is about somebody who was that to one before, and not about what was before."""
    return bool(_OF_FORMER_ROLE_ZH.search(question))


def find_asked_tense(question: str) -> AskedTense:
    """Whether it is after what holds, what held before, or neither of them."""
    if _FORMER.search(question):
        return "former"
    return "" if _PAST_TENSE.search(question) else "now"


def asks_for_past(question: str) -> bool:
    """Whether what is over may answer it: what was before, or who somebody is that may be it no
    more."""
    question = fold_traditional(question)
    wanted = find_asked_identity(question)
    former = find_asked_tense(question) == "former" or asks_whether_still(question)
    return former or bool(wanted and wanted.name) or bool(_PET_NAMED_ZH.search(question))


def asks_whether_still(question: str) -> bool:
    """Whether it asks in Chinese if something goes on: what is over says that it does not."""
    return asks_yes_or_no(question) and _STILL_ZH.search(question) is not None


def asks_for_overview(question: str) -> bool:
    """Whether it is after all that is known of somebody: "what do you know about me"."""
    return len(question) <= _MOST_CHARACTERS and bool(_OVERVIEW.search(question))


_IN_MONTH = rf"(?: (?:in|for|during|over) (?P<month>{'|'.join(sorted(MONTHS, key=len))})\b)"
# Asks for all that lies ahead, and not for one thing of it.
_AGENDA = re.compile(
    r"^\W*(?:(?:so|hey|ok|okay|and|please|now|well|remind me),? )*"
    r"(?:what(?:['’]?s| is| else is) (?:coming up|(?:up )?next|planned|ahead"
    r"|(?:in|on) my (?:calendar|agenda|diary|schedule))"
    r"|what (?:else )?(?:do|have|did) i (?:have|got) (?:coming up|planned|ahead|on next)"
    r"|(?:do|have) i (?:have|got) (?:anything|something) (?:coming up|planned)"
    r"|(?:what|which|any|do i have any|what are my|list my|show me my)"
    r"(?: (?:upcoming|future|next))? (?:appointments?|plans|dates|events)"
    r"(?: (?:do i have|have i got|are))?(?: (?:coming up|planned|ahead|next))?)"
    rf"(?: (?:for me|soon|now|then))?{_IN_MONTH}?\W*$"
    rf"|^\W*what(?:['’]?s| is| am i| are we|(?: have| do| did) i (?:got|have)|(?: have| do) we "
    rf"(?:got|have)) (?:happening|on|doing|going on|up to){_IN_MONTH.replace('month', 'then')}\W*$"
    r"|^\W*我?(?:(?:接下来|最近|近期|之后|后面|以后)我?)?[还都]?有(?:什么|哪些|啥)"
    r"(?:安排|计划|打算|日程|预约|(?<=接下来有什么)事情?)\W*$",
    re.I,
)


def asks_for_agenda(question: str) -> bool:
    """Whether it is after all that somebody has planned: "what do I have coming up"."""
    return len(question) <= _MOST_CHARACTERS and bool(_AGENDA.search(question))


def find_asked_month(question: str) -> int:
    """The month whose plans are asked for, 1 to 12; 0 where all are."""
    found = _AGENDA.search(question)
    named = found and (found["month"] or found["then"])
    return MONTHS[named.lower()] if named else 0


def drop_whom_before(question: str) -> str:
    """The question without the one who came after: of nobody else is "my boss before Mr Lee"."""
    return re.sub(rf"{_BEFORE_WHOM}(?=\W*$)", "", question, flags=re.I)


_ASKS_OWN_NAME = re.compile(
    r"^\W*(?:what(?: is|['’]?s)|tell me|do you (?:know|remember)) my (?:first |full )?name\W*$"
    r"|^\W*who am i\W*$|^\W*我叫什么(?:名字)?\W*$|^\W*我的?名字(?:是|叫)什么\W*$",
    re.I,
)


def asks_own_name(question: str) -> bool:
    return _ASKS_OWN_NAME.search(question) is not None


def asks_yes_or_no(question: str) -> bool:
    return _ASKS_YES_OR_NO.search(question) is not None


def find_value_kind(question: str) -> ValueKind:
    if _MAIL.search(question):
        return "mail"
    if _PHONE.search(question):
        return "phone"
    if _TIME.search(question):
        return "time"
    if _AMOUNT.search(question):
        return "amount"
    return "identity" if find_asked_identity(question) else ""


_PATTERN_BY_KIND = {
    "amount": _HAS_NUMBER,
    "time": _HAS_TIME,
    "phone": _HAS_PHONE,
    "mail": _HAS_MAIL,
    "identity": _TELLS_WHO,
}


def tells_identity(text: str, asked: AskedIdentity) -> bool:
    """Whether the text says who somebody is, and speaks of the one that is asked about."""
    return (asked.name or asked.role).casefold() in text.casefold() and has_value(text, "identity")


def has_value(text: str, kind: ValueKind) -> bool:
    """Whether the text has a value of this kind; of no kind, any text has."""
    needed = _PATTERN_BY_KIND.get(kind)
    return needed is None or bool(needed.search(text))


def is_about_subject(question: str) -> bool:
    """About the asker, or somebody it does not name ("she", "the user"), and nobody of theirs."""
    question = fold_traditional(question)
    if len(question) > _MOST_CHARACTERS:
        return False
    told = _FIRST_PERSON.search(question) or _THIRD_PERSON.search(question)
    told = told or _UNSAID_ZH.match(question)
    return bool(told) and not is_about_relative(question)


def mentions_relative(question: str) -> bool:
    """Names a kind of person or animal, whoever's: "who is anas boss", 她妈妈."""
    found = re.findall(r"[\w'’-]+", question.lower())
    words = {*found, *(_POSSESSIVE.sub("", word) for word in found)}
    return bool(words & (PEOPLE | ANIMALS) or _CHINESE_RELATIVE_OF.search(question))


def is_about_relative(question: str) -> bool:
    """About a person or an animal that belongs to somebody: "my sister", 我妈."""
    owned = " ".join(match[1].lower() for match in _OWNED.finditer(question))
    theirs = {*owned.split(), *_POSSESSIVE.sub("", owned).split()} & (PEOPLE | ANIMALS)
    return bool(theirs or _CHINESE_RELATIVE_OF.search(question))
