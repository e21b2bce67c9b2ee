"""People and animals whose name is told in passing: "my sister Rita cooked it", "Rita, my sister".

Who that is to the speaker is a claim of its own, whatever becomes of the sentence around it: the
next time only the name is said, or only "my sister".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.scene import ParsedTurn, format_possessive
from memoryhub.engines.local.grammar.subjects import is_person_noun
from memoryhub.engines.local.grammar.verbs import is_dictionary_word
from memoryhub.engines.local.wordlists import ANIMALS, split_words
from memoryhub.engines.types import FactCandidate, SourceSpan

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MINE = frozenset({"my", "our"})
_ONE_OF_MINE = frozenset({"a", "an", "one"})  # "I have a son, Matthis"
# What stays beside the noun: it tells one brother from another.
TELLING_WORDS = split_words("""
    best old older oldest elder eldest young younger youngest little big half step twin late ex
    former new next-door great
""")
_TITLES = split_words("mr mrs ms miss dr prof doctor professor aunt uncle mr. mrs. ms. dr. prof.")
# Who is somebody's only as long as they hold a post, or a room.
POST_HOLDERS = split_words("""
    boss manager colleague coworker teammate teacher coach supervisor tutor assistant apprentice
    lodger tenant flatmate roommate housemate cleaner nanny carer trainer therapist doctor dentist
""")
# "The vet, Anneke" is one's own.
_THE_POSTS = split_words("""
    boss manager supervisor landlord landlady doctor dentist vet principal teacher coach tutor gp
    solicitor accountant nanny cleaner childminder babysitter secretary grandson granddaughter
    husband wife missus
""")
_LEAVING_VERBS = split_words("leave quit resign retire")
_POSTS = split_words("company job firm team post office school place")
_GROUPS = split_words("team family child baby friend")
_COMMAS = (",", "-", "–", "—")
# What the parser takes for something else than a person; names are often taken for a people.
_TIMES, _PEOPLES, _PLACES = ("DATE", "TIME", "LANGUAGE"), ("NORP",), ("GPE", "LOC")
# What may follow a role that stands behind its bearer's name.
_BEHIND_ROLES = split_words("at in from of who and is was has")
_MOST_BESIDE, _MOST_NAMES = 3, 3  # words between "my" and the noun, words of a name
_CONFIDENCE = 0.8


def read_introductions(turn: ParsedTurn, offset: int, span: Span) -> Iterator[FactCandidate]:
    """A claim for each name beside what its bearer is to the speaker."""
    for token in span:
        bare = turn.scene.assisted and _is_bare_role(token)
        mine = token.lower_ in _MINE or (turn.scene.assisted and _is_one_had(token))
        named = _read_owner(token)
        if not (bare or mine or named):
            continue
        noun = token if bare else _find_person_noun(token, span)
        if noun is None and token.lower_ in _MINE:
            yield from _read_place_had(turn, offset, token, span)
        if noun is None or (token.lower_ == "the" and noun.lower_ not in _THE_POSTS):
            continue
        name = _read_name(noun, span) or ([] if bare else _read_name_before(token, noun, span))
        if not name:
            continue
        # Each of "my brothers Tom and Lee" is a brother.
        one = noun.lemma_.lower() if noun.tag_ == "NNS" else noun.lower_
        beside = "" if bare else span.doc[token.i + 1 : noun.i].text_with_ws.lower()
        relation = f"{beside}{one}"  # "ex-wife", "step-sister"
        called = span.doc[name[0].i : name[-1].i + 1].text
        called = called.capitalize() if called.islower() else called
        whose = format_possessive(turn.scene.speaker)
        told = (token, noun, *name)
        start, end = min(t.idx for t in told), max(t.idx + len(t.text) for t in told)
        over = _is_over(noun, name[-1])
        yield FactCandidate(
            owner=called,
            speaker=turn.utterance.speaker,
            text=f"{called} {'was' if over else 'is'} {named or whose} {relation}.",
            pattern="SVC",
            sources=(SourceSpan(turn.utterance.handle, offset + start, offset + end),),
            confidence=_CONFIDENCE,
            verb="was" if over else "is",
            complement=f"{named or whose} {relation}",
            subject=called,
            polarity="ended" if over else "holds",
        )


# Of these one has one, and calls it by name.
_PLACES_HAD = split_words("bank gym school college university church dentist pharmacy surgery")


def _read_place_had(
    turn: ParsedTurn, offset: int, possessor: Token, span: Span
) -> Iterator[FactCandidate]:
    """ "Scotiabank, our bank, offers 4.6 %", "… an order with Nationwide? That's my bank."."""
    noun = possessor.nbor() if possessor.i + 1 < span.end else None
    if noun is None or noun.lower_ not in _PLACES_HAD or noun.ent_type_:
        return
    pointed = [t.lower_ for t in span.doc[span.start : possessor.i]]
    if pointed in (["that", "'s"], ["thats"], ["that", "is"], ["that", "’s"]) and span.start:
        name = _find_last_name(span.doc[span.start - 1].sent)
    else:
        name = _read_name_before(possessor, noun, span)
    if not name:
        return
    called = span.doc[name[0].i : name[-1].i + 1].text
    me = turn.scene.speaker
    ends = min(t.idx for t in (possessor, *name)), max(t.idx + len(t) for t in (noun, *name))
    yield FactCandidate(
        owner=me,
        speaker=turn.utterance.speaker,
        text=f"{format_possessive(me)} {noun.lower_} is {called}.",
        pattern="SVC",
        sources=(SourceSpan(turn.utterance.handle, offset + ends[0], offset + ends[1]),),
        confidence=_CONFIDENCE,
        verb="is",
        complement=called,
        subject=f"{format_possessive(me)} {noun.lower_}",
    )


def _find_last_name(said: Span) -> list[Token]:
    name: list[Token] = []
    for token in reversed([*said]):
        named = token.pos_ == "PROPN" or not token.is_sent_start
        if named and token.text.istitle() and _is_capitalised(token, unless=_TIMES):
            name.insert(0, token)
        elif name:
            break
    return name


def _find_person_noun(possessor: Token, span: Span) -> Token | None:
    """The noun that "my" belongs to, if it is somebody; only telling words stand between."""
    for token in possessor.doc[possessor.i + 1 : min(possessor.i + 2 + _MOST_BESIDE, span.end)]:
        if is_person_noun(token) and token.text.islower():
            return token
        if token.lower_ not in TELLING_WORDS:
            return None
    return None


def _read_owner(token: Token) -> str:
    """ "Donal's" in "with Donal's sister Gráinne", at its "'s"; "" for nobody named."""
    if token.tag_ != "POS" or token.head.pos_ != "PROPN" or not token.head.text.istitle():
        return ""
    return f"{token.head.text}{token.text}"


def _is_one_had(token: Token) -> bool:
    """ "I have a son", and "One son" where that opens an answer or a part of a list; "the vet"."""
    if token.lower_ == "the":
        return True
    if token.lower_ not in _ONE_OF_MINE:
        return False
    had = token.head.dep_ == "dobj" and token.head.head.lemma_ in ("have", "get")
    own = had and any(c.lower_ in ("i", "we") for c in token.head.head.children)
    opens = token.i == token.sent.start or token.nbor(-1).text in _COMMAS
    return own or (token.lower_ == "one" and opens)


def _is_bare_role(token: Token) -> bool:
    """ "Housemate Tegan", told to an assistant, is the speaker's; "aunt Edda" is a name."""
    if not is_person_noun(token) or token.lower_ in _TITLES | _GROUPS or token.tag_ == "NNS":
        return False
    behind = token.nbor() if token.i + 1 < len(token.doc) else None
    named = behind is not None and behind.pos_ == "PROPN" and behind.text.istitle()
    before = token.nbor(-1) if token.i > token.sent.start else None
    free = before is None or before.is_punct or before.pos_ in ("VERB", "ADP", "CCONJ", "SCONJ")
    free = free and (before is None or before.text != "-")  # "my ex-wife Carla"
    return named and free and (token.text.islower() or token.i == token.sent.start)


def _is_over(noun: Token, name: Token) -> bool:
    """Whether the sentence around it tells that somebody died, or left the post they are named
    by: "my manager Priya left"."""
    subject = next((t for t in (noun, name) if t.dep_ in ("nsubj", "nsubjpass")), None)
    verb = subject.head if subject is not None else name
    if subject is None or any(c.dep_ == "neg" for c in verb.children):
        return False
    if verb.tag_ not in ("VBD", "VBN"):
        return False
    if verb.lemma_.lower() in ("die", "pass"):
        return verb.lemma_.lower() == "die" or any(c.lower_ == "away" for c in verb.children)
    objects = {c.lemma_.lower() for c in verb.children if c.dep_ == "dobj"}
    left = verb.lemma_.lower() in _LEAVING_VERBS and objects <= _POSTS
    return left and noun.lemma_.lower() in POST_HOLDERS


def _read_name(noun: Token, span: Span) -> list[Token]:
    """The capitals right behind the noun, or behind a comma where another closes the name."""
    rest = list(span.doc[noun.i + 1 : span.end])
    if rest and rest[0].lower_ in ("called", "named"):
        rest = rest[1:]
    comma = bool(rest) and rest[0].text == ","
    name: list[Token] = []
    if rest and not comma and (_is_small_name(rest[0]) or _is_pets_name(noun, rest)):
        return rest[:1]
    for token in rest[comma:]:
        tied = bool(name) and not name[-1].whitespace_ and token.text in ("-", "–")
        # A capital right behind "my girlfriend" is a name, also one that the parser does not know.
        right_behind = (
            not comma and not name and _is_capitalised(token, unless=(*_TIMES, *_PEOPLES))
        )
        # "One dog, Waylon": a capital on no word that there is.
        unknown = comma and _is_capitalised(token) and not is_dictionary_word(token.lower_)
        named = right_behind or unknown or _is_name_word(token)
        if not (tied or named) or len(name) == _MOST_NAMES:
            break
        name.append(token)
    after = rest[comma + len(name)] if comma + len(name) < len(rest) else None
    closed = not comma or after is None or after.is_punct
    only_title = len(name) == 1 and name[0].lower_ in _TITLES
    return name if name and closed and not only_title else []


def _read_name_before(possessor: Token, noun: Token, span: Span) -> list[Token]:
    """The name in "Gearóid, my manager at the firm": what the noun says of it ends there, or goes
    on to say where."""
    after = noun.nbor() if noun.i + 1 < span.end else None
    closed = after is None or after.is_punct or after.lower_ in _BEHIND_ROLES
    comma = possessor.i - 1
    if not closed or comma <= span.start or span.doc[comma].text not in _COMMAS:
        return []
    aside = after is None or after.is_punct  # not "I left London, my brother in Leeds followed"
    name: list[Token] = []
    for token in reversed(span.doc[span.start : comma]):
        placed = aside and not name and _is_capitalised(token, unless=_TIMES)
        if not (placed or _is_name_word(token)) or len(name) == _MOST_NAMES:
            break
        name.insert(0, token)
    # After another comma it may be one of several: "with Ben, Rita, my boss".
    listed = bool(name) and name[0].i > span.start and name[0].nbor(-1).text in (*_COMMAS, "and")
    only_title = len(name) == 1 and name[0].lower_ in _TITLES
    return [] if listed or only_title else name


def _is_small_name(token: Token) -> bool:
    """ "my gf sam", as many write who never use a capital."""
    unknown = not is_dictionary_word(token.lower_) or token.ent_type_ == "PERSON"
    other = token.ent_type_ in (*_TIMES, *_PEOPLES, *_PLACES) or is_person_noun(token)
    named = token.tag_ == "NNP" or (token.tag_ == "NN" and not is_dictionary_word(token.lower_))
    return token.text.islower() and token.is_alpha and named and unknown and not other


# What stands behind "dog" or "cat" in the name of a thing.
_PET_THINGS = split_words("""
    food bowl bed basket walk walker sitter groomer lead leash collar tag toy treat treats biscuits
    litter tree flap door park show trainer training hair fur poo poop vet insurance shelter rescue
    owner lover person charity cafe kennel crate carrier bite fight mess smell breath bit thing
""")


def _is_pets_name(noun: Token, rest: Sequence[Token]) -> bool:
    """ "our dog biscuit": a word of the language, and no thing for dogs."""
    pet = noun.lower_ in ANIMALS and rest[0].tag_ == "NN" and rest[0].text.islower()
    after = rest[1] if len(rest) > 1 else None
    closed = after is None or after.is_punct or after.pos_ in ("VERB", "AUX", "CCONJ")
    return pet and closed and rest[0].lower_ not in _PET_THINGS


def _is_name_word(token: Token) -> bool:
    named = token.pos_ == "PROPN" or token.ent_type_ == "PERSON"
    return named and _is_capitalised(token)


def _is_capitalised(
    token: Token, *, unless: Collection[str] = (*_TIMES, *_PEOPLES, *_PLACES)
) -> bool:
    known = token.ent_type_ in unless
    return token.text[:1].isupper() and not token.text.isupper() and len(token) > 1 and not known
