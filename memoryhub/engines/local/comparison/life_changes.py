"""What is over with a change of somebody's life: a marriage, a job, studies.

Told of whom it befell, and of nobody else: "my sister got divorced" ends nobody else's marriage.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from memoryhub.engines.local.comparison.pairs import ClaimView
from memoryhub.engines.local.comparison.ties import (
    COUPLE_OVER,
    IS_DEAD,
    is_unreal,
    list_names,
    names_person,
)
from memoryhub.engines.local.grammar.verbs import inflect_verb

_COUPLE = re.compile(
    r"\b(?:is|are|been|got|'re) (?:now |still |happily )?(?:married|engaged)\b"
    r"|结婚|已婚|订婚|在一起",
    re.I,
)
# Whom somebody is married to, and no more: "Joao is Ana's husband", "Ana's wife is called Dana".
_SPOUSE = re.compile(
    r"^[^,;]{1,40}['’]s (?:husband|wife|spouse) is (?:called |named )?[A-Z][\w'’-]+\.$"
    r"|^[A-Z][\w'’-]+ is [^,;]{1,40}['’]s (?:husband|wife|spouse)\.$"
)
_DIVORCED = re.compile(
    r"['’]s divorce (?:was|is|has been|came|went|got|became)(?: now| finally)?"
    r" (?:final|finali[sz]ed|through|done|over|granted|complete)\b",
    re.I,
)
_LONGEST_TIE = 80  # characters
_HOW = r"(?: \w+ly| just| has| had| also)*"
_EATS = (
    rf"(?![^.,;]*\b(?:vegan|veggie|vegetarian|plant|fake|less|no|little|without|oat|soya?|almond"
    rf"|coconut|free)\b){_HOW}"
    r" (?:eats?|is eating|(?:is |has )?(?:back (?:to|on)|started|gone back to)(?: eating)?)"
)
_ARTICLE = r"(?:(?:an?|the|my|our|their|his|her|some|new|another|own|first) )*"
# What is told of somebody when a time of their life is over, what of the present is over with it,
# and which relations.
_STAGES: tuple[tuple[re.Pattern[str], re.Pattern[str] | None, Collection[str]], ...] = (
    (
        re.compile(
            rf"{_HOW} (?:died|passed away|passed on|{IS_DEAD})\b"
            r"|[^，。]{0,8}?(?:去世|过世|离世|病故)了?"
        ),
        re.compile(
            r"\b(?:lives|works|goes|plays|has|owns|drives|likes|loves|takes|needs|is \d+"
            r"|is (?:an?|in|at|on))\b|住|上班|工作|\d+岁",
            re.I,
        ),
        ("lives_in", "address", "works_as", "works_at", "age", "health"),
    ),
    (
        re.compile(rf"{_HOW} (?:retired|took (?:early )?retirement)\b|[^，。]{{0,8}}?退休了"),
        None,
        ("works_as", "works_at"),
    ),
    (
        re.compile(rf"{_HOW} (?:graduated|dropped out)\b|[^，。]{{0,8}}?(?:毕业|退学)了"),
        re.compile(
            r"\b(?:is|are|['’]s) (?:studying|at (?:uni|university|college)|doing (?:a|an|their) "
            r"(?:degree|master|phd|ba|bsc|msc)|a student|majoring|in (?:their|her|his|the) "
            r"(?:first|second|third|fourth|final|last) year)|\b(?:studies|majors) "
            r"|学生|[读念]|上大学",
            re.I,
        ),
        ("studies", "school", "studies_at"),
    ),
    (
        re.compile(
            rf"{_HOW} (?:came home|is (?:back )?home|(?:was |been |got |is )?discharged|out of"
            rf" (?:the )?hospital|is out of (?:the )?hospital)\b"
        ),
        re.compile(r"\bis (?:\w+ )?in (?:the )?(?:\w+ )?(?:hospital|intensive care|icu)\b", re.I),
        (),
    ),
    (
        re.compile(rf"{_HOW} passed (?:my|their|the|his|her) (?:\w+ )?(?:driving )?test\b"),
        re.compile(r"\b(?:can ?not|can['’]t|does not|learning to|lessons? in) driv", re.I),
        (),
    ),
    (
        re.compile(
            rf"{_EATS} [^.,;]{{0,20}}?\b(?:meat|chicken|beef|bacon|steaks?|burgers?|sausages?"
            r"|pork|lamb)\b(?! substitutes?| free)"
        ),
        re.compile(r"\b(?:vegetarian|vegan|pescatarian|does not eat (?:any )?meat)\b", re.I),
        (),
    ),
    (
        re.compile(
            rf"{_EATS} [^.,;]{{0,20}}?\b(?:fish|salmon|tuna|cheese|dairy|eggs?|milk|butter"
            r"|yoghurt)\b(?! substitutes?| free)"
        ),
        re.compile(r"\bvegan\b", re.I),
        (),
    ),
    (
        re.compile(rf"{_HOW} (?:gone|went|is|works?|is working)(?: back| now)? part[- ]?time\b"),
        re.compile(r"\b(?:works?|is|working) full[- ]?time\b", re.I),
        (),
    ),
    (
        re.compile(rf"{_HOW} (?:gone|went|is|works?|is working)(?: back| now)? full[- ]?time\b"),
        re.compile(r"\b(?:works?|is|working) part[- ]?time\b", re.I),
        (),
    ),
    (
        re.compile(
            rf"{_HOW} (?:lives?|living|moved in) with (?!(?:no|an?|the|it|this|that|pain|asthma"
            r"|diabetes|anxiety|depression|adhd|autism|chronic)\b)\w"
        ),
        re.compile(r"\b(?:lives?|living) (?:alone|(?:on|by) (?:\w+ own|themself))\b", re.I),
        (),
    ),
    (
        re.compile(
            rf"{_HOW} (?:is (?:now )?(?:seeing|dating|going out with) (?:someone|somebody"
            r"|a (?:guy|girl|man|woman|bloke|lad))"
            r"|(?:has|got|has got) a (?:new )?(?:boyfriend|girlfriend))\b"
        ),
        re.compile(r"\bis (?:still )?single\b", re.I),
        (),
    ),
)
# What somebody is after, or at, and what is told once they have it, or are through with it.
_THING = rf" {_ARTICLE}(?P<what>[\w'’ -]+?)"
_THING_ENDS = (
    r"(?=[.,;!]|$| (?:in|on|by|at|with|near|since|to|from|of|for|now|again|today|this)\b"
    r"| last (?:night|week|\w+day)\b)"
)
_AIMS = (
    (
        re.compile(
            r"\b(?:is|are|been) (?:still |now |also )?(?:(?:saving(?: up)?|looking|searching"
            rf"|hunting|waiting|shopping|training|applying) for{_THING}{_THING_ENDS}"
            r"|(?P<hunted>job|flat|house|room)[- ]?hunting)",
            re.I,
        ),
        re.compile(
            r"\b(?:got|bought|found|landed|received|picked up|signed for|completed|finished|ran"
            rf"|passed){_THING}{_THING_ENDS}",
            re.I,
        ),
    ),
    (
        re.compile(
            rf"\bis (?:re-?)?(?:reading|watching|working through){_THING}{_THING_ENDS}", re.I
        ),
        re.compile(rf"\bfinished(?: reading| watching)?{_THING}{_THING_ENDS}", re.I),
    ),
)


# A leave is over with its end, and with going back to work.
_LEAVE_OVER = re.compile(
    r"[^，。]{0,6}?(?:假期?(?:已经|都|也|休|放)*(?:完|结束|到期)了|休完了?.{0,4}假|销假|复工了|返岗了"
    r"|(?:回去|回公司|回单位|恢复|回来)上班了)"
)
_ON_LEAVE = re.compile(r"[产病婚丧年长]假|休.{0,3}假|停薪留职")


def ends_leave(new: ClaimView, old: ClaimView) -> str:
    """By what is told that the leave is over that the same person took, or was to take."""
    theirs = bool(new.owner) and new.owner == old.owner and old.polarity in ("holds", "planned")
    found = _LEAVE_OVER.match(new.text.removeprefix(new.owner)) if theirs else None
    unreal = new.polarity in ("planned", "denied") or is_unreal(new.text)
    if found is None or unreal or not _ON_LEAVE.search(old.text):
        return ""
    if _LEAVE_OVER.match(old.text.removeprefix(old.owner)):
        return ""
    return found[0]


_GIVEN_UP = re.compile(
    r"(?P<when>\d{1,2}月(?:\d{1,2}[号日])?|国庆|春节|过年|中秋|五一|端午|周末|下周|下个?月|年底|[暑寒]假)"
    r"[^，。]{0,4}?(?P<verb>[来去回])(?:不了|不成|不)了"
)
_SEVERAL = re.compile("的(?:爸妈|父母|一家|家人)$")


def gives_up_plan(new: ClaimView, old: ClaimView) -> str:
    """By what is told that somebody cannot come or go at the time that was planned: "8月来不了了"
    after "爸妈打算8月来看我"."""
    found = _GIVEN_UP.search(new.text) if old.polarity == "planned" else None
    if found is None or found["when"] not in old.text or found["verb"] not in old.text:
        return ""
    theirs = new.owner == old.owner
    theirs = theirs or bool(_SEVERAL.search(old.owner) and re.search("的[爸妈]", new.owner))
    return found[0] if theirs else ""


# "周一也开了", "周一不休了": open on a day on which it was closed.
_DAY = r"(?:周|星期|礼拜)(?P<day>[一二三四五六日天])"
_OPENS = re.compile(
    rf"{_DAY}(?:也|都|现在)*(?:(?:也|都)(?:开门?|营业|上班|出摊|出车|接单|接诊|上课)(?=了|[，。！]|$)|不(?:休息?|关门?|放假)了)"
)
_CLOSED = re.compile(
    rf"{_DAY}(?:都|店里|一般|固定)*(?:店?休息?|公休|轮休|关门|不开门?|不营业|不上班|不出摊|歇业|放假)"
)
_ANY_DAY = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天末]|[、和][一二三四五六日天](?![\w])")


def opens_on_day(new: ClaimView, old: ClaimView) -> str:
    """By what is told that the one day is a day of rest no more that was one."""
    opens, closed = _OPENS.search(new.text), _CLOSED.search(old.text)
    theirs = new.person == old.person and old.polarity == "holds" and new.polarity != "planned"
    if not (opens and closed and theirs) or is_unreal(new.text):
        return ""
    days = [found["day"].replace("天", "日") for found in (opens, closed)]
    return opens[0] if days[0] == days[1] and len(_ANY_DAY.findall(old.text)) == 1 else ""


def reaches_aim(new: ClaimView, old: ClaimView) -> str:
    """By what is told to be had by now of which the same person was in search: "found a flat" after
    "is looking for a flat in Leith"."""
    theirs = new.person == old.person and old.polarity in ("holds", "planned")
    if not theirs or new.polarity in ("planned", "denied") or is_unreal(new.text):
        return ""
    for aim, reached in _AIMS:
        after, got = aim.search(old.text), reached.search(new.text)
        if after and got and _name_sought(after) == got["what"].casefold().split()[-1]:
            return got[0].strip()
    return ""


def _name_sought(after: re.Match[str]) -> str:
    return (after.groupdict().get("hunted") or after["what"]).casefold().split()[-1]


# What somebody lacks, does not do or never saw, and what is told once it is otherwise.
_GETS = re.compile(
    rf"\b(?:got|bought|adopted|found|picked up|has|have|has got|have got){_THING}{_THING_ENDS}",
    re.I,
)
_DENIALS = (
    (
        re.compile(
            rf"\b(?:(?:does|do) not (?:have|own)|has no|have no) (?:any )?{_ARTICLE}"
            r"(?P<what>[a-z][\w-]*)\.$",
            re.I,
        ),
        _GETS,
    ),
    (
        re.compile(r"\b(?:(?:does|do) not|never) (?P<does>[a-z]+)\.$", re.I),
        re.compile(
            r"\b(?:started|taken up|took up|is back to|resumed) (?P<what>[a-z]+ing)\b", re.I
        ),
    ),
    (
        re.compile(r"\b(?:can ?not|could never|never learned to) (?P<what>[a-z]+)\.$", re.I),
        re.compile(r"\b(?:learn(?:ed|t) to|can now|can) (?P<what>[a-z]+)(?: now)?\b", re.I),
    ),
    (
        re.compile(r"\bnever been to (?P<what>[A-Z][\w-]+)\.$"),
        re.compile(r"\b(?:went to|been to|back from|was in|flew to) (?P<what>[A-Z][\w-]+)"),
    ),
)


def overturns_denial(new: ClaimView, old: ClaimView) -> str:
    """By what is told to be otherwise by now than was denied of the same person: "bought a car"
    after "does not have a car"."""
    if new.person != old.person or old.polarity != "denied" or is_unreal(new.text):
        return ""
    if new.polarity in ("planned", "denied"):
        return ""
    for denied, told in _DENIALS:
        lacked, got = denied.search(old.text), told.search(new.text)
        if lacked is None or got is None:
            continue
        does = lacked.groupdict().get("does")
        wanted = inflect_verb(does.lower(), "VBG") if does else lacked["what"].casefold()
        if wanted.rstrip("s") == got["what"].casefold().split()[-1].rstrip("s"):
            return got[0].strip()
    return ""


def ends_stage(new: ClaimView, old: ClaimView, aliases: Collection[str] = ()) -> str:
    """By what is told to have changed, where the older claim is over with it; "" where not."""
    if new.polarity in ("planned", "denied") or old.polarity == "planned" or is_unreal(new.text):
        return ""
    told = _ends_couple(new, old, aliases) if old.polarity == "holds" else ""
    return told or _ends_state(new, old)


def _ends_couple(new: ClaimView, old: ClaimView, aliases: Collection[str]) -> str:
    """Who has been divorced is married to nobody, whoever that was: "have been married 8 years"."""
    ended = COUPLE_OVER.search(new.text) or _DIVORCED.search(new.text)
    married = _COUPLE.search(old.text) or _SPOUSE.search(old.text)
    if ended is None or not married or len(old.text) > _LONGEST_TIE:
        return ""
    own = "|".join(re.escape(name) for name in {*aliases, old.owner} if name)
    told = rf"(?<![A-Za-z0-9])(?:{own})(?![A-Za-z0-9]|['’]s(?! divorce)|的)"
    theirs = bool(own) and re.search(told, new.text, re.I) is not None
    partners = list_names(old.text, (*aliases, old.owner))
    others = list_names(new.text, (*aliases, old.owner))
    apart = partners and others and not any(names_person(new.text, name) for name in partners)
    return ended[0] if theirs and not apart else ""


def _ends_state(new: ClaimView, old: ClaimView) -> str:
    """What holds of nobody who has died, of a job where somebody has retired, of studies where
    somebody has graduated."""
    owner = new.owner.casefold()
    if old.kind == "event" or not owner or old.owner.casefold() != owner:
        return ""
    rest = new.text.casefold().removeprefix(owner)
    for ended, held, keys in _STAGES:
        found = ended.match(rest)
        so = old.polarity == "holds" and old.predicate_key in keys
        if found and (so or (held and held.search(old.text))):
            return found[0].strip()
    return ""
