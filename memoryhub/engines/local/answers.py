"""Answers without a model: a date for "when", a phrase where one is asked for, or a quotation.

Every answer is taken from the memories word by word and says from where. With nothing recalled, or
where what was recalled is another person's, it says that nothing is known (E32).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memoryhub.engines.local.evidence import Asked, Sentence, asked_of, names, ranked, stems
from memoryhub.engines.local.language import LanguageCode, language_of
from memoryhub.engines.local.phrases import Phrase, Wish, phrases, wish_of
from memoryhub.engines.local.timing import day, times_in, written
from memoryhub.engines.types import Answer, Quote, Support, TimeSpan

_WHEN = re.compile(
    r"^\W*(?:when|(?:in |on |around |since )?(?:what|which) (?:day|date|year|month|time)\b"
    r"|since when|how long ago)\b"
    r"|什么时候|何时|哪天|哪[一个]?[年月日天]|几[月号]|多久以前",
    re.I,
)
_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b|[吗嘛][?？]?\s*$",
    re.I,
)
# What says that something is not so, or not for certain; and "or" asks for a choice.
_HEDGED = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|if|might|may|maybe|perhaps|would|could|hardly|or"
    r"|instead|wish|hope|want|plan|used to|stopped|no longer)\b|n['’]t\b|[?？]\W*$"
    r"|不|没|无|别|如果|可能|也许|想|打算|还是",
    re.I,
)
_MOST, _ALL = 0.5, 0.9  # of the question's words
_SAID = {"en": "said on {}", "zh": "说于{}"}
_YES = {"en": "Yes:", "zh": "是的："}
# Characters of a question, and memories, that are looked at.
_READ, _LOOKED_AT = 1000, 10
# A date is looked for in sentences that bear on the question nearly as well as the best one.
_NEARLY = 0.3
_QUOTED_AS_WELL = 0.1
_MOST_QUOTED, _MOST_LISTED = 2, 4
# Scores of phrases that are given as the answer, and of others beside the best.
_SURE, _AS_SURE = 1.6, 0.5
# By how much more what another person said must bear on the question than what the asked-for one
# did, in the units of a search's score.
_SOMEBODY_ELSES = 0.8
_NONE = {"en": "I found nothing about that.", "zh": "没有找到相关的记忆。"}


def answer(question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
    """From the quotes, best first; abstains when none bears on the question."""
    question = question[:_READ]
    language: LanguageCode = "zh" if language_of(question) == "zh" else "en"
    quotes = quotes[:_LOOKED_AT]
    asked = asked_of(question, quotes, subject)
    sentences = ranked(asked, quotes)
    stated = any(_states(asked, quote) for quote in quotes)
    if stated:
        sentences = [s for s in sentences if quotes[s.quote].owner in ("", *asked.named)]
    if not sentences or not (stated or _says_what(asked)):
        return Answer(_NONE[language], quoted=True)
    if not stated and _is_somebody_elses(asked, quotes):
        return Answer(_NONE[language], quoted=True)
    if _WHEN.search(question):
        made = _dated(sentences, quotes, language)
    elif _YES_OR_NO.search(question):
        made = _yes(asked, sentences[0], quotes, language)
    else:
        made = _short(asked, sentences, quotes) if language == "en" else None
    return made or _quoted(asked, sentences, quotes)


def _states(asked: Asked, quote: Quote) -> bool:
    """Whether it is a fact about the one person who is asked about, of the kind that is asked for:
    what others' facts say is then no answer, however well it bears."""
    return bool(quote.owner) and (quote.owner,) == asked.named and quote.states(asked.predicates)


def _says_what(asked: Asked) -> bool:
    """Whether it has words to look for, or names somebody to be told about."""
    return bool(asked.stems) or any(names(asked.text, name) for name in asked.named)


def _is_somebody_elses(asked: Asked, quotes: Sequence[Quote]) -> bool:
    """Whether the question is about one person, and another one said what bears on it."""
    if len(asked.named) != 1:
        return False
    person = asked.named[0]
    theirs = [q for q in quotes if _is_about(q, person)]
    others = [q for q in quotes if not _is_about(q, person) and (q.speaker or q.owner)]
    if not others or any(q.bearing is None for q in quotes):
        return False  # they were not ranked side by side
    best = max((q.bearing or 0.0 for q in theirs), default=None)
    return best is None or max(q.bearing or 0.0 for q in others) - best > _SOMEBODY_ELSES


def _is_about(quote: Quote, person: str) -> bool:
    return person in (quote.owner, quote.speaker)


def _dated(
    sentences: Sequence[Sentence], quotes: Sequence[Quote], language: LanguageCode
) -> Answer | None:
    """The time that the best dated evidence speaks of; of what has none, when it was said."""
    best = sentences[0].score
    for sentence in sentences:
        if sentence.score < best - _NEARLY:
            break
        span = _time_of(sentence, quotes[sentence.quote])
        if span is not None:
            return _one(written(span, language), sentence)
    said_at = quotes[sentences[0].quote].said_at
    if said_at is None or sentences[0].own < _MOST:
        return None
    return _one(_SAID[language].format(day(said_at, language)), sentences[0])


def _time_of(sentence: Sentence, quote: Quote) -> TimeSpan | None:
    if quote.event and not quote.speaker:
        return quote.event
    found = times_in(sentence.text, quote.said_at) if quote.said_at else ()
    return found[0] if found else None


def _one(text: str, sentence: Sentence) -> Answer:
    support = Support(sentence.quote, (0, len(text)), (sentence.start, sentence.end))
    return Answer(text, quoted=True, used=(sentence.quote,), supports=(support,))


def _yes(
    asked: Asked, best: Sentence, quotes: Sequence[Quote], language: LanguageCode
) -> Answer | None:
    """Where the one who is asked about says all that the question does, without ifs and buts."""
    whose = not asked.named or best.person in asked.named
    plain = not _HEDGED.search(best.text) and not _HEDGED.search(asked.text.rstrip("?？ "))
    if not (whose and plain and best.own >= _ALL):
        return None
    return _one(f"{_YES[language]} {_told(asked, best, quotes[best.quote])}", best)


def _short(asked: Asked, sentences: Sequence[Sentence], quotes: Sequence[Quote]) -> Answer | None:
    """The phrases asked for, where they are sure enough. Of one thing, what a fact states goes
    before what was said: it is kept up to date, and knows itself which of its words is meant."""
    wish = wish_of(asked.text)
    if wish.kind == "other":
        return None
    stating = [s for s in sentences if not wish.many and _states(asked, quotes[s.quote])]
    if stating and quotes[stating[0].quote].object and wish.kind != "why":
        value = _value(stating[0], quotes[stating[0].quote])
        return value or _quoted(asked, stating[:1], quotes)
    for among in (stating, sentences):
        found = [p for p in phrases(asked, wish, among) if p.score >= _SURE] if among else []
        if chosen := list(_unlike(found, wish)):
            return _joined([(p.text, p) for p in chosen], ", ")
    return None


def _value(sentence: Sentence, quote: Quote) -> Answer | None:
    """What the fact says of the one thing asked for, where its text has it in these words."""
    words = rf"(?<!\w){re.escape(quote.object)}(?!\w)"
    match = re.search(words, sentence.text, re.I)
    if match is None:
        return None
    start, end = sentence.start + match.start(), sentence.start + match.end()
    phrase = Phrase(sentence.quote, start, end, match[0], sentence.score)
    return _joined([(phrase.text, phrase)], "")


def _unlike(found: Sequence[Phrase], wish: Wish) -> Iterator[Phrase]:
    """The best, and where several are asked for those nearly as good: one a memory, each once."""
    given = list[Phrase]()
    for phrase in found[: 1 if not wish.many else None]:
        known = any(_is_said_by(phrase, each) for each in given)
        sure = phrase.score >= found[0].score - _AS_SURE
        if sure and not known and len(given) < _MOST_LISTED:
            given.append(phrase)
            yield phrase


def _is_said_by(phrase: Phrase, given: Phrase) -> bool:
    one, other = phrase.text.lower(), given.text.lower()
    return phrase.quote == given.quote or one in other or other in one


def _quoted(asked: Asked, sentences: Sequence[Sentence], quotes: Sequence[Quote]) -> Answer:
    chosen = list[Sentence]()
    telling = [sentence for sentence in sentences if not sentence.asks]
    for sentence in telling or sentences:
        near = not chosen or sentence.score >= chosen[0].score - _QUOTED_AS_WELL
        if near and len(chosen) < _MOST_QUOTED and not any(_alike(sentence, c) for c in chosen):
            chosen.append(sentence)
    return _joined([(_told(asked, s, quotes[s.quote]), s) for s in chosen], " ")


def _alike(one: Sentence, other: Sentence) -> bool:
    a, b = stems(one.text), stems(other.text)
    return 2 * len(a & b) > min(len(a), len(b))


def _told(asked: Asked, sentence: Sentence, quote: Quote) -> str:
    """With the speaker's name, where it is not the one who is asked about."""
    verbatim = quote.speaker or (sentence.person and not quote.owner)
    known = (sentence.person,) == asked.named
    speaker = f"{sentence.person}: " if verbatim and not known else ""
    return f"“{speaker}{sentence.text}”"


def _joined(parts: Sequence[tuple[str, Sentence | Phrase]], between: str) -> Answer:
    supports, at = list[Support](), 0
    for text, source in parts:
        supports.append(Support(source.quote, (at, at + len(text)), (source.start, source.end)))
        at += len(text) + len(between)
    used = tuple(dict.fromkeys(source.quote for _, source in parts))
    return Answer(between.join(text for text, _ in parts), True, used, tuple(supports))
