"""Two claims side by side, in numbers: what speaks for one slot, and what for a change in it.

Nothing is decided here. What the numbers are worth is learned (`manage.py lab train-deciders`), for
English and for Chinese by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from math import log1p
from typing import NamedTuple

from memoryhub.engines.local.chinese.endings import may_end_claim
from memoryhub.engines.local.comparison.topics import KINDS_OF_THINGS, TOPICS, find_topics
from memoryhub.engines.local.dates.calendar import MONTHS, SEASONS
from memoryhub.engines.local.language import HAN
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import FactKind, Polarity

_WORD = re.compile(rf"[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*|[{HAN}]+")
_PART = re.compile(r"[,;，；、](?!\d)|\band\b|[和跟]|以及")
_NUMBER = re.compile(r"\d[\d.,:/]*")
_SUFFIX = re.compile(r"(?:'s|’s|ings?|ies|ied|es|s|ed|y|e)$")
_STOP_WORDS = split_words("""
    a an the this that these those his her its their our your my mine hers theirs he she it they we
    you i him them us me is are was were be been being am has have had do does did will would can
    could shall should may might and or but so because as than then of in on at for with from to
    into by about over up out off who which what where when how also too very just now still already
    there here some any no not n't don't doesn't isn't aren't user person's user's
""")
_STOP_HAN = frozenset(
    "的了是在有和与及也都就还又很把被给跟到从对于为着过吧吗呢啊呀嘛哦个这那他她它我你您们其一"
)
# Numbers that mean something only where the embedder reads the language.
LANGUAGE_BOUND = frozenset({"cosine", "cosine_lead"})
# What tells the kind of a value, whatever it is the value of.
_SHAPES: Mapping[str, re.Pattern[str]] = {
    "mail": re.compile(r"\S@\S{1,255}?\.\w"),
    "money": re.compile(
        r"[£$€¥]\s?\d|\d\s?(?:k|grand|pounds?|dollars?|euros?|bucks|quid|pesos|francs)\b"
        r"|(?:rent|salary|earns?|costs?|price|paid|pays|charges)\b.{0,60}?\d"
        r"|\d\s?(?:元|块|万|千|刀|美金)|(?:房租|工资|月薪|年薪|价|报价|租金).{0,60}?\d", re.I),
    "phone": re.compile(
        r"\b(?:phone|number|mobile|cell)\b.{0,60}?\d|电话|手机号|号码|\d{7,}", re.I),
    "age": re.compile(r"\b(?:is|turned|aged?) \d{1,2}(?: years|\W*$)|years old|\d+岁", re.I),
    "clock": re.compile(
        r"\d(?::\d\d)?\s?[ap]\.?m\b|\d:\d\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
        r"|(?:周|星期|礼拜)[一二三四五六日天]|\d点", re.I),
    "day": re.compile(
        r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\w* \d|\d(?:st|nd|rd|th)?"
        r" (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d+月\d+|\d+[号日]", re.I),
}  # fmt: skip
# Words of a message that say what becomes of something known. Closed classes, not topics.
_CUES: Mapping[str, re.Pattern[str]] = {
    "now": re.compile(
        r"\b(?:now|these days|nowadays|currently|since|from now on|as of|finally)\b"
        r"|现在|目前|如今|眼下|这会儿|从此|已经|终于", re.I),
    "over": re.compile(
        r"\b(?:no longer|any ?more|not any|isn'?t|aren'?t|don'?t|doesn'?t|used to|over with|"
        r"done with|is over|it'?s over|never again|used up|no more|not since|ex)\b"
        r"|不再|再也不|不用|不是|没有?了|没再|不.{1,6}了|算了|结束|完了|黄了", re.I),
    "left": re.compile(
        r"\b(?:left|leaving|quit|sold|dropped|ditched|gave up|given up|give up|stopped|cancel\w*"
        r"|ended|broke|split|lost|died|gone|retired|resigned|fired|sacked|closed|shut|moved out"
        r"|got rid|returned|gave|binned|scrapped|off|finished|packed in|dumped|divorced)\b"
        r"|辞|离职|离开|离了|退|卖|戒|停|分手|取消|关了|关门|倒闭|丢|死|走了|送|搬走|不干|裁|黄|撤|扔"
        r"|吹了", re.I),
    "switch": re.compile(
        r"\b(?:instead|switch\w*|swap\w*|chang\w+|replac\w+|moved|moving|went (?:to|from)|became|"
        r"turned (?:in)?to|upgrad\w+|transferred|promoted|raised|rais\w+|up(?:ped)? to|down to|"
        r"went up|went down|back to|renamed|rescheduled|postponed|pushed|bumped)\b"
        r"|换|改|变成|变了|转|调|搬|升|涨|降|跳槽|推迟|提前|延|改成|减", re.I),
    "new": re.compile(r"\b(?:new|another|different|second|latest|next)\b|新|另|第二", re.I),
    "also": re.compile(
        r"\b(?:also|too|as well|besides|in addition|on top|both|plus|another|extra|a second)\b"
        r"|也|还|另外|又|同时|再加|兼|都", re.I),
    "still": re.compile(
        r"\b(?:still|same|as (?:before|ever|always|usual)|stay\w*|kept|keep\w*|again|yes|yep|yeah|"
        r"remember|told you|as i said|like i said)\b|还是|仍|照旧|照样|一直|依然|没变|还在|对啊"
        r"|没错|说过", re.I),
    "wrong": re.compile(
        r"\b(?:actually|correction|wrong|meant|mistake|typo|misspoke|scratch that|i mean|sorry)\b"
        r"|\bnot \w+|更正|说错|写错|打错|记错|口误|不对|应该是|其实|搞错|弄错", re.I),
    "plan": re.compile(
        r"\b(?:will|going to|gonna|plan\w*|hop(?:e|ing)|want\w*|might|maybe|thinking|would|"
        r"consider\w*|could|if)\b|打算|计划|想|准备|考虑|可能|也许|要是|如果|将|会", re.I),
    "once": re.compile(
        r"\b(?:back then|years ago|as a kid|when i was|used to|until|once|formerly"
        r"|in (?:19|20)\d\d)\b|以前|曾经|当年|小时候|那时|原来|过去|之前", re.I),
    "more": re.compile(
        r"\b(?:second|another|also|too|as well|extra|both)\b|又|也|另|第二|还有|俩",
        re.I,
    ),
    "done": re.compile(
        r"\b(?:passed|finished|won|made|met|saw|went|bought|got|had|visited|came|beat|told|said|was"
        r"|were|been)\b|了|过$",
        re.I,
    ),
    "asks": re.compile(r"[?？]"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One side of a pair. `object` is what the claim says of its owner; `said` are the words that a
    new claim rests on, "" for one that is held."""

    text: str
    owner: str
    said_at: datetime
    person: str = ""  # whom the owner's name stands for; "" for nobody else
    predicate_key: str = ""
    is_single: bool = False
    verb: str = ""
    object: str = ""
    kind: FactKind = "state"
    polarity: Polarity = "holds"
    correction: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class ClaimMeaning:
    """What a text consists of, its owner taken out. `stems` tell something, `order` are all."""

    order: tuple[str, ...]
    stems: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    units: frozenset[str]
    grams: frozenset[str]
    shapes: frozenset[str]
    topics: frozenset[str]


def describe_pairs(
    new: ClaimView, held: Sequence[ClaimView], similar: Sequence[float | None], subject: str = ""
) -> list[dict[str, float]]:
    """Of each claim held, what its pair with the new one looks like, by the names of the numbers.

    `similar`: cosines of the two texts' vectors; None: not known. `subject`: whom all is about.
    """
    cues = find_cues(new.said), find_cues(new.text)
    rows = [
        _describe_pair(new, old, cosine, cues, subject)
        for old, cosine in zip(held, similar, strict=True)
    ]
    times = sorted({old.said_at for old in held})
    for row, old in zip(rows, held, strict=True):
        row["recent"] = times.index(old.said_at) / max(1, len(times) - 1)
    for name in ("cosine", "stems", "grams", "said_old", "objects"):
        ranked = sorted((row[name] for row in rows), reverse=True)
        for row in rows:
            other = ranked[1] if row[name] == ranked[0] and len(ranked) > 1 else ranked[0]
            row[f"{name}_lead"] = row[name] - other if len(ranked) > 1 else 0.2
    return rows


class TellingWords(NamedTuple):
    """Words of a message for a change in what is known, and against one."""

    ending: list[str]
    keeping: list[str]


_ENDING_CUES = ("now", "over", "left", "switch", "wrong", "new")
_KEEPING_CUES = ("also", "still", "once", "plan")


def list_telling_words(text: str) -> TellingWords:
    return TellingWords(_find_cue_words(text, _ENDING_CUES), _find_cue_words(text, _KEEPING_CUES))


def _find_cue_words(text: str, names: Iterable[str]) -> list[str]:
    found = (_CUES[name].search(text) for name in names)
    return list(dict.fromkeys(match[0].casefold() for match in found if match))


_LEAST_REPEATED, _LEAST_SLOT = 0.8, 0.5
# What a pair scores that was not read (`reading.describe_reading`), and the least of one that was
# from which on the new claim may end the older by itself.
UNREAD, _LEAST_READ = -8.0, -2.0
_SURELY_READ = 2.0


def is_repetition(row: Mapping[str, float], slot: float, ends: float) -> bool:
    """Whether the new claim says again, in its own words, what is held, and nothing beside it."""
    plain = not (row["new_over"] or row["new_planned"] or row["old_over"] or row["old_planned"])
    no_news = not (row["other_names"] or row["other_numbers"] or row["names_won"])
    told = row["new_in_old"] >= _LEAST_REPEATED and row["shared"] >= 2
    return bool(plain and no_news and told and row["same_owner"] and ends < slot >= _LEAST_SLOT)


def _get_person(claim: ClaimView) -> str:
    return (claim.person or claim.owner).casefold()


# Why it ended, and of what it is not told ("the vet was called away, not Rex").
_BEHIND_ENDED = re.compile(r" any more,|(?<=\w), (?:and )?not (?=[A-Z])")


def names_ended_thing(new: ClaimView, old: ClaimView, owners: tuple[str, ...] = ()) -> bool:
    """Whether a claim that something is over names, in English, what the older one tells: ("Ana
    quit the bakery", "Ana bakes at the bakery"), or its kind: coffee, where it has an espresso."""
    own = owners or (new.owner, old.owner)
    ended, *_ = _BEHIND_ENDED.split(new.text)
    named, told = describe_meaning(ended, own), describe_meaning(old.text, own)
    things = named.stems - _ENDING_WORDS
    if not 0 < len(things) <= _MOST_NAMED or old.polarity in ("ended", "denied"):
        return False
    kinds = named.topics & told.topics & KINDS_OF_THINGS
    heads = describe_meaning(new.object, own).stems - _ENDING_WORDS if new.object else things
    return bool(things <= told.stems or (kinds and heads) or (heads and heads <= told.stems))


def may_take_place(row: Mapping[str, float]) -> bool:
    """Whether a new claim may end one held unasked. It must not say that it stands beside
    something, nor, read by itself, if it was, speak against ending that one: another claim of its
    message may be what does. Of another owner its reading, or its message's, has to leave hardly a
    doubt; and both, where it says that something is over and does not name it: who gives up the
    piano may still swim."""
    unlikely = UNREAD < row["read"] < _LEAST_READ
    unnamed = row["new_over"] and not (row["thing_ended"] or row["ending_named"])
    readings = row["read"], row["read_said"]
    theirs = row["same_owner"] or max(readings) >= _SURELY_READ
    named = not unnamed or min(readings) >= _SURELY_READ
    return bool(theirs and named and not (row["own_more"] or unlikely))


def find_cues(text: str) -> frozenset[str]:
    """The kinds of words there that say what becomes of something known."""
    return frozenset(name for name, pattern in _CUES.items() if pattern.search(text))


def _describe_pair(
    new: ClaimView,
    old: ClaimView,
    cosine: float | None,
    cues: tuple[Collection[str], Collection[str]],
    subject: str,
) -> dict[str, float]:
    owners = (new.owner, old.owner, subject)
    a, b = describe_meaning(new.text, owners), describe_meaning(old.text, owners)
    said = describe_meaning(new.said, owners)
    keys = (new.predicate_key, old.predicate_key)
    over = new.polarity in ("ended", "denied")
    days = abs((new.said_at - old.said_at).total_seconds()) / 86_400
    row = {
        "cosine": 0.0 if cosine is None else cosine,
        "stems": _measure_overlap(a.stems, b.stems),
        "old_in_new": _measure_share(b.stems, a.stems),
        "new_in_old": _measure_share(a.stems, b.stems),
        "shared": min(4.0, len(a.stems & b.stems)),
        "grams": _measure_overlap(a.grams, b.grams),
        "opening": _count_shared_start(a.order, b.order),
        "closing": _count_shared_start(a.order[::-1], b.order[::-1]),
        "said_old": _measure_share(b.stems, said.stems),
        "said_old_grams": _measure_share(b.grams, said.grams),
        "same_owner": float(_get_person(new) == _get_person(old)),
        "owner_named": float(_is_named_in(new.owner, old) or _is_named_in(old.owner, new)),
        "same_key": float(keys[0] == keys[1] != ""),
        "other_key": float("" not in keys and keys[0] != keys[1]),
        "single_key": float(keys[0] == keys[1] != "" and (new.is_single or old.is_single)),
        "same_verb": float(stem_word(new.verb) == stem_word(old.verb) != ""),
        "same_object": float(_fold(new.object) == _fold(old.object) != ""),
        "objects": _measure_overlap(
            describe_meaning(new.object, owners).grams, describe_meaning(old.object, owners).grams
        ),
        "shared_names": min(2.0, len(a.names & b.names)),
        "other_names": float(bool(a.names - b.names) and bool(b.names - a.names)),
        "names_lost": float(bool(b.names) and not a.names),
        "names_won": float(bool(a.names) and not b.names),
        "shared_numbers": min(2.0, len(a.numbers & b.numbers)),
        "other_numbers": float(bool(a.numbers - b.numbers) and bool(b.numbers - a.numbers)),
        "same_unit": float(bool(a.units & b.units)),
        "same_shape": min(2.0, len(a.shapes & b.shapes)),
        "other_shape": float(bool(a.shapes ^ b.shapes)),
        "longer": max(-2.0, min(2.0, log1p(len(a.order)) - log1p(len(b.order)))),
        "topics": _measure_overlap(a.topics, b.topics),
        "shared_topics": min(3.0, len(a.topics & b.topics)),
        "old_topics_said": _measure_share(b.topics, said.topics),
        **{f"topic_{name}": float(name in a.topics & b.topics) for name in TOPICS},
        "new_length": log1p(len(a.order)),
        "old_length": log1p(len(b.order)),
        # What tells several things is not over because one of them is.
        "old_parts": min(3.0, float(len(_PART.findall(old.text)))),
        "new_over": float(over),
        "new_planned": float(new.polarity == "planned"),
        "old_over": float(old.polarity in ("ended", "denied")),
        "old_planned": float(old.polarity == "planned"),
        "new_event": float(new.kind == "event"),
        "old_event": float(old.kind == "event"),
        "correction": float(new.correction),
        "days": log1p(min(7.0, days)),
        "same_turn": float(days < 1e-5),
        "ending_named": float(over and may_end_claim(new.text, old.text)),
        "thing_ended": float(over and names_ended_thing(new, old, owners)),
        "object_told": _measure_share(
            describe_meaning(new.object, owners).stems, b.stems if new.object else ()
        ),
        "object_said": _measure_share(
            describe_meaning(old.object, owners).stems, said.stems if old.object else ()
        ),
        "same_opener": float(_find_opener(new, subject) == _find_opener(old, subject)),
        "ends_dated": float(
            bool(re.search(r"\b(?:until|till|to) (?:about |around )?\d{4}", new.text))
        ),
        **{f"cue_{name}": float(name in cues[0]) for name in _CUES},
        **{f"own_{name}": float(name in cues[1]) for name in _CUES},
    }
    return row


@lru_cache(maxsize=4096)
def describe_meaning(text: str, owners: tuple[str, ...] = ()) -> ClaimMeaning:
    """What `text` consists of without its `owners`."""
    for owner in filter(None, owners):
        # "the user" opens a sentence with a capital.
        name = rf"[{re.escape(owner[0] + owner[0].upper())}]{re.escape(owner[1:])}"
        text = re.sub(
            rf"(?<!\w){name}(?:['’]s)?(?!\w)|(?<=[{HAN}]){name}|^{name}(?=[{HAN}])", " ", text
        )
    found = _WORD.findall(text)
    latin = [word for word in found if not _is_han(word)]
    han = " ".join(word for word in found if _is_han(word))
    pieces = "".join(" " if c in _STOP_HAN else c for c in han).split()
    folded = [word.casefold() for word in latin]
    stems = {stem_word(w) for w in folded if w not in _STOP_WORDS and not w[0].isdigit()}
    stems |= {p[n : n + 2] for p in pieces for n in range(max(1, len(p) - 1))}
    numbers = {n.strip(".,:/") for n in _NUMBER.findall(text)}
    units = {stem_word(b) for a, b in pairwise(folded) if a[0].isdigit() and not b[0].isdigit()}
    units |= set(re.findall(rf"\d\s?([{HAN}])", text))
    solid = "".join(pieces) + " " + " ".join(folded)
    size = 3 if latin and not pieces else 1
    grams = {solid[n : n + size] for n in range(len(solid) - size + 1)} - {" "}
    return ClaimMeaning(
        tuple(folded) if not pieces else tuple("".join(found)),
        frozenset(stems | numbers),
        frozenset(
            w.casefold() for w in latin if w[0].isupper() and w.casefold() not in _STOP_WORDS
        ),
        frozenset(numbers),
        frozenset(units),
        frozenset(grams),
        frozenset(name for name, pattern in _SHAPES.items() if pattern.search(text)),
        find_topics(folded, han.replace(" ", "")),
    )


def _is_han(word: str) -> bool:
    return "\u3400" <= word[0] <= "\ufaff"


@lru_cache(maxsize=8192)
def stem_word(word: str) -> str:
    """Enough of a word to find "moves" by "moving"."""
    folded = word.casefold()
    short = _SUFFIX.sub("", folded)
    return short if len(short) >= 3 else folded


# Words by which something ends; what is left of a claim names it.
_ENDING_WORDS = frozenset(
    map(
        stem_word,
        split_words("""
            stop stopped quit left leave leaving gave give given cancelled canceled cancel dropped
            drop sold sell finished ended end packed ditched binned scrapped resigned retired cut
            longer more anymore used done over off job work since last ago year month week today
            yesterday finally came easter christmas
        """)
        | {*MONTHS, *SEASONS},
    )
)
_MOST_NAMED = 3  # words that name a thing: more tell a story


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _measure_overlap(a: Collection[str], b: Collection[str]) -> float:
    return 2 * len(set(a) & set(b)) / (len(a) + len(b)) if a and b else 0.0


def _measure_share(part: Collection[str], whole: Collection[str]) -> float:
    return len(set(part) & set(whole)) / len(part) if part else 0.0


def _count_shared_start(a: Sequence[str], b: Sequence[str]) -> float:
    found = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        found += 1
    return min(6.0, found)


def _find_opener(claim: ClaimView, subject: str) -> str:
    """Whom or what a claim's sentence begins with; "" for its owner or the one all is about."""
    for name in (claim.owner, subject):
        if name and claim.text.casefold().startswith(name.casefold()):
            rest = claim.text[len(name) :]
            owned = re.match(r"['’]s? (\w+)", rest) or re.match(r"的(\S{1,2})", rest)
            return stem_word(owned[1]) if owned else ""
    opener = re.match(rf"[{HAN}]{{2}}|[^\W\d_][\w'’.-]*", claim.text)
    return stem_word(opener[0]) if opener else ""


def _is_named_in(owner: str, claim: ClaimView) -> bool:
    return bool(owner) and owner.casefold() in claim.text.casefold()
