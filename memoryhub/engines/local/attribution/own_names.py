"""What people say they are called: "my name is Priya", 我叫李敏 (spec E25)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryhub.engines.local.attribution.made_texts import asks_for_text, is_role_play
from memoryhub.engines.local.grammar.verbs import is_dictionary_word
from memoryhub.engines.local.language import HAN
from memoryhub.engines.local.wordlists import PEOPLE, compile_patterns, split_words

_CAPITALISED = r"[A-ZÀ-Þ][\w'’-]{0,30}"
_FULL_NAME = rf"{_CAPITALISED}(?: {_CAPITALISED}){{0,3}}"
_ENDS = r"(?=\s?(?:[.,;:!?)\n—–-]|$|and\b|but\b|i\b|I\b|from\b|here\b|by the way\b))"
_OWN = r"(?:my|(?:the )?user(?:'s|’s)?|(?:^|[\n.!] ?)(?:full )?)\s?(?:(?:full|real|first) )?name"
_ENGLISH = compile_patterns(
    rf"(?i:\b{_OWN}(?:['’]s| is|:))\s(?:actually |really )?(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:\b{_OWN}(?:['’]s| is|:))\s(?P<name>[^\W\d_]{{2,20}}){_ENDS}",
    rf"(?i:\b(?:i['’]m|i am|user is|im) called)\s(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:\b(?:call me|i go by|address me as))\s(?P<name>{_FULL_NAME})(?![\w'’])",
    rf"(?i:^\W{{0,3}}(?:hi|hello|hey)(?: there| all)?[,!. ]{{1,3}}(?:i['’]?m|i am"
    rf"|this is))\s(?P<name>{_FULL_NAME}){_ENDS}",
    # "quick intro: I'm Petra, vet nurse in Inverness".
    rf"(?i:\bintro\w*\W{{1,3}}(?:i['’]?m|i am|this is))\s(?P<name>{_FULL_NAME}){_ENDS}",
    # "I'm Tom, 52, electrician in Hull", "im jess, 23, ...", "Callum here, 41".
    rf"(?i:\b(?:i['’]?m|i am|this is))\s(?P<name>{_FULL_NAME}|[a-z]{{2,20}}),"
    r"\s(?=[1-9]\d(?:,|\.|!|$))",
    rf"(?i:\bmy name(?:['’]s not| is not| isn['’]t))\s{_FULL_NAME}"
    rf"(?i:[,;.]? (?:but |it['’]?s |it is ))(?P<name>{_FULL_NAME}){_ENDS}",
    flags=re.M,
)
# Said before something else is told: what stands there may be many a thing but a name.
_OPENS = (
    r"(?i:(?:^|(?<=[.!?]\s))\W{0,3}(?:(?:so|well|ok|okay|and|hi|hello|hey|good (?:morning|evening"
    r"|afternoon))(?: there| all| everyone)?\b[,!.]{0,2} ?){0,2})"
)
_GOES_ON = (
    r"(?=\.?$|\.\s|,? (?i:and|but) (?:I\b|i\b|we\b)"
    r"|,\s(?i:i|i['’]?m|i['’]ve|we|my|your|our|new|just|an?|from|[1-9]\d)\b"
    rf"|,\s{_CAPITALISED}['’]s\s)"
)
_IN_PASSING = compile_patterns(
    rf"{_OPENS}(?i:i['’]?m|i am)\s(?P<name>{_FULL_NAME}){_GOES_ON}",
    rf"{_OPENS}(?i:im|i['’]m)\s(?P<name>[a-z]{{3,20}})(?=,\si\b)",
    rf"{_OPENS}(?i:this is)\s(?P<name>{_FULL_NAME})(?=\W*$|,\s[Ii]\b|\.\sI\b)",
    rf"{_OPENS}(?i:it['’]?s|it is|this is)\s(?P<name>{_FULL_NAME})"
    r"(?=,\s[Ii]\b|\s(?i:from (?:the|your|work|school|upstairs|downstairs|next door|number)\b))",
    rf"{_OPENS}(?P<name>{_FULL_NAME})(?i:\shere)(?=[,.!])",
    rf"(?i:\b(?:everyone|everybody|people|friends|they all) calls? me)\s"
    rf"(?P<name>{_FULL_NAME}){_ENDS}",
    flags=re.M,
)
_HAN_NAME = rf"[{HAN}]{{2,4}}?|[A-Za-z][A-Za-z .'-]{{1,30}}[A-Za-z]"
# What begins what somebody is to do and no name. Mo is also a family name, before no verb.
_TASK_START = (
    "[起一回去来过吃做帮的们早晚别不在少多先要该赶甭勿再喝睡看买给把跟写跑走住坐搬换找拿送"
    "交打试用考读还每戒忌减停注休控等]|莫[吃喝抽熬去来要再急怕哭想管走打跑做动生碰提说]"
)
_CHINESE = re.compile(
    rf"(?:(?:我|用户)(?:的?(?:名字|姓名|全名|大名)(?:就?是|叫做?|：|:)|叫做?|名叫)|(?:可以|就"
    # Who is called to do something is told by somebody: 医生喊我少吃稀饭.
    rf"|请|(?<![{HAN}])|(?<=都)|(?<=家))(?:叫|喊|称呼)我"
    rf"(?!{_TASK_START}))"
    rf"(?P<name>{_HAN_NAME})(?=就[好行可]|吧|[，,。.！!、；;\s]|$)"
)
_CHINESE_IN_PASSING = re.compile(
    rf"(?:(?<![{HAN}\w])|(?<=你好)|(?<=大家好)|(?<=您好)|(?<=[呀啊]))(?:我是|这里是|这边是)"
    rf"(?P<name>[{HAN}]{{2,4}}?|[A-Z][a-z]{{1,11}})(?=[呀啊哦哈啦]?(?:[，,。.！!；;\s]|$))"
)
_CHINESE_CALL = re.compile(
    rf"[你您](?:叫|喊|称呼)我(?!{_TASK_START})(?P<name>{_HAN_NAME})(?=就[好行可]|吧)"
)
# Names that a dictionary has as words too.
_WORD_NAMES = split_words("""
    amber angel archer art basil bill bob brook carol chase chip clay cliff crystal daisy dawn dean
    don dot drew duke earl faith frank gene glen grace grant harmony harry hazel heath heather holly
    hope hunter iris ivy jack jade jasmine jay jimmy joy ken kit lance lee lily linden mark marina
    mason melody mercy mike miles nick norm olive pat patience pearl peg penny peter pierce poppy
    prudence ray reed rich rob robin rocky rose rosemary ruby sage sally sandy sky sue sunny tad
    tanner terry tom trinity van victor violet wade warren will willow woody
""")
# What else one may be without an article, or "it's" may be, and no dictionary has in small letters.
_NO_PERSONS = split_words("""
    aries taurus gemini leo virgo libra scorpio sagittarius capricorn aquarius pisces
    gen generation keto celiac coeliac halal ibs pcos adhd covid scrum tier year
    swiss greek thai czech dutch scots welsh french iraqi israeli pakistani punjabi bengali afghan
    kurd somali nepali saudi yemeni omani qatari kiwi aussie brit geordie yank latino latina latinx
    hispanic cypriot filipino filipina german roman slovak croat serb scottish catalan malay arab
    gujarati tamil kashmiri uzbek kazakh icelander african muslim sikh hindu quaker mormon anglican
    presbyterian baptist methodist lutheran orthodox protestant buddhist ldem tory lib dem democrat
    republican ukip snp remainer brexiteer london liverpool chelsea everton spurs celtic rangers
    leeds villa newcastle barcelona manchester arsenal glasgow edinburgh dublin cardiff paris berlin
    ubuntu linux android apple windows mac xbox playstation google batman superman spartacus jesus
    christmas easter halloween diwali eid ramadan monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december
    northern southern basque gryffindor hufflepuff ravenclaw slytherin
    winter summer spring autumn bullshit netflix amazon ocado tesco sainsbury asda ikea
""")
# Irish, Portuguese, Buddhist, Norwegian, Mexican; and who is called so all the same.
_OF_A_PEOPLE = re.compile(r"[a-z]{2}(?:ish|ese|ist|ian|ean|can)$")
_CALLED_LIKE_A_PEOPLE = split_words("""
    adrian brian christian cillian cristian cyprian damian dorian duncan evian fabian florian
    gillian ian julian kilian lilian lillian marian sebastian vivian
""")
_NO_CHINESE_PERSON = re.compile(
    r"^(?:小[白众三资辈号偷丑鬼透迷弟妹]|高[一二三]|白[领羊]|黄牛|双[鱼子]|老[板师大乡年三二手人外实]|田园|路人|马上|单[身亲]|党员)"
    r"|[人员生师家族座女男党者迷控粉工民长手客方的号妈爸娃]$"
)
_NOT_NAMES = split_words("""
    not on in at the a an is it that this what back later tomorrow when if maybe crazy anytime
    sir madam so also very just still unknown none null mr mrs ms dr i my fine good great sorry
    here there happy glad new sure tired back
""")
_NOT_CHINESE = re.compile(r"^[了他她你您它这那什谁啥外车人过不没来去]|什么|外卖|帮忙$")
_SUPPOSED = re.compile(r"\b(?:if|say|suppose|imagine|pretend)\b[^.!?\n]{0,20}$", re.I)
_QUOTES = "\"'“”‘’「」《》`*"


def find_introduced_name(text: str, *, in_passing: bool = True) -> str:
    """The name that the speaker gives as their own, the last one said; "" for none.

    What is asked to be written or played tells nobody's name. `in_passing`: also before something
    else is told ("I'm Ottilie, I teach pottery"), where no word is taken for a name that may be
    anything else ("I'm Irish, I grew up in Galway").
    """
    if is_role_play(text) or asks_for_text(text):
        return ""
    found = _find_own(text, (*_ENGLISH, _CHINESE, _CHINESE_CALL))
    if in_passing and not found:
        passing = _find_own(text, (*_IN_PASSING, _CHINESE_IN_PASSING))
        found = [m for m in passing if _names_person(m["name"])]
    return _format_name(found[-1]["name"]) if found else ""


def _find_own(text: str, patterns: Sequence[re.Pattern[str]]) -> list[re.Match[str]]:
    found = (m for pattern in patterns for m in pattern.finditer(text))
    return [m for m in sorted(found, key=lambda m: (m.end(), -m.start())) if _is_own(m, text)]


def _names_person(name: str) -> bool:
    """Whether it can hardly be anything but somebody's name: nationality, star sign, post."""
    if not name.isascii() and re.search(f"[{HAN}]", name):
        from memoryhub.engines.local.chinese.introductions import may_be_name

        return may_be_name(name) and not _NO_CHINESE_PERSON.search(name)
    first, *others = name.casefold().split()
    return _names_anybody(first) and not name.isupper() and not {*others} & _NO_PERSONS


def _names_anybody(word: str) -> bool:
    known = word in _WORD_NAMES or not is_dictionary_word(word)
    people = _OF_A_PEOPLE.search(word) and word not in _CALLED_LIKE_A_PEOPLE
    return known and word not in _NO_PERSONS | PEOPLE and not people


def _is_own(found: re.Match[str], text: str) -> bool:
    name = found["name"].strip()
    words = name.lower().split()
    before = text[: found.start()]
    quoted = before[-2:].strip()[-1:] in tuple(_QUOTES)
    quoted = quoted or any(before.rfind(a) > before.rfind(b) for a, b in ("“”", "「」", "《》"))
    supposed = _SUPPOSED.search(text[max(0, found.start() - 30) : found.start()])
    return not (quoted or supposed or words[0] in _NOT_NAMES or _NOT_CHINESE.search(name))


def _format_name(name: str) -> str:
    name = " ".join(name.split()).strip(" .'-")
    return name if name != name.lower() else name.title()
