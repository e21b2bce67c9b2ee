"""What answers "when": the time that the evidence tells, or when it was told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
)
from memoryhub.engines.local.answers.long_quotes import shorten_to_clauses
from memoryhub.engines.local.answers.quoting import answer_from_sentence, format_quote
from memoryhub.engines.local.chinese import dates as chinese_dates
from memoryhub.engines.local.comparison.pairs import describe_meaning
from memoryhub.engines.local.dates.tense import PUT_OFF_VERBS
from memoryhub.engines.local.dates.times import find_times, format_day, format_span
from memoryhub.engines.local.language import LanguageCode
from memoryhub.engines.types import GroundedAnswer, Quote, TimeSpan

_MOST = 0.5  # of the question's words, that what has no time has to say
ASKS_WHEN = re.compile(
    r"^\W*(?:when|(?:in |on |around |since )?(?:what|which) (?:day|date|year|month|time)\b"
    r"|since when|how long ago)\b"
    r"|什么时候|何时|哪天|哪[一个]?[年月日天]|几[月号]|多久以前",
    re.I,
)
# What comes round has a day of its own, other than the one on which it was told.
_COMES_ROUND = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:every|each) \w|\d ?[ap]m\b|\d:\d\d"
    r"|\bat \d|每[天周月年]|[周期拜][一二三四五六日天]|\d点",
    re.I,
)
_RECURS = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:s| (?:morning|evening|night|afternoon)s)\b"
    r"|\b(?:every|each) \w|每|逢",
    re.I,
)
_ASKS_WEEKDAY = re.compile(r"\b(?:what|which) days?\b|[周星期礼拜]几|哪天", re.I)
# What is or comes is not told by the day on which it was spoken of.
_ASKS_AHEAD = re.compile(
    r"\W*(?:when|(?:what|which) (?:day|date|time))(?:['’]?s| is| are| am| do| does| will| can)\b",
    re.I,
)
# What is still to come, of which what was planned for a day that is over is nothing.
ASKS_AHEAD = re.compile(
    r"\b(?:coming up|upcoming|(?:what|which|who|where|when)\b.{0,30}"
    r"(?:['’]s|\bis|\bare|\bdo|\bdoes) .{0,30}\bnext)\b(?! to\b| door\b)"
    r"|接下来|即将|下[一]?次|下一个",
    re.I,
)
# When something began that goes on.
ASKS_SINCE = re.compile(
    r"^\W*(?:since when|how long (?:have|has|had|am|is|are)\b)|从什么时候", re.I
)
_GOES_ON = re.compile(r"since\b", re.I)
# The first day of a span tells of which week, month or year it is.
_UNITS = {"week": timedelta(days=7), "month": timedelta(days=28), "year": timedelta(days=365)}
# The day of something named: what does not speak of it has another's ("when is my birthday").
ASKS_DAY_OF = re.compile(
    r"^\W*(?:when(?: is|['’]?s| are)|what(?:['’]s| is)? (?:day|date|time) is)\b", re.I
)
_SAID_ON = {"en": "said on {}", "zh": "说于{}"}
_COLON = {"en": ": ", "zh": "："}
# A date is looked for in sentences that bear on the question nearly as well as the best one.
_NEAR_BEST_MARGIN = 0.3


def is_past_date(quote: Quote) -> bool:
    """Whether it speaks of days that are over, and of none that come round."""
    return quote.passed and not _RECURS.search(quote.text)


def answer_with_date(
    asked: QuestionTerms,
    sentences: Sequence[EvidenceSentence],
    quotes: Sequence[Quote],
    language: LanguageCode,
) -> GroundedAnswer | None:
    """The time that the best dated evidence speaks of; of what has none, when it was said."""
    best = sentences[0].score
    for sentence in sentences:
        if sentence.score < best - _NEAR_BEST_MARGIN:
            break
        span = _find_time(sentence, quotes[sentence.quote])
        if span is not None:
            return answer_from_sentence(_format_time(asked, span, language), sentence)
    said_at = quotes[sentences[0].quote].said_at
    if said_at is None or sentences[0].coverage < _MOST:
        return None
    if ASKS_DAY_OF.search(asked.text) and _COMES_ROUND.search(sentences[0].text):
        return None  # the day is told, and is no date
    told = _SAID_ON[language].format(format_day(said_at, language))
    return answer_from_sentence(told, sentences[0])


def answer_with_dated_quote(
    asked: QuestionTerms, best: EvidenceSentence, quote: Quote, language: LanguageCode
) -> GroundedAnswer | None:
    """The one time that is told, or when it was told, before the words that tell it. What comes
    round has no date, and of several times the words tell which is which: None."""
    weekday = _ASKS_WEEKDAY.search(asked.text) and _COMES_ROUND.search(best.text)
    if weekday or _RECURS.search(best.text) or quote.said_at is None:
        return None
    times = find_times(best.text, quote.said_at)
    if len(times) > 1:
        return None
    if span := _find_time(best, quote):
        told = _format_time(asked, span, language)
    elif best.coverage >= _MOST and not _ASKS_AHEAD.match(asked.text):
        told = _SAID_ON[language].format(format_day(quote.said_at, language))
    else:
        return None
    best = shorten_to_clauses(asked.text, best, language)
    return answer_from_sentence(f"{told}{_COLON[language]}{format_quote(asked, best, quote)}", best)


# "The tooth op shifted to 21 Jan", "the exam will only be on 14 June".
_PUT_OFF = re.compile(
    rf"\b(?:{PUT_OFF_VERBS}|now|only (?:on|be|is))\b|{chinese_dates.PUT_OFF.pattern}|往后", re.I
)
_ASKS_FIRST = re.compile(
    r"\b(?:first|originally|supposed|meant|before)\b|原来|原定|本来|最初", re.I
)


def find_put_off(
    asked: QuestionTerms,
    best: EvidenceSentence,
    others: Sequence[EvidenceSentence],
    quotes: Sequence[Quote],
) -> EvidenceSentence | None:
    """What was told later of the same thing, with the day to which it was put off; None where
    nothing was, or what was planned first is asked for."""
    first_told = quotes[best.quote].said_at
    if first_told is None or _ASKS_FIRST.search(asked.text):
        return None
    topic = describe_meaning(asked.text).stems & describe_meaning(best.text).stems
    found = [
        (said_at, other)
        for other in others
        if (said_at := quotes[other.quote].said_at) is not None
        and said_at > first_told
        and _PUT_OFF.search(other.text)
        and topic & describe_meaning(other.text).stems
        and len(find_times(other.text, said_at)) == 1
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _format_time(asked: QuestionTerms, span: TimeSpan, language: LanguageCode) -> str:
    """Of what began and goes on, when it began."""
    if ASKS_SINCE.search(asked.text) or _GOES_ON.match(span.text):
        began = replace(span, end=span.start + _UNITS.get(span.granularity, timedelta(days=1)))
        return format_span(began, language)
    return format_span(span, language)


def _find_time(sentence: EvidenceSentence, quote: Quote) -> TimeSpan | None:
    if quote.event and not quote.speaker:
        return quote.event
    found = find_times(sentence.text, quote.said_at) if quote.said_at else ()
    return found[0] if found else None
