"""Facts made comparable: the value of a predicate in its slot, and an employer of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memoryhub.engines.local.claims.predicates import extract_employer
from memoryhub.engines.local.grammar.rewrite import format_sentence
from memoryhub.engines.local.wordlists import JOBS
from memoryhub.engines.types import FactCandidate


def set_value(fact: FactCandidate, value: str) -> FactCandidate:
    """The fact with its predicate's value, and nothing else, where its object stands."""
    favourite = fact.predicate_key.startswith("favourite_")
    if favourite and not value + fact.object + fact.complement:
        stated = re.search(r" (?:is|are) (.+?)(?: now| these days)?\.$", fact.text)
        value = stated[1] if stated else ""
    if not value:
        return fact
    if fact.pattern == "SVC" or (fact.complement and not fact.object):
        return replace(fact, complement=value)
    return replace(fact, object=value) if fact.object else replace(fact, complement=value)


def mark_ended(fact: FactCandidate) -> FactCandidate:
    """The fact as told of something that is over, unless it is still to come or denied already."""
    return replace(fact, polarity="ended") if fact.polarity == "holds" else fact


def add_employer_facts(facts: Iterable[FactCandidate]) -> Iterator[FactCandidate]:
    """A role at a firm ("a planner at Harlow") is two facts: the firm, or the role, once more."""
    for fact in map(_normalise_job, facts):
        yield fact
        role = _find_role(fact)
        if role:
            verb = "is going to work as" if fact.polarity == "planned" else "works as"
            text = format_sentence(f"{fact.subject} {verb} {role[0]} {role[1]}")
            told = replace(fact, text=text, verb=verb, object=role[1])
            yield replace(told, predicate_key="works_as")
        holds = fact.predicate_key == "works_as" and fact.polarity == "holds"
        if holds and (firm := _extract_firm(fact)):
            yield replace(
                fact,
                text=format_sentence(f"{fact.subject} works at {firm}"),
                pattern="SVO",
                verb="works at",
                object=firm,
                indirect_object="",
                complement="",
                predicate_key="works_at",
            )


# "Ana's company is called Harlow Freight", "Ana's new employer is Harlow".
_NAMED_FIRM = re.compile(
    r"['’]s? (?:new |current )?(?:(?:company|firm|workplace) (?:is|was) (?:now )?(?:called|named)"
    r"|employer (?:is|was)(?: now)?(?: called)?) (?P<firm>[A-Z][\w&'’-]*(?: [A-Z&][\w&'’-]*)*)"
)


# "A startup called Lumenly", which is what its name is kept as.
_CALLED_FIRM = re.compile(r"an? (?:[\w-]+ ){1,4}(?:called|named) (?P<firm>[A-Z].*)")


def _normalise_job(fact: FactCandidate) -> FactCandidate:
    """A job named by its verb ("teaches art at Elm School"), or left ("quit the job at Elm"); a
    firm by its name."""
    if (firm := _NAMED_FIRM.search(fact.text)) and fact.polarity == "holds":
        return set_value(
            replace(fact, predicate_key="works_at", cardinality="single"), firm["firm"]
        )
    called = _CALLED_FIRM.fullmatch(fact.object) if fact.predicate_key == "works_at" else None
    if called:
        return set_value(fact, called["firm"])
    if re.match(r"teach(?:es)?\b", fact.verb) and not fact.predicate_key and _extract_firm(fact):
        return replace(fact, predicate_key="works_as", cardinality="single", object="teacher")
    left = re.search(r"\b(?:notice|resignation|job|position) (?:at|with) [A-Z]", fact.text)
    if fact.polarity != "ended" or not left:
        if (ended := _end_lost_job(fact)) is not None:
            return ended
        return replace(fact, object="") if _is_any_job_ended(fact) else fact
    return replace(fact, predicate_key="works_at", cardinality="single", object=_extract_firm(fact))


# "Sent in my resignation", "got laid off": where no firm is named, whatever job there was is over.
_RESIGNED = re.compile(r"\b(?:notice|resignation)\b(?! period)")
_DISMISSED = re.compile(
    r" (?:was|got|has been|['’]s been)(?: just| also)? (?:laid off|fired(?! up)|sacked"
    r"|let go(?! of)|made redundant)\b"
    r"(?: (?:from|by|at) (?P<firm>[A-Z][\w&'’-]*(?: [A-Z][\w&'’-]*)*))?"
)
_HOUSING = re.compile(r"\b(?:flat|house|landlord|landlady|apartment|room|lease|rent|tenan\w+)\b")


def _end_lost_job(fact: FactCandidate) -> FactCandidate | None:
    """The fact as the end of a job, if it tells of giving one up or of being dismissed."""
    if fact.predicate_key or fact.polarity in ("planned", "denied"):
        return None
    given = fact.polarity == "ended" and bool(_RESIGNED.search(fact.object or fact.text))
    given = given and not _HOUSING.search(fact.text)
    dismissed = _DISMISSED.match(fact.text.removeprefix(fact.subject))
    if not given and dismissed is None:
        return None
    firm = (dismissed["firm"] if dismissed else "") or ""
    key = "works_at" if firm else "works_as"
    ended = replace(fact, predicate_key=key, cardinality="single", polarity="ended")
    return replace(ended, object=firm, complement="")


def _is_any_job_ended(fact: FactCandidate) -> bool:
    """ "quit their job" ends whatever job was held."""
    named = re.fullmatch(r"(?:their|the|a) (?:\w+ )?(?:job|position|post)", fact.object)
    return fact.polarity == "ended" and fact.predicate_key == "works_as" and bool(named)


def _find_role(fact: FactCandidate) -> tuple[str, str] | None:
    """Article and noun of "works at Siemens as an engineer"."""
    if fact.predicate_key != "works_at" or fact.polarity not in ("holds", "planned"):
        return None
    ends = r"(?=,|\.| (?:in|on|since|now|from|for|and)\b)"
    found = re.search(rf" as (an?) ([\w -]+?){ends}", fact.text)
    known = found is not None and found[2].split()[-1].lower() in JOBS
    return (found[1], found[2]) if found and known else None


def _extract_firm(fact: FactCandidate) -> str:
    firm = extract_employer(fact.text.rstrip("."))
    return re.split(r", | (?:since|from|in|on|as|and|now|again|last|this|next|until) ?", firm)[0]


# "Ana lives in Leeds with her boyfriend Owen."
_SHARED_HOME = re.compile(
    r"(?P<home>.+? in (?P<place>[^.]+?)),? with (?P<whom>(?:their|his|her) [^.]+)\."
)


def part_shared_homes(facts: Iterable[FactCandidate]) -> Iterator[FactCandidate]:
    """Where somebody lives, and with whom, are two facts: whoever moves out leaves the other one as
    it is."""
    for fact in facts:
        lives = fact.predicate_key == "lives_in" and fact.polarity == "holds"
        shared = _SHARED_HOME.fullmatch(fact.text) if lives else None
        if shared is None:
            yield fact
            continue
        yield set_value(replace(fact, text=f"{shared['home']}."), shared["place"])
        with_whom = format_sentence(f"{fact.subject} lives with {shared['whom']}")
        beside = replace(fact, text=with_whom, verb="lives with", object=shared["whom"])
        yield replace(beside, predicate_key="", cardinality="multi", kind="state")


# Moving out ("I moved out of Elm Street"): what no longer holds, where only a movement is told.


_MOVED_OUT = re.compile(r"\bmoved out(?: of (?P<place>[^,.;!?]+))?", re.I)
_STREET = re.compile(r"\d+\w? [A-Z]\w*|.*\b(?:street|road|avenue|lane|square)\b", re.I)
_HOUSING_WORD = re.compile(r"\b(?:flat|apartment|house|home|place|room|studio|dorm\w*)\b", re.I)
_TRAILING_CLAUSE = re.compile(
    r" (?:last|this|in|on|at|when|because|after|before|yesterday|today)\b.*"
)


def end_left_home(fact: FactCandidate) -> FactCandidate:
    """The fact as the end of an address or a home, if it tells of moving out of one."""
    found = _MOVED_OUT.search(fact.text)
    if found is None or fact.polarity == "planned":
        return fact
    named = found["place"] or ""
    place = named if _HOUSING_WORD.search(named) else _TRAILING_CLAUSE.sub("", named)
    if not place or _STREET.match(place):
        return replace(fact, polarity="ended", predicate_key="address", object=place)
    if _HOUSING_WORD.search(place):
        return replace(fact, polarity="ended", predicate_key="address", object="")
    if place[:1].isupper():
        return replace(fact, polarity="ended", predicate_key="lives_in", object=place)
    return fact
