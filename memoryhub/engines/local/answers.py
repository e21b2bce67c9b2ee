"""Answers without a model: a date for "when", otherwise the best memories word by word.

Every answer is a quotation and says so; with nothing recalled it says that instead (E32).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.predicates import predicate_words, question_predicates
from memoryhub.engines.local.summaries import tokens_of
from memoryhub.engines.local.verbs import lemma_of
from memoryhub.engines.types import Answer, Quote, TimeSpan

_WHEN = re.compile(
    r"^\W*(?:when|what (?:day|date|year|month|time)|since when|how long ago)\b"
    r"|什么时候|何时|哪天|哪一年",
    re.I,
)
_MOST = 3
_LOOKED_AT = 10
_WORDS = {
    "en": {"none": "I found nothing about that.", "said": "said on {}", "about": "about {}"},
    "zh": {"none": "没有找到相关的记忆。", "said": "说于{}", "about": "时间：{}"},
}


def answer(question: str, quotes: Sequence[Quote]) -> Answer:
    """The best quotes (best first) as an answer; abstains when there are none."""
    words = _WORDS["zh" if language_of(question) == "zh" else "en"]
    if not quotes:
        return Answer(words["none"], quoted=True)
    order = _by_fit(question, quotes)
    if _WHEN.search(question):
        dated = next((i for i in order if quotes[i].event), None)
        if dated is not None:
            return Answer(_dated(quotes[dated], words), quoted=True, used=(dated,))
    used = tuple(order[: _MOST if len(order) > 1 else 1])
    return Answer(" ".join(_quoted(quotes[i], words) for i in used), quoted=True, used=used)


def _by_fit(question: str, quotes: Sequence[Quote]) -> list[int]:
    """Indices by shared words, the given order breaking ties; only those that share most."""
    asked = _stems(question) | _stems(" ".join(map(predicate_words, question_predicates(question))))
    shared = [len(asked & _stems(quote.text)) for quote in quotes[:_LOOKED_AT]]
    order = sorted(range(len(shared)), key=lambda i: (-shared[i], i))
    return [i for i in order if shared[i] >= max(shared) - 1]


def _stems(text: str) -> set[str]:
    return {lemma_of(token) for token in tokens_of(text)}


def _quoted(quote: Quote, words: dict[str, str]) -> str:
    notes = [words["about"].format(written(quote.event))] if quote.event else []
    if quote.said_at:
        notes.append(words["said"].format(day(quote.said_at)))
    speaker = f"{quote.speaker}: " if quote.speaker else ""
    return f"“{speaker}{quote.text.strip()}”" + (f" ({'; '.join(notes)})" if notes else "")


def _dated(quote: Quote, words: dict[str, str]) -> str:
    return f"{written(quote.event)}: {_quoted(quote, words)}" if quote.event else ""


def written(span: TimeSpan) -> str:
    """A span as people write it: "7 May 2023", "the week of 1 May 2023", "2021"."""
    start, last = span.start, span.end - timedelta(microseconds=1)
    if span.granularity in ("minute", "hour"):
        return f"{day(start)}, {start:%H:%M}"
    if span.granularity == "day" and last.date() == start.date():
        return day(start)
    return _long(span, start, last)


def _long(span: TimeSpan, start: datetime, last: datetime) -> str:
    if span.granularity == "week" and (last - start).days == 6:
        return f"the week of {day(start)}"
    if span.granularity == "month" and (start.year, start.month) == (last.year, last.month):
        return f"{start:%B %Y}"
    if span.granularity == "year" and start.year == last.year:
        return str(start.year)
    return f"{day(start)} to {day(last)}"


def day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"
