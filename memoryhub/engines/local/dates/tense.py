"""Whether the words around a time expression look back or ahead.

"On Friday" is a past or a coming Friday by the verb beside it. No parse is needed: the
cue nearest to the expression within its sentence decides.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memoryhub.engines.local.dates.calendar import DAY_AND_MONTH_NAMES, WEEKDAYS

_FUTURE = (
    r"will|won't|'ll|’ll|shall|going to|gonna|plan|plans|planning|hope|hoping|can't wait"
    r"|looking forward|upcoming|coming up|scheduled|need to|have to|wants?|excited for"
    r"|excited about|have an?|have my|is on|are on|leave for|starts|let's|due|getting|day is"
    r"|opens|closes|begins|ends|expires|finishes|arrives|leaves|returns|retires|graduates"
    r"|takes over|hands over|runs out|would like|would love|['’]d (?:like|love|prefer)"
    r"|starting|beginning|commencing|i start"
    r"|(?<!\bthe )(?<!\bour )(?<!\bmy )moves?(?: back)? (?:in|out|to|into)"
    r"|(?:comes?|goes|go) (?:back|home|over)"
    r"|date is|decided to|agreed to|about to|(?:have|has|['’](?:ve|s)) got (?:an?|the|my|his|her)"
    r"|(?:am|are|is|im|['’](?:m|re|s)) (?:having|seeing|meeting|leaving|starting|moving|flying"
    r"|hosting|visiting|coming|going|returning|arriving|travelling|retiring|joining|opening"
    r"|closing|getting|quitting|switching)"
    r"|off to|(?:wedding|surgery|exam|interview|consult|party|hearing|retest)(?: is| on| is on)?"
    r"(?= \w+ \d)"
    # "Got physio at the clinic 13 may 9am".
    r"|got (?:[\w'’]+ ){1,5}(?=(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)? (?:of )?"
    rf"(?:{DAY_AND_MONTH_NAMES}),? (?:at )?\d{{1,2}}(?:[:.]\d\d)? ?[ap]\.?m\b)"
    # "We took the flat, moving on 5 December"; but "we loved flying in May".
    r"|(?:is|are|its|['’]s)(?: on| now| set for| due)?"
    rf"(?= (?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{DAY_AND_MONTH_NAMES})\b)"
    r"|(?<=[,;:–-] )(?:moving|flying|leaving|arriving|returning|landing|sailing|travell?ing"
    r"|getting married|launching|opening)"
)
# What is arranged lies ahead more often than not, though arranging it is over.
_ARRANGED = (
    r"(?:signed|signing|sign) up|registered|enrolled|(?:re-?)?booked|reserved|applied|entered"
    r"|re-?scheduled|postponed|(?:put|pushed) back"
    r"|(?:raised|increased|upped|put up|cut|reduced|lowered)(?: [\w.,%£$€]+){0,4} from"
    r"|(?:closed|shut)(?: down)? for|promised|accepted|turned out to be"
    r"|(?:is|are|was|were|been|im|['’](?:m|re|s|ve)) (?:fixed|set|down|pencilled in|confirmed"
    r"|arranged|planned|slated) for"
    r"|(?:was|got) invited|(?:got|bought|have) (?:\w+ ){0,2}tickets?"
)
# And so does the day to which something was put off.
PUT_OFF_VERBS = (
    r"(?:moved?|re-?scheduled?|postponed?|push(?:ed)?|put|bring|brought|changed?|shift(?:ed)?"
    r"|shoved?|bump(?:ed)?|knock(?:ed)?|switch(?:ed)?|delayed?)"
)
_PUT_OFF = (
    rf"{PUT_OFF_VERBS}"
    r"(?: (?:(?:the|my|our|his|her) )?\w+)?"
    r"(?: back| forward| off| up| out)?(?: from (?:the )?\w+(?: \w+)?)? (?:to|till|until|for)"
    r"(?= (?:the |this |next |early |late )?"
    rf"(?:\d|(?:{DAY_AND_MONTH_NAMES}|week|month|tomorrow)\b))"
)
# Past forms that say so by themselves; what is also a noun or a base form ("cut", "shot") does not.
_IRREGULAR_PASTS = (
    r"became|blew|broke|brought|built|caught|chose|dealt|drank|drew|dug|fell|forgot|fought|froze"
    r"|grew|held|hung|hurt|kept|knew|laid|lent|met|paid|quit|rang|rode|sang|sent|shook|slept|slid"
    r"|sold|spoke|split (?:up|with|from)|stole|stood|struck|swam|swore|threw|tore|understood"
    r"|woke|wore"
)
# "Found a studio, moving on the 24th": who leaves out that they are about to.
_SETTING_OUT = (
    r"(?:(?<=, )|(?<=^ )|^)(?:moving|leaving|flying|starting|travelling|heading|going|coming)"
)
_PAST = (
    r"was|were|wasn't|weren't|did|didn't|had|went|got|took|made|saw|met|came|been|ate|bought|found"
    r"|felt|left|lost|won|ran|gave|said|told|taught|wrote|began|heard|spent|drove|flew|since"
    # "I get paid on Friday" and "the talk is held on Friday" do not look back; nor "I'm broke".
    r"|(?<!getting )(?<!\bget )(?<!\bbe )(?<!\bis )(?<!\bare )(?<!\bam )(?<!['’]m )(?<!\bim )"
    rf"(?<!\bto )(?<!\bso )(?:{_IRREGULAR_PASTS})"
    r"|(?<!getting )(?<!\bget )(?<!\bbe )"
    r"(?!(?:called|named) (?-i:[A-Z]))"  # "a man called Okafor"
    r"(?!need|excited|interested|indeed|speed|supposed|scheduled|feed|seed|weed)"
    r"\w{2,}ed"
)
_CUE = re.compile(
    rf"(?:\b|(?=['’]))(?:(?P<put_off>{_PUT_OFF})|(?P<arranged>{_ARRANGED})"
    rf"|(?P<future>{_FUTURE}|{_SETTING_OUT})"
    rf"|(?P<past>{_PAST}))\b",
    re.I,
)
_PERFECT = re.compile(r"\b(?:have|has|'ve|’ve|haven't|hasn't|been|known|now)\b|’ve|'ve", re.I)
# From when something will be so, or how long it goes on: "three days a week from January".
_BOUND = re.compile(r"\b(?:from|starting|as of|until|till|'?til) (?:the )?$", re.I)
_CLAUSE_BREAK = re.compile(r"(?:^|\D),| (?:and|but|so) (?:i|we|he|she|they)\b", re.I)
_REASON = re.compile(r"\b(?:because|cos|since|as) (?:i|we|he|she|they|it|the|my|our)\b", re.I)
_SENTENCE_BREAK = re.compile(r"[.!?\n]")

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_REPEATED = re.compile(
    rf"\b(?:every|each)(?: (?:other|single))? (?:{_DAYS}(?:, and |, | and | or ))*$", re.I
)
_SOME_DAY = rf"(?:{'|'.join([*WEEKDAYS, 'weds', 'sat', 'sun'])})s?"
_TO = r" ?(?:to|-|–|thru|through) ?"
_DAY_TO_DAY = re.compile(rf"{_SOME_DAY}{_TO}{_SOME_DAY}\b", re.I)
_FROM_DAY_TO = re.compile(rf"\b{_SOME_DAY}{_TO}$", re.I)


class Tense(NamedTuple):
    look: Literal["past", "future", "open", "arranged"]
    perfect: bool = False

    def choose_direction(self, otherwise: int) -> int:
        """-1 for the past, 1 for the future, else `otherwise`.

        A day of the month beside an arrangement is the nearest one, a day of the week is when
        it was made.
        """
        if self.look == "arranged" and otherwise:
            return -1
        return {"past": -1, "future": 1}.get(self.look, otherwise)


def detect_tense(text: str, position: int) -> Tense:
    """The tense around the character `position` of `text`."""
    start, end = _find_sentence(text, position)
    sentence = text[start:end]
    cues = [cue for cue in _CUE.finditer(sentence) if not _is_name(cue, sentence)]
    perfect = bool(_PERFECT.search(sentence))
    if not cues:
        ahead = _BOUND.search(text[start:position]) and not perfect
        return Tense("future" if ahead else "open", perfect)
    nearest = min(cues, key=lambda cue: _measure_distance(cue, sentence, position - start))
    if nearest["put_off"]:
        return Tense("future", perfect)
    looks: tuple[Literal["arranged", "future", "past"], ...] = ("arranged", "future", "past")
    return Tense(next(look for look in looks if nearest[look]), perfect)


def _is_name(cue: re.Match[str], sentence: str) -> bool:
    """Whether what ends as a past form does is a name: "flying from Stansted on 24 May"."""
    written = cue[0]
    within = bool(sentence[: cue.start()].strip())
    return written[0].isupper() and within and not written.isupper()


def _measure_distance(cue: re.Match[str], sentence: str, at: int) -> tuple[int, int]:
    """How far a cue is from what stands at `at`: nothing behind a comma, or of another clause, is
    as near as what is told together with it ("Cal is leaving at Christmas, gutted"); and what is
    told as the reason is farther yet."""
    between = sentence[min(cue.end(), at) : max(cue.start(), at)]
    breaks = _CLAUSE_BREAK.search(between) is not None
    return breaks + (_REASON.search(between) is not None), abs(cue.start() - at)


def is_repeated(text: str, position: int) -> bool:
    """Whether what stands at `position` comes round: "every Tuesday and Friday", "Mon to Thurs" is
    no date."""
    before = text[max(0, position - 60) : position]
    return bool(_REPEATED.search(before) or _FROM_DAY_TO.search(before)) or (
        _DAY_TO_DAY.match(text, position) is not None
    )


def _find_sentence(text: str, position: int) -> tuple[int, int]:
    before = [m.end() for m in _SENTENCE_BREAK.finditer(text, max(0, position - 400), position)]
    after = _SENTENCE_BREAK.search(text, position)
    start = before[-1] if before else max(0, position - 400)
    return start, after.start() if after else min(len(text), position + 400)
