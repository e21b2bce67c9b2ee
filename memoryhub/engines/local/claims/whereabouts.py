"""Where somebody lives, told by where they are: "I'm in Leeds now", "renting with Jo in Hull"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memoryhub.engines.local.dates.calendar import MONTHS, WEEKDAYS
from memoryhub.engines.local.grammar.clauses import Clause
from memoryhub.engines.local.grammar.verbs import is_dictionary_noun
from memoryhub.engines.local.wordlists import split_words

if TYPE_CHECKING:
    from spacy.tokens import Token

_DWELLING_VERBS = frozenset({"live", "reside", "rent", "be", "move"})
_MOVING_VERBS = frozenset({"move", "relocate", "emigrate"})
_GOING_VERBS = frozenset({"move", "go", "travel", "fly", "drive", "return", "relocate"})
_STAYING_VERBS = frozenset({"work", "study", "stay", "teach", "grow", "settle"})
_BY_NOW = re.compile(r"\b(?:now|nowadays|these days|currently|for good)\b")
_EVENT = (
    r"weekend|days?|nights?|weeks?|fortnight|holidays?|vacation|work|business|conf(?:erence)?"
    r"|wedding|meetings?|trip|visit|christmas|xmas|easter|funeral|interview|training|gig|party"
    r"|match|birthday|concert|festival|lunch"
)
# What says that somebody is only passing through, or is back the next day.
_PASSING = re.compile(
    rf"\b(?:for (?:the |a |an |our |my |this |\w+'s )*(?:\w+ )?(?:{_EVENT})"
    r"|on (?:holiday|vacation|business|tour|leave|my way|the way|a \w+)|visiting|stuck|landed"
    r"|landing|just (?:got|arrived)|right now|rn|tonight|today|this week\w*|flight|layover|airport"
    r"|train|at \d+|early|late|yesterday|this (?:morning|afternoon|evening)|hours?|minutes?"
    r"|(?:back|home|leaving) (?:on|tomorrow|tonight|next|soon)|(?:until|till|til) (?!i\b))\b",
    re.I,
)


def is_by_now(text: str) -> bool:
    """Whether it says that something is so by now, which it was not before."""
    return bool(_BY_NOW.search(text))


def is_passing(text: str) -> bool:
    """Whether it speaks of a visit, a trip or an hour of the day, and not of what lasts."""
    return bool(_PASSING.search(text))


def find_clause_lemma(verb: Token) -> str:
    """The lemma in lower case; of "im", which the parser takes for a verb of its own, be."""
    return "be" if verb.lower_ in ("m", "'m", "’m") else verb.lemma_.lower()


def find_home(clause: Clause) -> tuple[Token, Token] | None:
    """Preposition and place of where somebody lives, whatever else is told of it first: "with my
    aunt in Leeds", "moved from Porto to Leeds"."""
    home = clause.main
    verb = find_clause_lemma(home)
    for there in (c for c in home.children if c.lower_ == "there" and verb in _DWELLING_VERBS):
        if (told := _find_place_before(there)) is not None:
            return told.head, told
    if verb in _MOVING_VERBS and (gone := _find_destination(home)) is not None:
        return gone.head, gone
    moved_in = any(c.dep_ == "prt" and c.lower_ == "in" for c in home.children)
    moved_in = moved_in or any(map(_leads_into_dwelling, home.children))
    if verb not in _DWELLING_VERBS or (verb == "move" and not moved_in):
        return None
    # Of a flat in a quarter of the town the flat is told, and the town stays the home.
    if verb == "rent" and any(c.dep_ == "dobj" for c in home.children):
        return None
    for token in home.subtree:
        beside = token.head.dep_ == "pobj" and token.head.head.head == home
        if token.lower_ != "in" or token.dep_ != "prep" or not (beside or token.head == home):
            continue
        place = next((c for c in token.children if c.dep_ == "pobj"), None)
        if place is not None and is_place(place):
            return token, place
    return None


def _find_destination(moved: Token) -> Token | None:
    """The place that somebody moved to, however they went: back, over, from elsewhere. Whoever
    moves something else there stays."""
    if any(c.dep_ in ("dobj", "nsubjpass") for c in moved.children):
        return None
    for token in moved.subtree:
        way = token.head.dep_ in ("advmod", "prep", "prt") and token.head.head == moved
        if token.lower_ not in ("to", "into") or not (token.head == moved or way):
            continue
        place = next((c for c in token.children if c.dep_ == "pobj"), None)
        if place is not None and is_place(place):
            return place
    return None


_DWELLINGS = split_words("flat apartment house place home studio room bungalow cottage annexe")


def _leads_into_dwelling(token: Token) -> bool:
    """ "Into" of "moved into her flat in York", and of no meeting room."""
    into = token.children if token.lower_ == "into" else ()
    named = (c for c in into if c.lemma_.lower() in _DWELLINGS)
    return any(not any(each.dep_ == "compound" for each in c.lefts) for c in named)


def find_place_meant(there: Token, clause: Clause) -> str | None:
    """ "To Hamburg" for "there" in "got an offer in Hamburg and moved there"; None where no place
    was named before in the sentence, or nobody goes or lives there."""
    verb = find_clause_lemma(clause.main)
    place = _find_place_before(there) if there.head == clause.main else None
    if place is None or verb not in _DWELLING_VERBS | _GOING_VERBS | _STAYING_VERBS:
        return None
    way = "in" if verb in _STAYING_VERBS | _DWELLING_VERBS - _GOING_VERBS else "to"
    return f"{way} {place.text}"


def _find_place_before(there: Token) -> Token | None:
    """The place named last before it, and no other in its sentence."""
    before = there.doc[there.sent.start : there.i]
    named = [t for t in before if t.dep_ == "pobj" and t.head.lower_ in ("in", "to", "at", "from")]
    places = [t for t in named if t.ent_type_ in ("GPE", "LOC") or t.pos_ == "PROPN"]
    return places[0] if len({t.text for t in places}) == 1 else None


def is_place(thing: Token) -> bool:
    """A name, also one that nobody wrote with a capital ("i live in leeds"), and no day to which
    something was moved."""
    if thing.lower_.removesuffix("s") in WEEKDAYS | MONTHS:
        return False
    named = thing.pos_ == "PROPN" and thing.ent_type_ not in ("DATE", "TIME")
    named = named or thing.ent_type_ in ("GPE", "LOC", "ORG")
    unknown = thing.pos_ == "NOUN" and thing.is_alpha and not is_dictionary_noun(thing.lower_)
    return named or (unknown and thing.text.islower() and not any(thing.lefts))
