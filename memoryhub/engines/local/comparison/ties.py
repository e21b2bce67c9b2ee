"""What ends a tie to somebody named: a pet that died, a couple that split up, a boss who left.

"Priya left", "Biscuit died" and "Clara and Leo broke up" end what says that Priya is Ana's manager,
Biscuit Ana's dog, Clara Leo's girlfriend; what else is told of them stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from memoryhub.engines.local.chinese.endings import find_ended_thing, may_end_claim
from memoryhub.engines.local.claims.introductions import POST_HOLDERS
from memoryhub.engines.local.comparison.exchanges import begins_something
from memoryhub.engines.local.comparison.pairs import (
    ClaimView,
    describe_meaning,
    names_ended_thing,
)
from memoryhub.engines.local.grammar.verbs import is_dictionary_word
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.local.wordlists import CHINESE_BREEDS, split_words

_PARTNERS = split_words("girlfriend boyfriend gf bf partner fiancé fiancée fiance husband wife ex")
_PETS = split_words("""
    dog cat puppy pup kitten rabbit bunny hamster parrot budgie bird horse pony fish goldfish
    tortoise turtle snake lizard gecko pig goat hen chicken rat mouse ferret pet terrier labrador
    collie poodle beagle corgi dachshund spaniel retriever greyhound gerbil canary duck
""")
_HELD_POSTS = POST_HOLDERS | split_words("landlord landlady gp lead mentor lecturer professor vet")


# Nobody is who is "dead set on marine biology".
IS_DEAD = r"is dead(?=\W*$|[,.;!]| (?:and|now|since|because|after)\b)"


@dataclass(frozen=True, slots=True)
class _TieKind:
    """`ended`: what is said when such a tie is over; `nouns`: what the other one is called.
    `plainly`: what of it tells the end whatever else is read of it."""

    ended: re.Pattern[str]
    nouns: re.Pattern[str]
    plainly: re.Pattern[str] | None = None


def _compile_nouns(words: Collection[str], chinese: str) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?:(?<!\w)(?:{'|'.join(longest_first)})(?!\w)|{chinese})", re.I)


# A couple that is none any more, in words that say nothing else.
_COUPLE_OVER = (
    r"\b(?:broke up|broken up|split up|have split|(?:got|are|is|been|['’]re|finally) divorced"
    r"|(?:got|finali[sz]ed) (?:a|the|our|their) divorce|separated from)\b"
    r"|分手了|分开了|离婚了|离了婚"
)
COUPLE_OVER = re.compile(_COUPLE_OVER, re.I)
_KINDS = (
    _TieKind(
        re.compile(
            r"\b(?:broke up|broken up|split(?: up)?|divorced|separated|called it (?:off|quits)"
            r"|dumped|parted ways|are (?:done|over|through)|is over|ended (?:it|things)|finished)\b"
            r"|分手|分开了|离婚|离了|分了|掰了|吹了|黄了",
            re.I,
        ),
        _compile_nouns(
            _PARTNERS, "女朋友|男朋友|女友|男友|对象|老公|老婆|丈夫|妻子|未婚[夫妻]|在一起"
        ),
        re.compile(
            rf"{_COUPLE_OVER}|\b(?:separated|called it (?:off|quits)|dumped|parted ways)\b|掰了",
            re.I,
        ),
    ),
    _TieKind(
        re.compile(
            r"\b(?:died|passed away|passed on|put (?:\w+ ){0,2}?(?:down|to sleep)|ran away|rehomed"
            rf"|gave (?:\w+ )?away|is gone|{IS_DEAD}|lost)\b"
            r"|走了|去世|死了|没了|去了(?:汪星|喵星)|送人|走丢|丢了|安乐",
            re.I,
        ),
        _compile_nouns(
            _PETS,
            f"[狗猫犬兔鸟鱼龟]|宠物|{CHINESE_BREEDS}",
        ),
        re.compile(
            r"\b(?:died|passed away|(?:was|had to|we) put (?:\w+ ){0,2}?(?:down|to sleep))\b"
            r"|去世|过世|死了|走丢了",
            re.I,
        ),
    ),
    _TieKind(
        re.compile(
            r"\b(?:left|quit|resigned|retired|has gone|is gone|moved (?:on|out|away|back)|fired"
            r"|sacked|laid off|transferred|stepped down|not .{1,40} any ?more|no longer)\b"
            r"|离职|辞职|调走|调到|退休|搬走|搬出|走了|不干了|不教了|被裁|不(?:再)?是",
            re.I,
        ),
        _compile_nouns(
            _HELD_POSTS,
            "领导|老板|上司|经理|主管|同事|室友|舍友|房东|医生|大夫|教练|老师|导师|班主任|助理|保姆"
            "|阿姨|组长|总监",
        ),
    ),
)
# What has not happened, or befell nobody.
_UNREAL = re.compile(
    r"\b(?:nearly|almost|not|never|n['’]t|if|might|want(?:s|ed)? to|going to|about to|thinking"
    r"|wish|hope|dream(?:t|ed)?)\b|差点|没有?(?!了)|还没|如果|要是|想|打算|可能",
    re.I,
)
_NAME = re.compile(r"[A-Z][\w’-]+|Dr\.? [A-Z]\w+")
_NO_NAMES = split_words("""
    the their his her my our monday tuesday wednesday thursday friday saturday sunday january
    february march april may june july august september october november december user dr mr mrs ms
    a an this that yesterday today last we they he she it
""")
_LENGTH_OF_RUN = 3
_ASKED = re.compile(r'Asked "|[^,.]{1,40}: ')
_SELLS_ZH = re.compile(r"卖(?:给|到|得|[\d一二两三四五六七八九十])")  # what is sold as one's trade
_BEGUN_ZH = re.compile("报|买|养|租|办|签|订|加入|申请|参加|入手|领")
_MARKED_ZH = re.compile(r"(?:叫做?|姓|是)(?P<name>[一-鿿A-Za-z]{1,8}?)(?:[，。医老领经教]|$)")
_IS_ZH = re.compile(r"^(?P<name>[一-鿿A-Za-z]{1,6}?)是")


def ends_tie(new: ClaimView, old: ClaimView, aliases: Collection[str] = ()) -> str:
    """By what is said to be over, where the new claim ends the tie that the older one tells of; ""
    where it ends none."""
    over = new.polarity in ("ended", "denied")
    if old.polarity != "holds" or new.polarity == "planned":
        return ""
    if not over and is_unreal(new.text):
        return ""
    for kind in _KINDS:
        told = kind.ended if over else kind.plainly
        ended = told.search(new.text) if told else None
        noun = kind.nouns.search(old.text)
        if ended is None or noun is None:
            continue
        names = list_names(old.text, (*aliases,))
        if any(names_person(new.text, name) for name in names) and _is_tie(
            old.text, noun[0], names
        ):
            return ended[0]
    return ""


def tells_end_of_thing(new: ClaimView, old: ClaimView, aliases: Collection[str] = ()) -> bool:
    """Whether what is over is a thing that the older claim of the same person tells of."""
    owners = tuple(dict.fromkeys(filter(None, (new.owner, old.owner, *aliases))))
    if detect_language(new.text) == "zh":
        told, held = (_drop_names(text, owners) for text in (new.text, old.text))
        told = find_ended_thing(told)
        if _SELLS_ZH.search(told):
            return False
        begun = old.kind != "event" or _BEGUN_ZH.search(held) is not None
        return begun and (may_end_claim(told, held) or _share_run(told, held))
    over = old.kind == "event" and not begins_something(old.text)
    if over or _ASKED.match(new.text) or _ASKED.match(old.text):
        return False
    named = describe_meaning(new.object, owners).names & describe_meaning(old.text, owners).names
    return bool(named - _NO_NAMES) or names_ended_thing(new, old, owners)


def is_unreal(text: str) -> bool:
    """Whether it tells what has not happened, or not yet."""
    return _UNREAL.search(text) is not None


def _drop_names(text: str, names: Collection[str]) -> str:
    for name in names:
        text = text.replace(f"{name}的", " ").replace(name, " ")
    return text


def _share_run(one: str, other: str) -> bool:
    """Whether both have three Chinese characters in a row."""
    runs = (one[n : n + _LENGTH_OF_RUN] for n in range(len(one) - _LENGTH_OF_RUN + 1))
    return any(re.fullmatch(rf"[{HAN}]+", run) and run in other for run in runs)


def names_person(text: str, name: str) -> bool:
    if re.match(rf"[{HAN}]", name):
        return name in text
    plain = is_dictionary_word(name.lower())  # "will" is not Will
    case = re.NOFLAG if plain else re.I
    # Chinese goes on without a space: "Minh搬走了".
    letter = r"[^\W\u3400-\u9fff]"
    return re.search(rf"(?<!{letter}){re.escape(name)}(?!{letter})", text, case) is not None


def list_names(text: str, own: tuple[str, ...]) -> list[str]:
    known = {word for name in own for word in name.casefold().split()}
    if re.search(rf"[{HAN}]", text):
        found = [m["name"] for m in _MARKED_ZH.finditer(text)]
        found += [m["name"] for m in [_IS_ZH.match(text)] if m]
        return [name for name in found if name.casefold() not in known]
    return [
        name
        for name in _NAME.findall(text)
        if name.casefold() not in known | _NO_NAMES and len(name) > 1
    ]


def _is_tie(text: str, noun: str, names: Collection[str]) -> bool:
    """Whether a claim says no more than whose somebody is and what they are called."""
    if re.search(rf"[{HAN}]", text):
        return len(text) <= 24
    if re.search(r"\bcalled\b|\bnamed\b|\btogether\b|\b(?:is|been) with (?:their|his|her)\b", text):
        return True
    if re.search(rf"['’]s? (?:[\w-]+ )?{re.escape(noun)}\.?$", text):
        return True
    name = "|".join(map(re.escape, names))
    return (
        re.search(
            rf"{re.escape(noun)}(?:['’]s name)?(?: (?:at|in|for) [^,;]{{1,40}})?"
            r" (?:is|was)(?: now)?"
            rf" (?:(?:Dr|Mr|Mrs|Ms)\.? )?(?:{name})",
            text,
        )
        is not None
    )
