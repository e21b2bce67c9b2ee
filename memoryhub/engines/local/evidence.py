"""What in the memories bears on a question: their sentences, best first, and whose they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from memoryhub.engines.local.chinese_rules import classify
from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.predicates import predicate_words, question_predicates
from memoryhub.engines.local.summaries import tokens_of
from memoryhub.engines.local.verbs import lemma_of
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE, words
from memoryhub.engines.types import Quote

_SPEAKER = re.compile(r"^([^:\n]{1,40}): ", re.M)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+(?=\s|$|[^\w\s.])|\n|[.。！？]|$)[\"”’']*")
_HAN = re.compile(r"[\u3400-\u9fff]")
# Words of a question that say what is asked for, not about what.
_ASKING = words(
    """
    what when where who whom whose which why how many much long often kind type name names year
    month day date time would could will can may might should did does
    """
)
# Whoever asks speaks of themselves or of what is theirs, and of nobody of theirs ("my sister").
_OF_ONESELF = re.compile(r"\b(?:I|[Mm]e|[Mm]yself|[Mm]y|[Mm]ine)\b")
_OF_THEIRS = re.compile(r"\b(?:my|our) ((?:[\w'’-]+ ){0,3}[\w-]+)", re.I)
_READ = 4000  # characters of a memory
# What a sentence's own words count beside those of the memory it stands in.
_OWN = 0.6
# Of what a question just before it says: an answer seldom repeats it.
_ANSWERS = 0.6
# How much sooner comes what was found first, and what bears on the question better, in shares of
# the question's words.
_FIRST, _BEARING = 0.25, 0.1


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters [start, end) of the text of the quote with this index.

    `person` said it, or it is about; "" where nobody is named. `own`: of what the question says,
    weighed by rarity, how much this says too, in [0, 1]. `score` adds what its surroundings say,
    how well the memory was found, whose words they are, and whether they state what is asked for.
    """

    quote: int
    start: int
    end: int
    text: str
    person: str
    own: float
    score: float
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's words to look for, without names of people, and what it asks for.

    `named`: whom it is about; of a question about oneself, the subject, who asks.
    """

    text: str
    named: tuple[str, ...]
    stems: frozenset[str]
    predicates: tuple[str, ...]


def asked_of(question: str, quotes: Sequence[Quote], subject: str) -> Asked:
    # A subject "ana" is the speaker Ana, whose name is written as she is quoted.
    known = [subject, *(name for quote in quotes for name in _people(quote))]
    people = {name.casefold(): name for name in known}
    named = tuple(sorted(name for name in people.values() if name and names(question, name)))
    if not named and subject and _is_of_oneself(question):
        named = (people[subject.casefold()],)
    inside = {stem for name in named for stem in stems(name)}
    return Asked(
        text=question,
        named=named,
        stems=frozenset(stems(question) - inside - _ASKING),
        predicates=question_predicates(question),
    )


def _is_of_oneself(question: str) -> bool:
    theirs = {stem for match in _OF_THEIRS.finditer(question) for stem in stems(match[1])}
    return bool(_OF_ONESELF.search(question)) and not theirs & (PEOPLE | ANIMALS)


def _people(quote: Quote) -> Sequence[str]:
    named = quote.speaker or quote.owner
    return [named] if named else _SPEAKER.findall(quote.text[:_READ])


def names(text: str, name: str) -> bool:
    """Whether the text has the name, in full or its first word."""
    forms = {name, name.split()[0]} if name.split() else {name}
    found = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return bool(re.search(rf"(?<![A-Za-z])(?:{found})(?![A-Za-z])", text, re.I))


def stems(text: str) -> set[str]:
    return {lemma_of(token) for token in tokens_of(text)}


def ranked(asked: Asked, quotes: Sequence[Quote]) -> list[Sentence]:
    """Every sentence of the quotes, best first."""
    spoken = [stems(quote.text[:_READ]) for quote in quotes]
    spread = Counter(stem for each in spoken for stem in each)
    weights = {stem: log(1 + (len(quotes) + 1) / (spread[stem] + 0.5)) for stem in asked.stems}
    total = sum(weights.values()) or 1.0
    shares = {stem: weight / total for stem, weight in weights.items()}
    found = [
        each
        for index, quote in enumerate(quotes)
        for each in _of_quote(asked, quote, index, shares, spoken[index])
    ]
    return sorted(found, key=lambda each: -each.score)


def _of_quote(
    asked: Asked, quote: Quote, index: int, shares: Mapping[str, float], spoken: set[str]
) -> Iterator[Sentence]:
    """Its sentences in order; what follows a question is read as the answer to it."""
    around = _sum(shares, spoken)
    before = 0.0
    for start, end, person in _sentences(quote):
        text = quote.text[start:end]
        own = _sum(shares, stems(text))
        asks = bool(re.search(r"[?？]\W*$", text))
        share = _OWN * max(own, _ANSWERS * before) + (1 - _OWN) * around
        before = own if asks else 0.0
        score = share + _found(quote, index) + _stating(asked, quote, text)
        score += _whose(asked, person, text) - 0.5 * asks - 0.3 * _is_empty(text)
        yield Sentence(index, start, end, text, person, own, score, asks)


def _found(quote: Quote, index: int) -> float:
    return _FIRST / (1 + 0.3 * index) + _BEARING * (quote.bearing or 0.0)


def _sum(shares: Mapping[str, float], said: Iterable[str]) -> float:
    return sum(shares.get(stem, 0.0) for stem in set(said))


def _whose(asked: Asked, person: str, text: str) -> float:
    """For the words of the one who is asked about; against those of another who is not told so."""
    if not asked.named or not person:
        return 0.0
    if person in asked.named:
        return 0.2
    return -0.1 if any(names(text, name) for name in asked.named) else -0.3


def _is_empty(text: str) -> bool:
    """ "Wow, Caroline!", or the caption of a picture."""
    return text.startswith("[") or (len(stems(text)) < 3 and not _HAN.search(text))


def _stating(asked: Asked, quote: Quote, text: str) -> float:
    """For what states the very thing that is asked for."""
    if quote.states(asked.predicates):
        return 0.6
    if language_of(text) == "zh":
        return 0.6 if classify(text).key in asked.predicates else 0.0
    telling = {stem for key in asked.predicates for stem in stems(predicate_words(key))}
    return 0.25 if telling & stems(text) else 0.0


def _sentences(quote: Quote) -> Iterator[tuple[int, int, str]]:
    """(first character, end, whose words): a memory of several turns names the speaker of each."""
    at, person = 0, quote.speaker or quote.owner
    for line in quote.text[:_READ].splitlines(keepends=True):
        named = None if quote.speaker or quote.owner else _SPEAKER.match(line)
        person = named[1] if named else person
        offset = named.end() if named else 0
        for match in _SENTENCE.finditer(line, offset):
            said = match[0].strip()
            if re.search(r"\w", said):
                start = at + match.start() + match[0].index(said)
                yield start, start + len(said), person
        at += len(line)
