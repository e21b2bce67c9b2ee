"""How the words of memories stand in an answer: quoted, with whose they are and since when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
    split_quote,
)
from memoryhub.engines.local.answers.phrases import Phrase
from memoryhub.engines.local.answers.told_changes import ToldChange
from memoryhub.engines.local.language import LanguageCode
from memoryhub.engines.local.wordlists import ERASED_MARK
from memoryhub.engines.types import AnswerSupport, GroundedAnswer, Quote

# What is over, and when it was said.
USED_TO = {"en": "Used to be: ", "zh": "曾经："}
MONTH = {"en": " ({:%B %Y})", "zh": "（{0.year}年{0.month}月）"}
# The same, of words that others stand before.
_AFTER = {"en": " (after “{}”, {:%B %Y})", "zh": "（前文：“{0}”，{1.year}年{1.month}月）"}
# A sentence that goes on about who or what was named before it.
_GOES_ON = re.compile(r"\W*(?:(?:she|he|they|it|her|his|their|its)(?:\b|['’])|[她他它])", re.I)
_ERASED = re.compile(rf"\s*{ERASED_MARK}+\s*")
_MOST_WIDENED = 300  # characters
# What joins words to those behind them.
TRAILING = re.compile(r"(?:[\s,，.。;；]|\b(?:and|but|so|n)\b)+$", re.I)
NOTHING_FOUND = {"en": "I found nothing about that.", "zh": "没有找到相关的记忆。"}


def answer_from_sentence(text: str, sentence: EvidenceSentence) -> GroundedAnswer:
    support = AnswerSupport(sentence.quote, (0, len(text)), (sentence.start, sentence.end))
    return GroundedAnswer(text, quoted=True, used=(sentence.quote,), supports=(support,))


def join_parts(
    parts: Sequence[tuple[str, EvidenceSentence | Phrase]], between: str
) -> GroundedAnswer:
    supports, at = list[AnswerSupport](), 0
    for text, source in parts:
        part, span = (at, at + len(text)), (source.start, source.end)
        supports.append(AnswerSupport(source.quote, part, span))
        at += len(text) + len(between)
    used = tuple(dict.fromkeys(source.quote for _, source in parts))
    return GroundedAnswer(between.join(text for text, _ in parts), True, used, tuple(supports))


def is_alike(one: EvidenceSentence, other: EvidenceSentence) -> bool:
    a, b = extract_stems(one.text), extract_stems(other.text)
    return 2 * len(a & b) > min(len(a), len(b))


def format_quote(asked: QuestionTerms, sentence: EvidenceSentence, quote: Quote) -> str:
    """With the speaker's name, where it is not the one who is asked about, and without the bars of
    what was erased."""
    verbatim = quote.speaker or (sentence.person and not quote.owner)
    known = (sentence.person,) == asked.people or (
        quote.assisted and sentence.person == asked.subject
    )
    speaker = f"{sentence.person}: " if verbatim and not known else ""
    told = _ERASED.sub(" … ", sentence.text).strip()
    return f"“{speaker}{told}”"


def format_dated_quote(
    asked: QuestionTerms,
    sentence: EvidenceSentence,
    quote: Quote,
    language: LanguageCode,
    *,
    change: ToldChange | None = None,
) -> str:
    """With the month it was said in, and for what is over, that it was once so. Of a change the
    side that is asked for, and the other one behind it."""
    before = ""
    if change:
        before = TRAILING.sub("", sentence.text[change.before : change.beginning])
        sentence = replace(sentence, text=f"… {sentence.text[change.beginning :]}")
    said = format_quote(asked, sentence, quote)
    if quote.said_at is None:
        return said
    when = MONTH[language].format(quote.said_at)
    if before:
        when = _AFTER[language].format(before, quote.said_at)
    return f"{USED_TO[language]}{said}{when}" if quote.until else f"{said}{when}"


def widen_to_neighbours(sentence: EvidenceSentence, quote: Quote) -> EvidenceSentence:
    """With the sentence before it where it goes on about somebody ("She works at the tax office."),
    and with the one behind that does, so that a quotation says whom it is about and what of them.
    """
    start, end = sentence.start, sentence.end
    for first, last, person in split_quote(quote):
        same = person == sentence.person
        if same and last <= start and not quote.text[last:start].strip():
            if _GOES_ON.match(sentence.text):
                start = first
        elif same and first >= end and not quote.text[end:first].strip():
            if _GOES_ON.match(quote.text[first:last]):
                end = last
            break
    if end - start > _MOST_WIDENED:
        return sentence
    return replace(sentence, start=start, end=end, text=quote.text[start:end])
