"""Names that were told wrong ("my dog is called Max, not Rex", "it's Siobhan, with a b"; spec E19).

Whoever puts a name right says nothing else, and whatever was told under the wrong name is so under
the right one. Here is read which name takes the place of which, and of what is held, which is told
of the one meant: two may go by one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain, takewhile

from memoryhub.engines.local.claims.corrections import SENTENCE
from memoryhub.engines.local.grammar.speech import straighten_quotes
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import NameCorrection, SourceSpan, Utterance

_NAME = r"[A-Z\u00c0-\u00de][\w'-]*(?: [A-Z\u00c0-\u00de][\w'-]*){0,2}"
_TYPED_NAME = r"(?-i:[\w'-]*\w(?: [A-Z\u00c0-\u00de][\w'-]*\b){0,2})"  # in small letters too
_NEW, _OLD = rf"(?P<new>{_TYPED_NAME})", rf"(?P<old>{_TYPED_NAME})"
_BARE_NEW, _BARE_OLD = rf"(?P<new>(?-i:{_NAME}))", rf"(?P<old>(?-i:{_NAME}))"
_SURELY = r"(?:actually |really |in fact |spelled |spelt )?"
_PRONOUN = r"(?:he|she|it|they|him|her|them|his|its|their)"
_THING = r"(?:(?:my|our|his|her|their|the|that|this)|[A-Z][\w-]*'s)(?: [\w'-]+?){1,4}?"
_WHO = rf"\b(?P<who>{_THING}|{_PRONOUN})"
_IS, _IS_NOT = r"(?:'?s| is|'re| are| was)", r"(?:'s not| is not| isn't| are not| wasn't| was not)"
_AND_NOT = r",? (?:and )?not "
_BUT = r"[,;.]? (?:but |(?:it|he|she|they|that)(?:'s| is| are) |(?:is |is actually )?)"
# What may follow: another word goes on with something else ("not Lena any more").
_END = r"(?=\W*$|[,;:!] |, | -| \(| (?:and|but|sorry|by the way)\b)"
_CONTRASTS = (
    re.compile(rf"{_WHO}{_IS} {_SURELY}(?:called|named) {_NEW}{_AND_NOT}{_OLD}{_END}", re.I),
    re.compile(rf"{_WHO}(?:'s)? name{_IS} {_SURELY}{_NEW}{_AND_NOT}{_OLD}{_END}", re.I),
    re.compile(
        rf"{_WHO}{_IS_NOT} (?:called|named) {_OLD}{_BUT}(?:called |named )?{_NEW}{_END}", re.I
    ),
    re.compile(rf"{_WHO}(?:'s)? name{_IS_NOT} {_OLD}{_BUT}{_NEW}{_END}", re.I),
    re.compile(
        rf"\b(?:we|i) (?:called|named) (?P<who>{_PRONOUN}|{_THING}) {_BARE_NEW}{_AND_NOT}"
        rf"{_BARE_OLD}{_END}",
        re.I,
    ),
    re.compile(rf"{_BARE_NEW} is (?:the|his|her|its) name{_AND_NOT}{_BARE_OLD}{_END}", re.I),
    re.compile(rf"\b(?:spelled|spelt|written) {_BARE_NEW}{_AND_NOT}{_BARE_OLD}{_END}", re.I),
)
# These may put any word right: they are taken for names where what is wrong is known as one.
_BARE_CONTRASTS = (
    re.compile(rf"\b(?:it|that|he|she|this){_IS} {_BARE_NEW}{_AND_NOT}{_BARE_OLD}{_END}", re.I),
    re.compile(rf"\bi meant? (?:to say )?{_BARE_NEW}{_AND_NOT}{_BARE_OLD}{_END}", re.I),
    re.compile(
        rf"\b(?:it|that|he|she){_IS_NOT} {_BARE_OLD}[,;.]? (?:but|(?:it|that|he|she){_IS}) "
        rf"{_BARE_NEW}{_END}",
        re.I,
    ),
    re.compile(rf"^\W*(?:sorry|oops|wait|no)\W+{_BARE_NEW}{_AND_NOT}{_BARE_OLD}{_END}", re.I),
    re.compile(rf"^\W*{_BARE_NEW}{_AND_NOT}{_BARE_OLD}\W+(?:sorry|oops|my mistake)\b", re.I),
)
_FIRM_SLIP = r"(?:actually|sorry|oops|wait|hang on|hold on|correction|my mistake|my bad)"
_SLIP = rf"(?:{_FIRM_SLIP}|no)"  # "no" alone may answer a question
# Only the right name: what was wrong is the name told last, or the one that the thing has.
_RENAMINGS = (
    re.compile(
        rf"^(?:\W*{_SLIP}\b)+\W+(?:i meant? )?{_WHO}{_IS} {_SURELY}(?:called|named) {_NEW}\W*$",
        re.I,
    ),
    re.compile(
        rf"^(?:\W*{_SLIP}\b)+\W+(?:i meant? )?{_WHO}(?:'s)? name{_IS} {_SURELY}{_NEW}\W*$", re.I
    ),
)
_BARE_RENAMINGS = (
    re.compile(
        rf"^(?:\W*no\b)?(?:\W*{_FIRM_SLIP}\b)+\W+(?:i meant? |(?:it|that|he|she){_IS} )"
        rf"{_BARE_NEW}\W*$",
        re.I,
    ),
    re.compile(rf"^\W*(?:oh\W+)?i meant {_BARE_NEW}\W*$", re.I),
)
# Said back to whoever used a name: "How is Rex?" – "no, he's called Max".
_BACK = rf"^(?:\W*(?:{_SLIP}|nope|nah|well|oh|um+|ha(?:ha)*)\b)*\W*"
_BEHIND = r"(?:,? (?:actually|now|though|btw|by the way|lol|haha))*\W*$"
_REPLIES = (
    re.compile(rf"{_BACK}{_PRONOUN}{_IS} {_SURELY}(?:called|named) {_NEW}{_BEHIND}", re.I),
    re.compile(rf"{_BACK}{_PRONOUN}(?:'s)? name{_IS} {_SURELY}{_NEW}{_BEHIND}", re.I),
    re.compile(rf"{_BACK}(?:do )?you mean {_BARE_NEW}{_BEHIND}", re.I),
    re.compile(rf"^(?=.*\*)\W*{_BARE_NEW}\W*$", re.I),  # "Max*"
)
# What may answer many a question as well: "Does Rex sleep there?" – "no, it's Max".
_BARE_REPLIES = (
    re.compile(rf"^(?:\W*{_SLIP}\b)+\W*(?:it|that){_IS} {_SURELY}{_BARE_NEW}{_BEHIND}", re.I),
    re.compile(rf"^\W*(?:it|that){_IS} actually {_BARE_NEW}\W*$", re.I),
    re.compile(rf"^\W*(?:it|that){_IS} {_BARE_NEW},? actually\W*$", re.I),
    re.compile(rf"^\W*{_BARE_NEW},? not {_BARE_OLD}{_BEHIND}", re.I),
)
_ASKS_HOW = re.compile(r"^\W*(?:(?:and|so|oh|hey),? )?how\b", re.I)
_SPELLINGS = (
    re.compile(rf"\b(?:spelled|spelt|written) (?:like )?{_BARE_NEW}{_END}", re.I),
    re.compile(
        rf"\b(?:(?:it|that){_IS}|i meant?) {_BARE_NEW},? with(?:out)? "
        r"(?:an?|the|one|two|no|double) \w{1,2}'?s?\b",
        re.I,
    ),
)
# What is wished, thought or told by others puts nothing right.
_NOT_TOLD = re.compile(
    r"\b(?:if|wish|thought|think|thinks|maybe|perhaps|should|would|could|might|used to|says?|said"
    r"|told|pretend|imagine|joked?)\b",
    re.I,
)
_TOLD_NAME = re.compile(
    rf"\b(?:called|named|name is|name's|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) [a-z]+,?) (?P<name>{_NAME})"
)
_LATER_NAME = re.compile(rf"(?<=[\w,;:] )(?<![.!?] ){_NAME}")  # not first in a sentence
_DAYS = split_words("""
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June
    July August September October November December I
""")
# Behind "called" and "named" no names: "called off", "named after Tom", "called home".
_NO_NAMES = split_words("""
    a about across after again all along always apart around as aside at away back before best both
    by captain chair darling down each early either every everything executor first for forth
    forward good great guardian guilty head heir here him his home in into it its last later leader
    many me more most mud my names never nice no not nothing now off often on once only our out over
    past round short so something soon successor that the their them then there these this through
    to today together tomorrow tonight too twice under up upon us very well what who winner with
    yesterday you your
""")
_LEAST_LIKE = 0.4  # of one name in two spellings: Siobhan, Shivon
# Words that leave open what somebody or something is.
_VAGUE_THINGS = split_words("""
    kid child baby toddler boy girl one pet animal partner man woman guy friend company firm place
    name thing person half puppy kitten
""")
_HAN_NAME = r"[\u4e00-\u9fff]{2,4}"
_LETTERS = r"[^\W\u3400-\u4dbf\u4e00-\u9fff]"


def find_name_corrections(
    utterance: Utterance, before: Sequence[Utterance], known: Sequence[str] = ()
) -> list[NameCorrection]:
    """The names that an utterance puts right; `before` runs from the latest one back. `known`: of
    whom something is held."""
    text = straighten_quotes(utterance.text)
    own = [straighten_quotes(u.text) for u in before if u.speaker == utterance.speaker]
    answered = before[0].text if before and before[0].speaker != utterance.speaker else ""
    said = SaidBefore(own, straighten_quotes(answered), known)
    return list(_read_corrections(utterance.handle, text, said))


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """What the speaker said, the latest first, what somebody else has said since, and of whom
    something is `known`."""

    own: Sequence[str]
    answered: str
    known: Sequence[str]

    @property
    def told_names(self) -> list[str]:
        """The names that the speaker told as such, the last one first."""
        return [m["name"] for t in self.own[:2] for m in reversed([*_TOLD_NAME.finditer(t)])]

    def find_names(self, text: str) -> set[str]:
        names = {*self.told_names, *self.known}
        return {name for name in names if find_name(name).search(text)}

    def find_only_name(self, text: str) -> str:
        """The one name there, if nothing else has a name: "sorry, it's Leeds" after "my daughter
        Lena moved to York" is of the town."""
        found = self.find_names(text)
        others = {word for word in _LATER_NAME.findall(text) if word not in _DAYS} - found
        return found.pop() if len(found) == 1 and not others else ""


def _read_corrections(handle: str, text: str, before: SaidBefore) -> Iterator[NameCorrection]:
    for sentence in SENTENCE.finditer(text):
        said, start = sentence.group(), sentence.start()
        earlier = replace(before, own=[text[:start], *before.own])
        found = _read_contrast(said) or _read_renaming(said, earlier)
        if found is None and not text[:start].strip():
            found = _read_reply(said, before)
        if found is None or said.rstrip().endswith("?"):
            continue
        match, old, is_named = found
        new = match["new"]
        told = not _NOT_TOLD.search(said[: match.start()]) and new.casefold() != old.casefold()
        may_be_names = not any(
            name.split()[0].casefold() in _NO_NAMES for name in (new, old or new)
        )
        if told and may_be_names and not {new, old} & _DAYS:
            span = SourceSpan(handle, start + match.start(), start + match.end())
            yield NameCorrection(old, new, _read_thing(match), span, is_named)


def _read_contrast(said: str) -> tuple[re.Match[str], str, bool] | None:
    """What says both names; True where it says that they are names: "called off, not postponed"
    does not."""
    for shapes, is_named in ((_CONTRASTS, True), (_BARE_CONTRASTS, False)):
        for shape in shapes:
            if match := shape.search(said):
                are_names = match["new"][0].isupper() and match["old"][0].isupper()
                return match, match["old"], is_named and are_names
    return None


def _read_renaming(said: str, before: SaidBefore) -> tuple[re.Match[str], str, bool] | None:
    """What says only the right name, with the one that it is told instead of, "" where the thing
    that has it is named. Of a spelling that is the name most like it."""
    names = before.told_names
    if spelling := next((m for shape in _SPELLINGS if (m := shape.search(said))), None):
        alike = {name: _measure_likeness(name, spelling["new"]) for name in (*names, *before.known)}
        likest = max(alike, key=alike.__getitem__, default="")
        return (spelling, likest, True) if alike.get(likest, 0) >= _LEAST_LIKE else None
    heard = before.find_names(before.answered)  # what is said back is of these
    if named := next((m for shape in _RENAMINGS if (m := shape.search(said))), None):
        if _read_thing(named):
            return named, "", True
        return (named, names[0], True) if names and not heard else None
    bare = next((m for shape in _BARE_RENAMINGS if (m := shape.search(said))), None)
    told = next((text for text in before.own[:2] if text.strip()), "")
    old = before.find_only_name(told) if bare and not heard else ""
    return (bare, old, False) if bare and old else None


def _read_reply(said: str, before: SaidBefore) -> tuple[re.Match[str], str, bool] | None:
    """What is said back to somebody who used one name alone, with that name. Where something else
    was asked than how somebody is, a name by itself may be the answer."""
    old = before.find_only_name(before.answered)
    if not old:
        return None
    named = next((m for shape in _REPLIES if (m := shape.search(said))), None)
    if named is not None:
        return named, old, named["new"][0].isupper()
    asked = [m.group() for m in SENTENCE.finditer(before.answered) if m.group().endswith("?")]
    if not all(_ASKS_HOW.match(question) for question in asked):
        return None
    bare = next((m for shape in _BARE_REPLIES if (m := shape.search(said))), None)
    said_old = bare.groupdict().get("old") if bare else None
    return (bare, old, False) if bare and said_old in (None, old) else None


def _measure_likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


def _read_thing(match: re.Match[str]) -> str:
    """What the name is of, "" behind a pronoun: ("my sister's parrot") → "parrot"."""
    who = match.groupdict().get("who") or ""
    thing = who.removesuffix("'s").split()[-1].casefold() if " " in who else ""
    return "" if thing in _VAGUE_THINGS else thing


@dataclass(frozen=True, slots=True)
class NamedTexts:
    """Of texts that are held, by their places: what is told of the one meant, and what may be told
    of another of the same name. `old`: the name as it is written there."""

    old: str
    meant: Sequence[int] = ()
    doubtful: Sequence[int] = ()


def select_renamed_texts(correction: NameCorrection, texts: Sequence[str]) -> NamedTexts:
    """Which of the texts tell of the one whose name is put right."""
    old = correction.old or _find_name_of(correction.thing, texts)
    named = find_name(old)
    places = [at for at, text in enumerate(texts) if named.search(text)]
    # What was told of the correction itself is right as it is.
    told = find_name(correction.new)
    places = [at for at in places if not told.search(texts[at])]
    if not (old and places):
        return NamedTexts(old)
    roles = {at: _find_roles(texts[at], old) for at in places}
    nouns = {noun for found in roles.values() for _, noun in found}
    if not correction.is_named and not nouns:
        return NamedTexts(old)
    is_new_known = any(_find_roles(text, correction.new) for text in texts)
    if is_new_known and not correction.is_named:
        return NamedTexts(old)
    thing = correction.thing
    if thing and nouns and not any(_is_kind(thing, noun) for noun in nouns):
        return NamedTexts(old)
    spelling = named.search(texts[places[0]])
    written = spelling.group() if spelling else old
    if is_new_known:
        return NamedTexts(written, (), places)
    if not _is_name_of_two(roles.values()):
        longer = re.compile(rf"\b{re.escape(written)} {_NAME}")  # Marc Jones may be another Marc
        doubtful = [at for at in places if longer.search(texts[at])]
        return NamedTexts(written, [at for at in places if at not in doubtful], doubtful)
    meant = [at for at in places if any(_is_kind(thing, noun) for _, noun in roles[at])]
    doubtful = [at for at in places if at not in meant and not (thing and roles[at])]
    return NamedTexts(written, meant, doubtful)


def find_name(name: str) -> re.Pattern[str]:
    """Finds it as a word of its own; Chinese has no spaces to go by."""
    return re.compile(rf"(?<!{_LETTERS}){re.escape(name)}(?!{_LETTERS})", re.I)


def _find_roles(text: str, name: str) -> set[tuple[str, str]]:
    """What a text says that somebody of the name is, and whose: "Rex is Ana's dog"."""
    told = straighten_quotes(text)
    word = re.escape(name)
    shapes = (
        rf"^{word} is (?P<whose>.+)'s? (?:[\w-]+ )?(?P<noun>[\w-]+)\.$",
        rf"\b(?P<whose>)(?P<noun>[\w-]+)(?:'s name)?(?: is)?(?: called| named| is) {word}\b",
        rf"^{word}是(?P<whose>.+)的(?P<noun>[^的]+)。$",
        rf"(?P<whose>)(?P<noun>[^\W\d_a-zA-Z])(?:的名字)?(?:名?叫做?|的名字是){word}",
    )
    found = (m for shape in shapes for m in re.finditer(shape, told, re.I))
    return {(m["whose"].casefold(), m["noun"].casefold()) for m in found if m["noun"]}


def _is_name_of_two(roles: Iterable[set[tuple[str, str]]]) -> bool:
    """Whether somebody has two of the name: a dog Rex, and a brother Rex."""
    nouns: dict[str, set[str]] = {}
    for whose, noun in chain.from_iterable(roles):
        if whose and noun not in _VAGUE_THINGS:
            nouns.setdefault(whose, set()).add(noun)
    return any(len(found) > 1 for found in nouns.values())


def _is_kind(thing: str, noun: str) -> bool:
    """Whether a thing may be what the noun says: 我的狗 of 狗."""
    return thing == noun or (not thing.isascii() and thing.endswith(noun))


def _find_name_of(thing: str, texts: Sequence[str]) -> str:
    """The name of the only such thing of which one is held."""
    word = re.escape(thing)
    shapes = (
        rf"^(?P<name>{_NAME}) is .+'s? {word}\.$",
        rf"\b{word}(?:'s name)?(?: is)?(?: called| named| is) (?P<name>{_NAME})",
    )
    told = [straighten_quotes(text) for text in texts]
    found = {m["name"] for shape in shapes for t in told for m in re.finditer(shape, t)}
    return found.pop() if len(found) == 1 else ""


def list_changed_names(old: str, new: str) -> list[NameCorrection]:
    """The names by which two wordings of a claim may differ alone, the shortest first. Chinese
    names share characters: 小黑, 小白."""
    chinese = not old.isascii() and bool(re.search(r"[\u4e00-\u9fff]", old))
    before, after = ([*text] if chinese else text.split() for text in (old, new))
    opening = _count_alike(before, after)
    closing = _count_alike(before[opening:][::-1], after[opening:][::-1])
    margins = [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)] if chinese else [(0, 0)]
    shape = re.compile(_HAN_NAME if chinese else _NAME)
    found = []
    for left, right in margins:
        if left > opening or right > closing:
            continue
        names = [
            ("" if chinese else " ").join(words[opening - left : len(words) - closing + right])
            for words in (before, after)
        ]
        was, now = (re.sub(r"(?:'s?)?[.,;:!?。，]*$", "", straighten_quotes(n)) for n in names)
        if shape.fullmatch(was) and shape.fullmatch(now) and was != now:
            thing = next((noun for _, noun in sorted(_find_roles(old, was))), "")
            found.append(NameCorrection(was, now, thing, SourceSpan("", 0, 0), is_named=False))
    return found


def _count_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words, or characters, both open with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
