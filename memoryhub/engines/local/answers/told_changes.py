"""Of words that tell a change, those that tell what holds, or what held before: "Gav left n now
Leonie is boss" tells of both. A quotation begins with what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memoryhub.engines.local.answers.asked import AskedTense, find_value_kind, has_value
from memoryhub.engines.local.answers.tenses import GONE, STOPPED
from memoryhub.engines.local.chinese import rules as chinese_rules
from memoryhub.engines.local.grammar.sentence_starts import asks_or_wants
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.reranking.packaged import get_packaged_reranker

_LONGEST = 400  # characters that are looked at
# By how much less sure the reader may be of a part than of the whole.
_MOST_LOST = 4.0
_VALUE = r"[^,.;!?—–]{1,40}?"
_CHANGED = r"(?:gone|went|goes|changed|switched|swapped|moved|put|cut|dropped|raised|rose|jumped)"
_GIVEN = (
    r"(?:traded|swapped|changed|exchanged|quit|left|dropped|ditched|binned|replaced"
    r"|(?:gave|given) up|(?:packed|jacked) in)"
)
# What one thing became another with, told in one clause: where either begins. What was only said
# wrongly never was.
_BECAME = (
    re.compile(
        rf"\b{_CHANGED}\b[^,.;]{{0,40}}? from (?P<was>{_VALUE}) (?:\w+ )?to (?P<now>\S)", re.I
    ),
    re.compile(rf"\b{_GIVEN}(?: in)? (?P<was>{_VALUE})(?: in)? for (?P<now>\S)", re.I),
    # A number or a day.
    re.compile(
        r"(?:^|[,;] ?)(?P<was>[\w'’£$€. ]{0,20}?\d[\w.%]*|\w+days?)(?:['’]s| is| has| have|) "
        rf"{_CHANGED} to (?P<now>\S)",
        re.I,
    ),
    re.compile(
        rf"(?P<was>)(?:不对|说错了|写错了|[哦啊]不是?)[\s，,。.]+(?:应?该?是)?(?P<now>[{HAN}\w])"
    ),
)
# Commas and full stops within a number end no clause; between Chinese words a space does.
_CLAUSE = re.compile(
    rf"(?:(?![,.](?:\s|$)|(?<=[{HAN}\w])\s+(?=[{HAN}])|(?<=[{HAN}])\s+|\s(?:and|but|so|n)\s)"
    r"[^，。；！？、;!?…—–\n])+"
)
LINK = re.compile(r"\W*(?:(?:and|but|so|n|then|cos|cause|because|while)\b\W*)*", re.I)
# What tells by its own words that something was so, or is over.
_TELLS_END = re.compile(
    rf"{GONE.pattern}|^\W*(?:it |that |which )?(?:was|were)\b"
    rf"|\b(?:{STOPPED}|used to|before (?:that|it was)|previously|formerly|packed (?:up|in)"
    r"|giving up|asking)\b"
    r"|以前|之前|原来|原先|原本|本来|从前|先前|早先|原定|不\w{0,6}了|没\w{0,4}了"
    r"|[卖辞关退停走搬黄倒坏丢死拆撤]\w{0,2}[了掉]|回\w{1,5}了|不干|散伙|离职",
    re.I,
)
_ENDS_NOTHING = re.compile(r"差不多|不错|不得了|受不了|不好意思|\d\w* left\b", re.I)


class ToldChange(NamedTuple):
    """Where in a text begins what is asked for, and the other side of the change before it."""

    before: int
    beginning: int


def find_change(question: str, text: str, tense: AskedTense) -> ToldChange | None:
    """What `text` tells of a change before it tells what is asked for: what held where that is what
    holds. None where it tells of none, or the reader is much less sure of the words behind it."""
    clauses = [match for match in _CLAUSE.finditer(text) if re.search(r"\w", match[0])]
    if not clauses or len(text) > _LONGEST:
        return None
    latest = max(clauses[0].end(), clauses[:2][-1].start())
    for pattern in _BECAME:
        if (told := pattern.search(text)) and told.start() <= latest:
            side = told.start("was" if tense == "former" and told["was"] else "now")
            return ToldChange(0, side) if side else None
    over = [_tells_end(clause[0]) for clause in clauses]
    sought = over if tense == "former" else [not each for each in over]
    # Each run of clauses of the side that is asked for, up to where the other begins.
    starts = [
        at for at, is_sought in enumerate(sought) if is_sought and not (at and sought[at - 1])
    ]
    parts = [
        (at, text[_skip_link(clauses[at]) : clauses[_find_last(sought, at)].end()])
        for at in starts
        if not _asks(clauses[at][0])
    ]
    parts = [each for each in parts if _says_something(each[1])]
    at = _choose_likeliest(question, text, parts)
    if not at:
        return None
    before = next((n + 1 for n in range(at - 1, -1, -1) if sought[n]), 0)
    return ToldChange(clauses[before].start(), _skip_link(clauses[at]))


def _says_something(part: str) -> bool:
    """A single word is none that could stand alone: "one of the cats died, luna"."""
    return bool(re.search(rf"\w\W+\w|[{HAN}\d]", part))


def _find_last(sought: Sequence[bool], first: int) -> int:
    """Of a run of clauses of one side."""
    return next((at for at in range(first, len(sought)) if not sought[at]), len(sought)) - 1


def _skip_link(clause: re.Match[str]) -> int:
    """Where it begins behind "and" or "so"."""
    link = LINK.match(clause[0])
    return clause.start() + (link.end() if link else 0)


def _tells_end(clause: str) -> bool:
    return bool(_TELLS_END.search(clause)) and not _ENDS_NOTHING.search(clause)


def _asks(clause: str) -> bool:
    """Whether it asks, or wants something done."""
    if detect_language(clause) == "zh":
        return chinese_rules.is_question(clause) or chinese_rules.is_request(clause)
    return is_question(clause) or asks_or_wants(clause)


def _choose_likeliest(question: str, text: str, parts: Sequence[tuple[int, str]]) -> int:
    """The number of the part that the reader takes for the likeliest; 0 where it loses too much of
    what the whole tells, or the value that is asked for."""
    if not any(at for at, _ in parts):
        return 0
    scores = get_packaged_reranker(1).score_texts(question, [text, *(part for _, part in parts)])
    score, (at, part) = max(zip(scores[1:], parts, strict=True))
    kind = find_value_kind(question)
    lost = has_value(text, kind) and not has_value(part, kind)
    return 0 if lost or score <= scores[0] - _MOST_LOST else at
