"""The slot that a claim fills, as far as its words tell it: whose landlord, which car, what rent.

Two claims that fill one slot of one person with other values can not both hold: "Ana's landlord is
Mr Patel", "Ana's landlord is now a Mrs Green". Which noun or verb stands there is open; what is
written down here is only which kinds of things are told in several ways (who is driven by a Honda,
who has bought a Kia), and of what a person has several at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from memoryhub.engines.local.chinese.slots import read_chinese_slot
from memoryhub.engines.local.comparison.frames import SELF, strip_time
from memoryhub.engines.local.dates.calendar import DAY_AND_MONTH_NAMES
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.wordlists import DEPARTMENTS, EVENTS, SHIFTS, split_words


@dataclass(frozen=True, slots=True)
class Slot:
    """`whose`: folded, the subject as a sign. `single`: one has only one of it at a time, whatever
    else is said. `renewed`: the words say that it has changed. `one_of_several`: they leave open
    whether there is another, as "has a meeting on Monday" does."""

    whose: str
    name: str
    value: str
    single: bool = False
    renewed: bool = False
    one_of_several: bool = False


_SINGLE_NOUNS = split_words("""
    boss landlord phone-number email doctor dentist address rent salary username password
    bank gym school employer birthday weight height roommate therapist surname nickname
    wifi blood-type deadline hometown major commute diet
""")
_SAME_NOUN = {
    **dict.fromkeys(split_words("manager supervisor"), "boss"),
    **dict.fromkeys(("line manager", "team lead", "team leader"), "boss"),
    **dict.fromkeys(split_words("landlady"), "landlord"),
    **dict.fromkeys(split_words("flatmate housemate"), "roommate"),
    **dict.fromkeys(("phone number", "number", "mobile", "mobile number", "cell", "cell number",
                     "cell phone number", "telephone number", "phone no"), "phone number"),
    **dict.fromkeys(("e-mail", "email address", "e-mail address", "mail address", "mail"), "email"),
    **dict.fromkeys(("gp", "family doctor", "physician"), "doctor"),
    **dict.fromkeys(("home address", "postal address"), "address"),
    **dict.fromkeys(("pay", "wage", "wages"), "salary"),
}  # fmt: skip
_SHAPES = {"email": re.compile("@"), "phone number": re.compile(r"(?:\d\W*){3}")}
# Of these one has several, unless the words say that it is a new one.
_MANY_NOUNS = split_words("""
    friend sister brother son daughter kid child cousin aunt uncle colleague coworker neighbour
    neighbor cat dog pet plant hobby student client customer teammate grandchild grandson niece
    granddaughter nephew goal problem plan idea thing day reason answer question point news message
    list update story theory part way side advice rule tip word
""")
# Who moves or changes to something is still who it was.
_PEOPLE = _MANY_NOUNS | split_words("""
    boss landlord doctor dentist roommate therapist mother mum mom father dad wife husband partner
    girlfriend boyfriend parents family teacher coach
""")
_RENEWED = re.compile(
    r"\b(?:now|new|these days|nowadays|currently|instead|from now on|any ?more|no longer|changed"
    r"|switched|moved|went up|went down|put up|raised|latest)\b",
    re.I,
)
_N = (
    r"(?P<noun>[A-Za-z][a-zA-Z-]*(?: [a-z][a-z-]*){0,3}?)"
    r"(?: (?:at|in|for|with|from|to) [^,;:]{1,30}?)?"
)
_BE = r"(?:is|was|are)(?: now| currently| still| called| named| actually)*"
_VALUE = r"(?P<value>(?:[^;:]|(?<=\d):(?=\d)){1,60})"
_NOUN_IS = re.compile(rf"(?P<whose>.+)['’]s? {_N} {_BE} {_VALUE}$")
# "Ana has a dentist appointment on Friday at 2".
_HAS_OCCASION = re.compile(
    rf"(?P<whose>.+?) has (?:an?|the|their) (?P<noun>(?:[a-z-]+ ){{0,2}}(?:{'|'.join(EVENTS)}))"
    rf" (?:(?:with|at|in|for|to) [^,;:\d]{{1,30}}? )?(?:on|at|this|next) {_VALUE}$"
)
_IS_NOUN = re.compile(
    rf"(?P<value>(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?) (?:is|became)(?: now)?"
    rf" (?P<whose>.+)['’]s? {_N}$"
)
_NOUN_MOVED = re.compile(
    rf"(?P<whose>.+)['’]s? {_N} (?:has |have |is |was |got |has been )?(?:just )?(?:changed"
    rf"|moved|gone"
    r"|went|switched|increased|rose|risen|dropped|fell|raised|cut|pushed|put|bumped|rescheduled"
    r"|postponed|upped|lowered|reduced|up|down)(?: up| down| back| forward)?"
    rf"(?: from (?P<from>[^;:]{{1,40}}?))? to {_VALUE}$"
)
_MOVED_NOUN = re.compile(
    r"(?P<who>[^ ]+(?: [^ ]+)?) (?:has |have |just )?(?:changed|moved|switched|put|raised"
    r"|pushed|bumped|cut|upped"
    rf"|lowered|reduced|increased|rescheduled) (?:(?P<whose>.+)['’]s?|their|the) {_N}"
    rf"(?: up| down| back| forward)?(?: from (?P<from>[^;:]{{1,40}}?))? to {_VALUE}$"
)
_HAS = (
    r"(?:has|owns|drives|rides|is driving|bought|got|uses|is using|switched to|upgraded to"
    r"|replaced [^,;:]{1,30} with|is on|moved to|went for|has got|picked up|leases|is leasing)"
)
_CARS = (
    r"honda|toyota|ford|fiat|kia|hyundai|tesla|bmw|audi|mercedes|volkswagen|vw|golf|polo|passat"
    r"|peugeot|renault|citro[eë]n|skoda|seat|mazda|nissan|subaru|volvo|jeep|chevy|chevrolet|dodge"
    r"|chrysler|vauxhall|opel|corsa|astra|dacia|suzuki|mitsubishi|lexus|porsche|jaguar|mini cooper"
    r"|land rover|range rover|prius|civic|corolla|camry|focus|fiesta|leaf|jazz|yaris|clio|byd"
    r"|polestar|buick|cadillac|gmc|infiniti|acura|alfa romeo|rav4|cr-?v"
)
_PHONES = (
    r"iphone|pixel|galaxy|samsung|android|nokia|huawei|oneplus|xiaomi|fairphone|motorola|oppo"
    r"|flip phone|dumb ?phone|blackberry|redmi"
)
_LAPTOPS = r"macbook|thinkpad|chromebook|dell|lenovo|xps|zenbook|surface laptop|framework laptop"
_SCHOOLS = r"school|primary|academy|college|high|elementary|kindergarten|nursery|grammar|preschool"
_GYMS = (
    r"gym|fitness|crossfit|climbing|leisure cent(?:re|er)|pilates|yoga studio|ymca|health club"
    r"|puregym"
)
# Kinds of things that several verbs tell of: name, what is said, and where the value stands.
_VERB_SLOTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"(?P<whose>.+?) (?:now |just |recently |also )?(?:{pattern})"))
    for name, pattern in (
        ("car", rf"{_HAS} (?P<value>[^,;:]*?\b(?i:{_CARS})\b[^,;:]{{0,30}})$"),
        ("phone model", rf"{_HAS} (?P<value>[^,;:]*?\b(?i:{_PHONES})\b[^,;:]{{0,30}})$"),
        ("laptop", rf"{_HAS} (?P<value>[^,;:]*?\b(?i:{_LAPTOPS})\b[^,;:]{{0,30}})$"),
        (
            "bank",
            r"(?:banks with|is with|moved (?:all )?(?:their|the) money (?:over )?to"
            r"|moved (?:their )?bank(?: account)? to|switched (?:banks|accounts?) to)"
            r" (?P<value>(?:the )?[A-Z][^,;:]{1,30})$",
        ),
        (
            "school",
            r"(?:goes to|attends|started(?: at)?|is starting at|is at|moved to|switched to"
            r"|transferred to|changed to|is now at)"
            rf" (?P<value>(?:the )?[A-Z][^,;:]*?\b(?i:{_SCHOOLS})\b[^,;:]{{0,20}})$",
        ),
        (
            "gym",
            r"(?:goes to|joined|is a member of|trains at|works out at|switched to|signed up (?:at"
            rf"|for|with)|moved to|is at|climbs at) (?P<value>[^,;:]*?\b(?i:{_GYMS})\b"
            r"[^,;:]{0,40})$",
        ),
        (
            "commute",
            r"(?P<value>(?:takes|gets|catches|rides) (?:the|a|their) \w+|cycles|bikes|walks|drives"
            r"|carpools|scoots) (?:in |over )?to (?:work|school|the office|uni|campus|college)\b.*",
        ),
        (
            "doctor",
            r"(?:is (?:now )?with|sees|switched to|is seeing) (?P<value>Dr\.? [A-Z][\w'’-]+)$",
        ),
        (
            "study",
            r"(?:is studying|studies|majors in|is majoring in|is doing a (?:degree|bsc|ba|master'?s"
            r"|msc|phd) in|switched(?: from [^,;:]{1,30})? to|changed (?:their )?(?:major|degree"
            r"|course) (?:from [^,;:]{1,30} )?to) (?P<value>(?!a |an |the |their )[a-zA-Z ]{3,30}?)"
            r"(?: at [^,;:]+)?$",
        ),
        (
            "diet",
            r"(?:is|became|went|has gone|turned|eats|is eating|has been)(?: back to(?: being)?)?"
            r" (?:a )?(?:strict |mostly |fully )?"
            r"(?P<value>vegan|vegetarian|pescatarian|veggie|omnivore|carnivore|keto)\b.*",
        ),
        (
            "weight",
            r"(?:weighs|is down to|is up to) (?P<value>\d[\w.]* ?(?:kg|kilos|lbs?|pounds"
            r"|stone)?)\b.*",
        ),
        (
            "department",
            rf"(?:is|works) (?:on|in) (?P<value>(?:the )?(?i:{DEPARTMENTS}))(?: at work)?$",
        ),
        ("shift", rf"(?:is|works)(?: on)? (?P<value>{SHIFTS})(?: at work)?$"),
        ("salary", r"(?:earns|makes|is paid|gets paid) (?P<value>[£$€]?\d[^,;:]*)$"),
        (
            "rent",
            r"pays (?P<value>[£$€]?\d[\d,.]*)[^,;:]*? (?:rent|for (?:the|their) (?:flat|room"
            r"|apartment))\b.*",
        ),
    )
)
_LONGEST_CLAIM = 200  # characters: what is longer tells a story
# Kinds that can be several in one hand: only told as a change they take the place of each other.
_MANY_KINDS = frozenset(
    {
        "car",
        "phone model",
        "laptop",
        "study",
        "bank",
        "gym",
        "department",
        "shift",
        "车",
        "手机",
        "专业",
    }
)
_CHANGED_BY_VERB = re.compile(
    r"\b(?:switched|upgraded|replaced|moved|changed|transferred|instead|now|new)\b", re.I
)
_DAY = re.compile(
    rf"\d|\b(?:{DAY_AND_MONTH_NAMES}|next|this|tomorrow|today|week|month)\b",
    re.I,
)
_VALUE_LEAD = re.compile(r"^(?:(?:a|an|the|their|now|called|named|on|at|in) )+", re.I)
_NAMED = re.compile(r"[A-Z]|\d|@")
_WHO = re.compile(r"(?:(?:now|called|named|a|the) )*(?:(?:mr|mrs|ms|dr|prof)\b|[A-ZÀ-Þ])")
_ADJECTIVES = re.compile(r"^(?:new|current|old|latest|first|second|other|actual|main|own|next) ")


def read_slot(text: str) -> Slot | None:
    """The slot that a claim fills, None where its words name none. In `text` the subject is marked
    (`frames.mark_subject`)."""
    if len(text) > _LONGEST_CLAIM:
        return None
    if detect_language(text) == "zh":
        found = read_chinese_slot(text)
        return Slot(*found) if found else None
    return _read_english_slot(text)


def fills_slot_anew(new: Slot, old: Slot | None, *, one_by_default: bool = False) -> bool:
    """Whether the new claim fills the same slot with another value, so that the old one is over.
    `one_by_default`: of what nobody knows to be many, one has one."""
    if old is None or new.whose != old.whose or not _is_same_thing(new, old):
        return False
    if new.one_of_several and not new.renewed:
        return False
    if new.name.split()[-1] in EVENTS and _tells_day(new.value) != _tells_day(old.value):
        return False  # another day does not say that it is somewhere else
    if _fold_value(new.value) == _fold_value(old.value) or not new.value or not old.value:
        return False
    if _says_more(new.value, old.value):
        return False
    one = new.single or (one_by_default and new.name not in _MANY_KINDS)
    return one or new.renewed


def _is_same_thing(new: Slot, old: Slot) -> bool:
    """Of an occasion that was put off, whatever it was called more closely before."""
    moved = new.renewed and new.name in EVENTS
    return new.name == old.name or (moved and old.name.endswith(f" {new.name}"))


def _tells_day(value: str) -> bool:
    return _DAY.search(value) is not None


def _says_more(one: str, other: str) -> bool:
    """Whether one value is the other with more or fewer words: "Jazz", "a red Honda Jazz"."""
    a, b = ({*re.findall(r"\w+", each.casefold())} for each in (one, other))
    return bool(a and b) and (a <= b or b <= a)


def _fold_value(value: str) -> str:
    return " ".join(re.findall(r"[\w@.+-]+", value.casefold()))


@lru_cache(maxsize=4096)
def _read_english_slot(text: str) -> Slot | None:
    told = text.strip().rstrip(".!").replace(f"{SELF} and others", SELF)
    renewed = _RENEWED.search(told) is not None
    said = strip_time(told)
    for pattern in (_MOVED_NOUN, _NOUN_MOVED):
        if (found := pattern.fullmatch(said)) and (slot := _fill_noun(found, renewed=True)):
            return None if slot.name in _PEOPLE else slot
    for name, pattern in _VERB_SLOTS:
        if found := pattern.fullmatch(said):
            changed = _CHANGED_BY_VERB.search(told) is not None
            value = _VALUE_LEAD.sub("", found["value"])
            return Slot(_name_bearer(found["whose"]), name, value, name not in _MANY_KINDS, changed)
    for pattern in (_NOUN_IS, _IS_NOUN):
        if (found := pattern.fullmatch(said)) and (slot := _fill_noun(found, renewed=renewed)):
            return slot
    return _read_occasion(told, renewed=renewed)


def _read_occasion(told: str, *, renewed: bool) -> Slot | None:
    """On what day something is, which stands last: "the flight is on Friday"."""
    if found := _HAS_OCCASION.fullmatch(told):
        slot = _fill_noun(found, renewed=renewed)
        return slot and replace(slot, one_of_several=True)
    found = _NOUN_IS.fullmatch(told)
    is_occasion = found is not None and found["noun"].split()[-1].lower() in EVENTS
    return _fill_noun(found, renewed=renewed) if found and is_occasion else None


_BEARER = re.compile(r".+['’]s? [a-z-]+(?: [a-z-]+)? (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?)")


def _name_bearer(whose: str) -> str:
    """("Ana's daughter Ella") → "ella"."""
    found = _BEARER.fullmatch(whose)
    return (found["name"] if found else whose).casefold()


def _fill_noun(found: re.Match[str], *, renewed: bool) -> Slot | None:
    groups = found.groupdict()
    whose, noun = groups.get("whose") or groups.get("who") or "", found["noun"].lower()
    if re.search(r"\b(?:not|no|never)$", whose.rpartition(" ")[0]):
        return None
    former = re.match(r"(?:old|former|ex|previous|late|first) ", noun)
    if former:
        return None
    while _ADJECTIVES.match(noun):
        noun = _ADJECTIVES.sub("", noun)
    noun = _SAME_NOUN.get(noun, noun)
    head = noun.split()[-1]
    value = _VALUE_LEAD.sub("", found["value"])
    if noun == "phone":
        noun = "phone number" if len(re.findall(r"\d", value)) > 5 else "phone model"
    known = noun.replace(" ", "-") in _SINGLE_NOUNS or noun.startswith(("favourite ", "favorite "))
    if noun.split()[0] in ("not", "no") or re.match(r"(?:not|no|never|gone|dead)\b", value):
        return None
    if not known and not _NAMED.search(value):
        return None
    # "It" was taken for the wrong thing: no number is an address of mail.
    if noun in _SHAPES and not _SHAPES[noun].search(value):
        return None
    if known and not _NAMED.search(value) and not noun.startswith("fav"):
        return None
    if head in _PEOPLE and not _WHO.match(found["value"]):
        return None  # "my dad is on metformin now": who he is stays as it was
    many = head in _MANY_NOUNS or bool(re.search(r"[^s]s$", head))
    if many and not renewed:
        return None
    return Slot(_name_bearer(whose), noun, value, known, renewed)
