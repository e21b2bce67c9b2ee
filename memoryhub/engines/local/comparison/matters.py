"""Whether one claim can contradict another at all, by what each of them is told of.

How a thing is ("the workshop is cold") and what somebody does with it ("Ana shares the workshop",
"Ana sold it") stand side by side, and so does whatever is told beside whose child somebody is. What
has a value (a name, a number, a kind of thing) may take the place of another. What was done
in passing ("the vet saw the dog", "Ana told them again") ends nothing, nor does a plan carried out
contradict the plan, nor one taste another one of other things.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memoryhub.engines.local.comparison.pairs import ClaimView, describe_meaning, find_cues
from memoryhub.engines.local.grammar.clauses import SUBJECT_DEPENDENCIES
from memoryhub.engines.local.grammar.parse import parse_texts
from memoryhub.engines.local.grammar.subjects import is_person_noun
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.local.wordlists import split_words

if TYPE_CHECKING:
    from spacy.tokens import Token

# Verbs that give a thing a value, as "is" does before a noun.
_VALUE_VERBS = split_words("""
    be become call name cost read say run go stand live belong come move change switch turn push
    postpone rise raise increase drop happen take last
""")
_BARE_WORDS = split_words("""
    come go be do say agree know mean think laugh smile see too also again always often everywhere
    along around then now course sure yes well fine okay ok really still just already here there
    today soon thing
""")
# What one does in passing: afterwards nothing is otherwise.
_PASSING_VERBS = split_words("""
    see tell say talk ask visit meet watch hear speak mention show thank laugh look remember explain
    greet wave smile call phone text write
""")
_CONTACT = re.compile(r"\b(?:talk|speak|text|meet|see)(?:s|ing)?\b|说话|联系|见面|来往", re.I)
_IDENTITY = re.compile(
    r"\b(?:wife|husband|partner|spouse|son|daughter|mother|father|sister|brother|friend)\b"
    r"|妻子|老婆|丈夫|老公|儿子|女儿|妈妈|爸爸|姐姐|妹妹|哥哥|弟弟|朋友"
)
_MEANWHILE_ZH = re.compile("的时候|期间")
_TASTE = re.compile(r"\b(?:dis)?(?:like|love|enjoy|prefer|hate)s?\b|喜欢|喜爱|热爱|讨厌", re.I)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bweekends?\b", re.I)
_STAYS = re.compile(r"\b(?:the )?same\b|\bstill\b|没动|没变|没换|照旧|照样|还是老样子", re.I)
_NOT_YET_ZH = re.compile(
    "(?:还没有?|尚未|还未|没能)(?:戒|辞|离|搬|换|卖|退|分手|停|改|转)"
    "|(?:戒|辞|离|搬|换|卖|退|停|改|转).{0,4}(?:失败|没成|不成)"
)
_BORN_SO = re.compile(
    r"(?:is|was) .{1,80}['’]s? (?:mother|mum|mom|father|dad|son|daughter|sister|brother|twin"
    r"|aunt|uncle|cousin|niece|nephew|grand\w+)\.$"
    r"|^[^，,]{1,12}是.{1,12}?(?:妈妈?|爸爸?|母亲|父亲|儿子|女儿|闺女|姐姐|妹妹|哥哥|弟弟|外婆|外公|奶奶|爷爷"
    r"|姥姥|姥爷|姑姑|舅舅|阿姨|叔叔|表[姐妹哥弟]|堂[姐妹哥弟]|侄[子女]|外甥女?)。$"
)
_DEGREE = r"(?:有点儿?|有些|很|挺|特别|非常|比较|太|蛮|真|越来越|不太|不怎么)"
_QUALITY_ZH = re.compile(rf"(?P<thing>[{HAN}]{{1,6}}?)(?P<how>{_DEGREE}[{HAN}]{{1,4}}?)。?$")
_HAVING_ZH = re.compile("放弃|送给|送人|卖|扔|退|转让|不要|买|换|在一家|找到|租|分租|合用")
_PLACE_ZH = re.compile("公司|单位|学校|店里|厂里|医院")
_LIKING_ZH = re.compile(rf"{_DEGREE}?(?:喜欢|满意|开心|高兴|感动)。?$")


@dataclass(frozen=True, slots=True)
class ClaimMatter:
    """What a claim is told of: `thing` is the noun of a subject that is no person, "" for one.
    `is_quality`: it says how the thing is, with no value. `named`: nouns of its subject; `words`:
    all of its nouns. `is_passing`: it happened and left all as it was. `is_past_quality`: the thing
    was so, which says nothing of what it is now."""

    thing: str = ""
    is_quality: bool = False
    is_empty: bool = False
    named: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    is_passing: bool = False
    is_past_quality: bool = False


def may_contradict(new: ClaimView, old: ClaimView, aliases: Collection[str] = ()) -> bool:
    """Whether a person is to be asked at all if the new claim puts an end to the older one."""
    if new.correction:
        return True
    if new.polarity == "holds" and _BORN_SO.search(old.text):
        return False
    if _NOT_YET_ZH.search(new.text):
        return False
    owners = tuple(dict.fromkeys(filter(None, (new.owner, old.owner, *aliases))))
    if _STAYS.search(_cut_told(new.text)) and not _find_ending_cues(new):
        return False
    names = frozenset(word.casefold() for alias in aliases for word in alias.split())
    chinese = detect_language(new.text) == "zh"
    plain = not (chinese or new.predicate_key or _find_ending_cues(new))
    if plain and read_matter(new.text, names).is_passing:
        return False
    if old.predicate_key and old.polarity == "holds":
        return True
    if _stands_beside(new, old, owners):
        return False
    if chinese:
        return _may_contradict_in_chinese(new, old, owners)
    if _WEEKDAY.search(new.text) and _WEEKDAY.search(old.text):
        return True
    ours, theirs = read_matter(new.text, names), read_matter(old.text, names)
    if (ours.is_empty and new.polarity == "holds") or theirs.is_empty:
        return False
    if theirs.is_quality and ours.thing != theirs.thing and theirs.named & ours.words:
        return False
    beside = ours.is_quality and ours.thing != theirs.thing and ours.named & theirs.words
    return not (beside and not _tells_end(new, old, ours))


_STATUS_ALONE_ZH = re.compile(
    r"[^，。]{1,20}?(?:[再二又]婚|结婚|领证|订婚|怀孕|怀上|生(?:孩子|娃|了个?(?:儿子|女儿))?)了?。?$"
)
_COUPLE_ZH = re.compile(
    "婚|单身|对象|[男女]朋?友|谈恋爱|相亲|同居|一个人|独居|[备怀]孕|孕|孩子|娃|没生|产假"
)


def tells_status_alone(new: str, old: str) -> bool:
    """Whether it says no more than that somebody married, or has a child, and the older claim
    speaks of nothing of the kind: who married again may live where they lived."""
    return bool(_STATUS_ALONE_ZH.match(new)) and not _COUPLE_ZH.search(old)


_MONTH_ZH = re.compile(r"(?<!\d)(\d{1,2}|[一二三四五六七八九十]{1,2})月(?!份?工资)")
_MOVED_ZH = re.compile("改|推迟|提前|延|挪|换")


def names_other_month(new: str, old: str) -> bool:
    """Whether it is of another month than a plan, and moves nothing: who cannot come in October
    says nothing of the visit in August."""
    ours, theirs = ({*_MONTH_ZH.findall(text)} for text in (new, old))
    return bool(ours and theirs) and not (ours & theirs or _MOVED_ZH.search(new))


def _stands_beside(new: ClaimView, old: ClaimView, owners: tuple[str, ...]) -> bool:
    """Whether both hold, in any language: a plan and what came of it, who people are and whether
    they talk, two tastes of things that have nothing in common."""
    told = _cut_told(new.text)
    if old.polarity == "planned":  # "went to" may tell a switch, but of a plan that it was done
        cues = _select_ending_cues(re.sub(r"\bwent\b", "", told))
        return new.kind == "event" and not cues
    if _IDENTITY.search(old.text) and _CONTACT.search(told) and not _CONTACT.search(old.text):
        return not _find_ending_cues(new) - {"over", "wrong"}
    if not (_TASTE.search(told) and _TASTE.search(old.text)):
        return False
    ours, theirs = (describe_meaning(_cut_taste(each.text), owners) for each in (new, old))
    shared = ours.stems & theirs.stems or ours.topics & theirs.topics or ours.grams & theirs.grams
    return bool(ours.stems and theirs.stems) and not shared


def _cut_taste(text: str) -> str:
    """What is liked, or is not."""
    return re.split(r"[，,。.;；]", _TASTE.split(text, maxsplit=1)[-1], maxsplit=1)[0]


def _tells_end(new: ClaimView, old: ClaimView, ours: ClaimMatter) -> bool:
    """That a thing is gone, or is another: closed on Mondays it is neither."""
    over = new.polarity == "denied" or (new.polarity == "ended" and not ours.is_past_quality)
    over = over or bool(_find_ending_cues(new))
    return over and not (_WEEKDAY.search(new.text) and not _WEEKDAY.search(old.text))


def _find_ending_cues(claim: ClaimView) -> frozenset[str]:
    return _select_ending_cues(_cut_told(claim.text))


def _select_ending_cues(told: str) -> frozenset[str]:
    return find_cues(told) & {"over", "left", "switch", "new", "wrong"}


def _cut_told(text: str) -> str:
    """A claim without the question that it answers, and without who says it."""
    return text.rpartition(": ")[2]


@lru_cache(maxsize=1024)
def read_matter(text: str, names: frozenset[str]) -> ClaimMatter:
    """What an English claim is told of. `names`: words of the subject's own, folded. Parses it:
    only for what a person would be asked about."""
    parsed = parse_texts([_cut_told(text)])
    doc = next((piece.doc for pieces in parsed for piece in pieces), None)
    if doc is None:
        return ClaimMatter()
    root = next((t for t in doc if t.dep_ == "ROOT"), doc[0])
    subject = next((c for c in root.children if c.dep_ in SUBJECT_DEPENDENCIES), None)
    nouns = {t.lemma_.lower(): t for t in doc if t.pos_ in ("NOUN", "PROPN")}
    nouns = {word: token for word, token in nouns.items() if word not in names}
    named = frozenset(word for word, token in nouns.items() if _belongs_to(token, subject))
    told = {t.lemma_.lower() for t in doc if not (t.is_punct or t.is_stop or t.is_space)}
    told -= {t.lemma_.lower() for t in doc if _belongs_to(t, subject)}
    is_empty = subject is not None and not told - _BARE_WORDS - names
    thing = _get_thing(subject, names)
    is_quality = bool(thing and subject is not None and not _has_value(root, subject, names))
    return ClaimMatter(
        thing,
        is_quality,
        is_empty,
        named,
        frozenset(nouns),
        is_passing=root.tag_ == "VBD" and root.lemma_ in _PASSING_VERBS,
        is_past_quality=root.tag_ == "VBD" and root.lemma_ == "be",
    )


def _belongs_to(token: Token, subject: Token | None) -> bool:
    return subject is not None and (token == subject or subject in token.ancestors)


def _get_thing(subject: Token | None, names: Collection[str]) -> str:
    if subject is None or subject.pos_ != "NOUN" or subject.lower_ in names:
        return ""
    return "" if is_person_noun(subject) else subject.lemma_.lower()


def _has_value(root: Token, subject: Token, names: Collection[str]) -> bool:
    """Whether it says which, what or how much, and not only how."""
    if root.lemma_ not in _VALUE_VERBS:
        return False
    rest = [t for t in root.subtree if not _belongs_to(t, subject) and t.lower_ not in names]
    if any(t.like_num or (t.pos_ == "PROPN" and not _WEEKDAY.search(t.text)) for t in rest):
        return True
    return root.lemma_ != "be" or not any(c.dep_ == "acomp" for c in root.children)


def _may_contradict_in_chinese(new: ClaimView, old: ClaimView, owners: tuple[str, ...]) -> bool:
    ours, theirs = (_drop_owners(claim.text, owners) for claim in (new, old))
    if _LIKING_ZH.search(theirs):  # of nothing
        return False
    if new.kind == "event" and _MEANWHILE_ZH.search(ours) and not _find_ending_cues(new):
        return False
    place = _PLACE_ZH.match(theirs)
    if place and not ours.startswith(place[0]) and _HAVING_ZH.search(ours):
        return False  # how things go at work, and where one works
    found = _QUALITY_ZH.fullmatch(theirs)
    if found is None:
        return True
    acts = _HAVING_ZH.search(ours) is not None
    return not (acts and not _QUALITY_ZH.fullmatch(ours))


def _drop_owners(text: str, owners: tuple[str, ...]) -> str:
    for owner in owners:
        text = text.replace(f"{owner}的", "").replace(owner, "")
    return text
