"""Answers without a model: a date for "when", otherwise the best memories word by word.

Every answer is a quotation and says so; with nothing recalled it says that instead (E32).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryhub.engines.local.chinese_rules import classify
from memoryhub.engines.local.language import LanguageCode, language_of
from memoryhub.engines.local.predicates import predicate_words, question_predicates
from memoryhub.engines.local.summaries import tokens_of
from memoryhub.engines.local.timing import day, written
from memoryhub.engines.local.verbs import lemma_of
from memoryhub.engines.types import Answer, Quote

_WHEN = re.compile(
    r"^\W*(?:when|what (?:day|date|year|month|time)|since when|how long ago)\b"
    r"|什么时候|何时|哪天|哪[一个]?[年月日天]|几[月号]|多久以前",
    re.I,
)
_MOST = 3
_LOOKED_AT = 10
_WORDS: dict[LanguageCode, dict[str, str]] = {
    "en": {"none": "I found nothing about that.", "said": "said on {}", "about": "about {}"},
    "zh": {"none": "没有找到相关的记忆。", "said": "说于{}", "about": "时间：{}"},
}


def answer(question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
    """The best quotes (best first) as an answer; abstains when there are none."""
    language: LanguageCode = "zh" if language_of(question) == "zh" else "en"
    if not quotes:
        return Answer(_WORDS[language]["none"], quoted=True)
    order = _by_fit(question, quotes)
    if _WHEN.search(question):
        dated = next((i for i in order if quotes[i].event), None)
        if dated is not None:
            return Answer(_dated(quotes[dated], language), quoted=True, used=(dated,))
    used = tuple(order[: _MOST if len(order) > 1 else 1])
    return Answer(" ".join(_quoted(quotes[i], language) for i in used), quoted=True, used=used)


def _by_fit(question: str, quotes: Sequence[Quote]) -> list[int]:
    """Indices by shared words, the given order breaking ties; only those that share most."""
    keys = question_predicates(question)
    asked = _stems(question) | _stems(" ".join(map(predicate_words, keys)))
    shared = [len(asked & _stems(q.text)) + _states(q.text, keys) for q in quotes[:_LOOKED_AT]]
    order = sorted(range(len(shared)), key=lambda i: (-shared[i], i))
    return [i for i in order if shared[i] >= max(shared) - 1]


def _states(text: str, keys: Sequence[str]) -> int:
    """Two words' worth for a Chinese text that states what is asked for: "她是厨师"."""
    return 2 if language_of(text) == "zh" and classify(text).key in keys else 0


def _stems(text: str) -> set[str]:
    return {lemma_of(token) for token in tokens_of(text)}


def _quoted(quote: Quote, language: LanguageCode) -> str:
    words = _WORDS[language]
    notes = [words["about"].format(written(quote.event, language))] if quote.event else []
    if quote.said_at:
        notes.append(words["said"].format(day(quote.said_at, language)))
    speaker = f"{quote.speaker}: " if quote.speaker else ""
    return f"“{speaker}{quote.text.strip()}”" + (f" ({'; '.join(notes)})" if notes else "")


def _dated(quote: Quote, language: LanguageCode) -> str:
    mark = "：" if language == "zh" else ": "
    told = _quoted(quote, language)
    return f"{written(quote.event, language)}{mark}{told}" if quote.event else ""
