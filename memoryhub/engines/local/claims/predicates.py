"""The table of predicates: how verbs and nouns name them, and which have one value only.

Only the single-valued predicates of this table may supersede one another without review:
on real dialogue, looser rules mostly flag facts that do not conflict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryhub.engines.local.chinese import rules
from memoryhub.engines.local.chinese.traditional import fold_traditional
from memoryhub.engines.local.dates.calendar import COUNT_WORDS
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.wordlists import COUNTABLE_NOUNS, EVENTS, JOBS, split_words


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """A clause as the table sees it: lemmas in lower case, phrases as in the source.

    `object` is the head noun of the object or prepositional object, `topic` the phrase "my"
    goes with in the subject ("favourite colour"), `number` the number before the object.
    `of_person`: somebody is the subject, and no thing. `now`: it says that it is so by now ("these
    days"); `passing`: that it will not last ("for the weekend"); `said`: all of its words;
    `named`: what is said of the subject looks like somebody's name.
    """

    verb: str
    preposition: str = ""
    object: str = ""
    phrase: str = ""
    complement: str = ""
    topic: str = ""
    number: str = ""
    timed: bool = False
    place: bool = False
    of_person: bool = False
    now: bool = False
    passing: bool = False
    said: str = ""
    named: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """`over`: the clause says by its verb that it is so no longer ("left the bakery")."""

    key: str
    value: str = ""
    over: bool = False


_HOME_PHRASES = {
    ("live", "in"), ("reside", "in"), ("settle", "in"), ("settle", "down in"),
    ("move", "to"), ("relocate", "to"), ("emigrate", "to"), ("move back", "to"), ("base", "in"),
    ("move", "into"), ("be based", "in"), ("settle down", "in"), ("rent", "in"),
    ("move in", "in"), ("move", "in"),
}  # fmt: skip
# "The flat's in Leith" tells where its tenant lives.
_OWN_HOME = re.compile(r"(?:(?:new|little|tiny|rented) )?(?:flat|apartment|house|place|home)", re.I)
# "Moved to Team Blue", "moved to Ward 6": parts of where one works or learns.
_UNIT = re.compile(r"\b(?:team|ward|department|unit|class|year|grade|group)\b", re.I)
_EMPLOYER_PHRASES = {
    ("work", "at"), ("work", "for"), ("start", "at"), ("hire", "by"), ("employ", "by"),
    ("give notice", "at"), ("resign", "from"), ("retire", "from"),
}  # fmt: skip
# Where people work by what it is, and what they do there. "In the office" is where one sits.
WORKPLACES = split_words("""
    academy agency airport bakery bank bar bookshop bookstore brewery cafe café cinema clinic
    college company council creche dealership depot factory farm firm florist garage gallery gym
    hospital hotel kindergarten lab laboratory library museum nursery nursing-home pharmacy pub
    restaurant salon school shop startup start-up station store studio supermarket surgery theatre
    theater university vineyard warehouse winery workshop
    aquarium bistro canteen centre center charity deli diner embassy hospice hostel mill ministry
    newspaper quarry reception sanctuary shipyard spa zoo
""")
_DOING_VERBS = split_words("""
    work drive teach cook wait bartend clean temp intern nurse code design guard deliver coach
    waitress volunteer consult manage
""")
_AT_WORKPLACE = ("at", "for", "in", "with")
_POST_AT_WORKPLACE = re.compile(
    r"\b(?:job|gig|position|role|post|work|thing|internship|shifts?) (?:at|with|in) (?:an? |the )?"
    rf"((?:[\w'’-]+ ){{0,2}}?(?:{'|'.join(sorted(WORKPLACES, key=len, reverse=True))}))\b"
)
_LEFT_WORKPLACE = split_words("leave quit ditch") | {"jack in", "pack in", "give up"}
_STREET = re.compile(r"^\d+[a-z]? (?:[A-Z][\w'’.-]*)", re.ASCII)
# Habits may be many at a time; named alike they can be ended ("no longer drinks coffee").
_HABIT_VERBS = {
    "drink": "drinks", "eat": "eats", "smoke": "smokes", "play": "plays", "own": "owns",
    "speak": "speaks", "ride": "rides", "love": "likes", "like": "likes", "enjoy": "likes",
    "adore": "likes", "cannot stand": "likes",
}  # fmt: skip
_DRINKS = split_words("""
    coffee tea alcohol beer wine soda cola milk espresso juice whisky whiskey vodka matcha cider
""")
_FOODS = split_words("""
    meat sugar dairy bread chocolate gluten fish cheese pork beef sweets candy eggs
""")
OWNED_THINGS = split_words("""
    car motorcycle motorbike bike bicycle scooter van truck boat house flat apartment piano
    guitar violin horse camera caravan
""")
_ROLE_PHRASES = {
    ("work", "as"), ("start", "as"), ("train", "as"), ("hire", "as"), ("promote", "to"),
    ("employ", "as"), ("become", ""), ("be", ""), ("qualify", "as"), ("get job", "as"),
    ("retrain", "as"), ("requalify", "as"),
}  # fmt: skip
_TIME_OF_POST = re.compile(r" (?:from|as of|starting|since) ")
_RANKS = split_words("head senior junior chief lead deputy vice assistant principal general")
_GETTING_VERBS = split_words("get land start find have take accept begin")
_LEAVING_VERBS = split_words("quit leave lose resign")
_MARITAL_STATUSES = {
    "marry": "married", "married": "married", "engaged": "engaged", "divorced": "divorced",
    "divorce": "divorced", "separated": "separated", "single": "single", "widowed": "widowed",
    "engage": "engaged",
}  # fmt: skip
_FAVOURITE = re.compile(r"\bfav(?:e|ou?rite)? (?:\w+ )*?(\w+)$|\bfav(?:e|ou?rite)? (\w+)", re.I)


def classify_predicate(reading: ClauseReading) -> Predicate:
    """The predicate a clause states; its key is empty when the table has none."""
    for rule in (
        _match_favourite,
        _match_home,
        _match_address,
        _match_age,
        _match_marital_status,
        _match_role,
        _match_employer,
        _match_workplace,
        _match_count,
        _match_schedule,
    ):
        found = rule(reading)
        if found:
            return found
    return Predicate("")


def is_single_valued(key: str) -> bool:
    """Whether a subject has one value of it at a time."""
    return key in _SINGLE_VALUED or key.startswith(("favourite_", "has_count_", "scheduled_"))


def is_many_valued(key: str) -> bool:
    """Whether a subject is known to have several values of it side by side."""
    return key in _MANY_VALUED


# Habits, likes, belongings and company come in numbers; of a key that is nowhere nothing is known.
_MANY_VALUED = frozenset(_HABIT_VERBS.values()) | {
    "dislikes", "has_pet", "has_friend", "has_child", "has_sibling", "knows", "visited",
    "allergic_to", "hobby", "has_hobby", "interested_in", "has_skill", "read", "watched",
}  # fmt: skip
# Of these somebody has one at a time, and telling of one as past is telling of a former one.
HOME_AND_JOB = frozenset({"lives_in", "address", "works_as", "works_at"})
_SINGLE_VALUED = HOME_AND_JOB | {"marital_status", "age"}


def _match_favourite(reading: ClauseReading) -> Predicate | None:
    match = _FAVOURITE.search(reading.topic)
    if not match or reading.verb != "be":
        return None
    thing = (match[1] or match[2]).lower()
    return Predicate(f"favourite_{_canonicalise_noun(thing)}", reading.complement or reading.phrase)


_ROUND_AGAIN = re.compile(r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|every|each)\b")


def _match_home(reading: ClauseReading) -> Predicate | None:
    # "The office moved to Leeds" tells of nobody's home, nor "moved to pilates on Thursdays".
    moved = (reading.verb, reading.preposition) in _HOME_PHRASES and reading.of_person
    moved = moved and not _ROUND_AGAIN.search(reading.said)
    # "I'm in Leeds now" tells of a home unless it says that it is a visit.
    found_there = reading.verb == "be" and reading.preposition == "in"
    by_now = found_there and reading.of_person and reading.now and not reading.passing
    housed = found_there and bool(_OWN_HOME.fullmatch(reading.topic))
    if not (moved or by_now or housed) or not reading.place or _STREET.match(reading.phrase):
        return None
    if _UNIT.search(reading.phrase):
        return None
    return Predicate("lives_in", reading.phrase)


_NUMBERED_HOME = re.compile(r"(?:flat|apartment|apt|unit|room)\.? ?\d", re.I)


def _match_address(reading: ClauseReading) -> Predicate | None:
    stated = reading.verb == "be" and re.fullmatch(r"(?:\w+ )?address", reading.topic, re.I)
    if stated:
        return Predicate("address", reading.complement or reading.phrase)
    if reading.verb == "move out":
        return Predicate("address")
    housed = (reading.verb, reading.preposition) in _HOME_PHRASES | {("live", "at"), ("stay", "at")}
    # "We're at 7 Lockside Close now", "since May I have been at Flat 6, Harbour Court".
    lasts = (reading.now or "since" in reading.said) and reading.of_person and not reading.passing
    housed = housed or ((reading.verb, reading.preposition) == ("be", "at") and lasts)
    named = housed and (_STREET.match(reading.phrase) or _NUMBERED_HOME.match(reading.phrase))
    return Predicate("address", reading.phrase) if named else None


def _match_age(reading: ClauseReading) -> Predicate | None:
    if reading.topic or reading.preposition or re.search(r"\bwas\b", reading.said):
        return None
    stated = re.fullmatch(r"(\w+(?:[- ]\w+)?) years? old", reading.complement, re.I)
    bare = stated[1] if stated else reading.complement or reading.phrase
    years = _parse_years(bare)
    a_figure = not stated and years is not None and years < 10 and bare.isdigit()
    a_figure = a_figure and reading.verb != "turn"
    if reading.verb not in ("be", "turn") or not years or a_figure:
        return None
    return Predicate("age", str(years))


_NUMBERS = {word: low for word, (low, high) in COUNT_WORDS.items() if low == high and word != "a"}
_NUMBERS |= {
    "thirteen": 13, "fourteen": 14, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip


def _parse_years(phrase: str) -> int:
    """("thirty-five") → 35; 0 for what is no number of years."""
    if phrase.isdigit():
        return int(phrase) if len(phrase) < 3 else 0
    parts = re.split(r"[- ]+", phrase.lower())
    values = [_NUMBERS.get(part, 0) for part in parts]
    if len(values) == 2 and values[0] >= 20 > 10 > values[1] > 0:
        return sum(values)
    return values[0] if len(values) == 1 else 0


def _match_marital_status(reading: ClauseReading) -> Predicate | None:
    if re.search(r"\bdivorce$", reading.topic) and re.search(
        r"\b(?:final|official|finali[sz]ed|through)\b", f"{reading.complement} {reading.verb}"
    ):
        return Predicate("marital_status", "divorced")
    if reading.verb in ("separate", "split up") and not reading.topic + reading.preposition:
        return Predicate("marital_status", "separated") if not reading.object else None
    if reading.topic or reading.verb not in ("be", "get", "marry", "divorce", "become", "engage"):
        return None
    words = [reading.verb, *reading.complement.lower().split()]
    found = next((_MARITAL_STATUSES[w] for w in words if w in _MARITAL_STATUSES), "")
    return Predicate("marital_status", found) if found else None


def _match_role(reading: ClauseReading) -> Predicate | None:
    if re.fullmatch(r"(?:current |new |day )?(?:job|profession|occupation)", reading.topic, re.I):
        title = _TIME_OF_POST.split(reading.complement)[0]
        stated = reading.verb == "be" and _is_job_title(title)
        return Predicate("works_as", _strip_article(title)) if stated else None
    if reading.object == "job" and not reading.topic and reading.verb in _LEAVING_VERBS:
        return Predicate("works_as")
    found = re.search(r"\bjob as (?:an? |the )?(.+)", reading.phrase)
    if found and reading.verb in _GETTING_VERBS:
        return Predicate("works_as", found[1])
    noun = reading.object or (_strip_workplace(reading.complement).split() or [""])[-1]
    pair = (reading.verb, reading.preposition)
    if reading.topic or pair not in _ROLE_PHRASES or noun.lower() not in JOBS:
        return None
    role = _strip_workplace(reading.phrase or reading.complement)
    if reading.named and role.istitle() and role.split()[0].lower() not in _RANKS:
        return None  # "Tom Baker" is somebody, and "Head Chef" what somebody is
    return Predicate("works_as", _strip_article(role))


def _strip_workplace(phrase: str) -> str:
    return re.split(r" (?:at|for|in|with) |, ", phrase)[0]


def _is_job_title(phrase: str) -> bool:
    words = phrase.lower().split()
    return bool(words) and (words[-1] in JOBS or (words[0] in ("a", "an") and len(words) > 1))


# "Starting at northfold as a data analyst": it can be nothing but a firm.
_AS_ROLE = re.compile(rf"\bas an? (?:[\w-]+ ){{0,3}}?(?:{'|'.join(sorted(JOBS))})\b", re.I)


def _match_employer(reading: ClauseReading) -> Predicate | None:
    found = re.search(r"\bjob (?:at|with) (.+)", reading.phrase)
    if found and reading.verb in _GETTING_VERBS and not reading.topic:
        return Predicate("works_at", found[1])
    pair = (reading.verb, reading.preposition)
    if reading.topic or pair not in _EMPLOYER_PHRASES:
        return None
    named = reading.place or reading.verb in ("work", "hire", "employ")
    named = named or bool(_AS_ROLE.search(reading.said))
    return Predicate("works_at", reading.phrase) if named and reading.phrase else None


def _match_workplace(reading: ClauseReading) -> Predicate | None:
    """Where somebody works, told by what it is: "driving for a bakery", "left the bike shop"."""
    if not reading.of_person:
        return None
    if reading.verb in _GETTING_VERBS and (got := _POST_AT_WORKPLACE.search(reading.said)):
        return Predicate("works_at", got[1])
    if reading.object not in WORKPLACES:
        return None
    there = reading.preposition in _AT_WORKPLACE
    works = there and (reading.verb in _DOING_VERBS or reading.verb == "start")
    # "I'm at the gym now" is where one is, "at a gym now" where one works.
    is_at = (reading.verb, reading.preposition) == ("be", "at") and reading.now
    is_at = is_at and bool(re.match(r"an? ", reading.phrase))
    left = not reading.preposition and reading.verb in _LEFT_WORKPLACE
    left = left or (reading.preposition == "in" and reading.verb in ("jack", "pack"))
    left = left and not reading.passing  # who leaves the office at five is back tomorrow
    if not (works or is_at or left):
        return None
    named = re.match(rf".*?\b{re.escape(reading.object)}", reading.phrase)
    value = _strip_article(named[0]) if named else reading.object
    return Predicate("works_at", value, over=left)


_BESIDE = re.compile(
    r"\b(?:too|also|as well|on the side|second job|part[- ]time|weekends|saturdays"
    r"|sundays|evenings|besides)\b"
)


def is_beside_another(key: str, said: str) -> bool:
    """Whether a job is told as one of several: "I work at the pub too, evenings"."""
    return key in ("works_at", "works_as") and bool(_BESIDE.search(said))


def _match_count(reading: ClauseReading) -> Predicate | None:
    owns = reading.verb in ("have", "own") and not reading.preposition
    if not owns or not reading.number or reading.object not in COUNTABLE_NOUNS:
        return None
    return Predicate(f"has_count_{_canonicalise_noun(reading.object)}", reading.number)


def _match_schedule(reading: ClauseReading) -> Predicate | None:
    noun = (reading.topic.split() or [""])[-1].lower()
    moves = reading.verb in ("be", "schedule", "move", "postpone", "reschedule", "set", "push back")
    if noun not in EVENTS or not moves or not reading.timed:
        return None
    return Predicate(f"scheduled_{_format_slug(reading.topic)}", reading.phrase)


def classify_habit(reading: ClauseReading, verbs: tuple[str, ...]) -> Predicate:
    """The habit that a clause states, or ends with one of its verbs ("stopped drinking")."""
    named = next((_HABIT_VERBS[verb] for verb in reversed(verbs) if verb in _HABIT_VERBS), "")
    owned = reading.object in OWNED_THINGS
    if reading.verb in ("give up", "quit", "cut out") and reading.object in _DRINKS | _FOODS:
        named = "drinks" if reading.object in _DRINKS else "eats"
    if reading.verb == "sell":
        named = "owns" if owned else ""
    if named == "owns":
        return Predicate("owns", reading.object) if owned else Predicate("")
    allergic = re.match(r"allergic to (.+?)(?: any ?more| again| now)?$", reading.complement)
    if allergic:
        return Predicate("allergic_to", allergic[1])
    told = named and reading.object
    return Predicate(named, _strip_rate(reading.phrase)) if told else Predicate("")


def _strip_rate(phrase: str) -> str:
    """("four espressos a day") → "four espressos"."""
    return re.sub(r"(?: (?:an?|per|each|every) (?:day|week|month|morning|evening))$", "", phrase)


def extract_employer(phrase: str) -> str:
    """The firm in a role: ("a planner at Harlow Freight"), ("a cook at a place called Nino's") →
    "Harlow Freight", "Nino's"."""
    found = re.search(
        r" (?:at|for) (?:an? (?:[a-z-]+ ){1,3}(?:called|named) )?((?:the )?[A-Z].*)", phrase
    )
    return found[1] if found else ""


def _strip_article(phrase: str) -> str:
    return re.sub(r"^(?:a|an|the|their) ", "", phrase, flags=re.I)


def _format_slug(phrase: str) -> str:
    return "_".join(re.findall(r"\w+", _strip_article(phrase).lower()))


_SYNONYMS = {
    "appt": "appointment",
    "color": "colour",
    "children": "kid",
    "child": "kid",
    "kids": "kid",
    "movie": "film",
}


def _canonicalise_noun(noun: str) -> str:
    return _SYNONYMS.get(noun, _SYNONYMS.get(noun.rstrip("s"), noun))


# "What does she do", "what did I do before": a whole question after somebody's work.
_WHAT_ONE_DOES = (
    r"\bwhat (?:(?:does|do) [\w'’-]+(?: [\w'’-]+)? do(?: for (?:work|a job))?"
    r"|did [\w'’-]+(?: [\w'’-]+)? do(?: for (?:work|a job))? (?:before|previously)"
    r"(?: (?:that|this|then|now))?)\W*$"
)
_QUESTION_PATTERNS = {
    "lives_in": r"\bwhere\b.*\b(?:live|living|reside|based|home|move|moved)\b"
    r"|\b(?:which|what) (?:city|town|country)\b.*\b(?:live|living|move|in\W*$)|\bhometown\b"
    r"|\bmove to\b",
    "address": r"(?<!mail )(?<!mail-)(?<!web )(?<!ip )\baddress\b|\b(?:which|what) street\b",
    "works_as": r"\b(?:job|occupation|profession|career)\b|\bfor a living\b|\bwork(?:s|ing)? as\b"
    rf"|{_WHAT_ONE_DOES}",
    "works_at": r"\bwhere\b.*\bwork|\b(?:employer|company)\b|\bwho\b.*\bworks? for\b"
    r"|(?:\b(?:my|his|her|their)|['’]s) (?:new |current )?job\b|\bfor a living\b"
    rf"|{_WHAT_ONE_DOES}",
    "marital_status": r"\bmarried\b|\bmarital\b|\brelationship status\b|\bsingle\b|\bdivorced\b"
    r"|\bengaged\b",
    "age": r"\bhow old\b|\b(?:'s|his|her|their|your) age\b",
}
_COUNT_QUESTION = re.compile(r"\bhow many (?:\w+ )?(\w+?)s? (?:does|do|did|has|have)\b", re.I)
_FAVOURITE_QUESTION = re.compile(r"\bfavou?rite (\w+)", re.I)
_SCHEDULE_QUESTION = re.compile(
    r"\b(?:when|what (?:time|day|date))\b.*?\b(?:the|my|your|his|her|their|\w+'s|\w+s') "
    rf"(?P<x>(?:\w+ )*?(?:{'|'.join(sorted(EVENTS))}))\b",
    re.I,
)


def find_question_predicates(question: str) -> tuple[str, ...]:
    """The keys a question asks for, English or Chinese: ("她住在哪里？") → ("lives_in",)."""
    if detect_language(question) == "zh":
        return rules.find_question_predicates(fold_traditional(question))
    asked = _QUESTION_PATTERNS.items()
    keys = [key for key, pattern in asked if re.search(pattern, question, re.I)]
    for pattern, prefix in (
        (_COUNT_QUESTION, "has_count_"),
        (_FAVOURITE_QUESTION, "favourite_"),
        (_SCHEDULE_QUESTION, "scheduled_"),
    ):
        named = (_canonicalise_noun(_format_slug(m[1])) for m in pattern.finditer(question))
        keys += [f"{prefix}{noun}" for noun in named]
    return tuple(dict.fromkeys(keys))


_SEARCH_WORDS = {
    "lives_in": "live lives living moved home residence city town country 住 住在 搬到 搬家 城市",
    "address": "address street live lives living 地址 住址 住在",
    "works_as": "work works job occupation profession career position 工作 职业 职位 当 做",
    "works_at": "work works job employer company office 公司 上班 工作 入职 单位",
    "marital_status": (
        "married marriage single divorced separated engaged husband wife partner"
        " 结婚 离婚 单身 订婚 丈夫 妻子"
    ),
    "age": "age old years birthday born turned 岁 年龄 生日",
}
_PREFIX_SEARCH_WORDS = {
    "favourite_": "favourite favorite prefers loves 最喜欢 喜欢 最爱",
    "has_count_": "has have number many 有 几个",
    "scheduled_": "scheduled date when moved 时间 日期 安排",
}


def get_search_words(key: str) -> str:
    """Words to search with for a key: ("lives_in") → "live lives living …"."""
    if key in _SEARCH_WORDS:
        return _SEARCH_WORDS[key]
    for prefix, general in _PREFIX_SEARCH_WORDS.items():
        if key.startswith(prefix):
            thing = key.removeprefix(prefix)
            return f"{general} {thing.replace('_', ' ')} {rules.find_word_for_thing(thing)}".strip()
    return key.replace("_", " ")
