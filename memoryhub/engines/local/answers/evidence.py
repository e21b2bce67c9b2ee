"""What in the memories bears on a question: their sentences, best first, and whose they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from memoryhub.engines.local.answers.asked import find_asked_tense, is_about_subject
from memoryhub.engines.local.answers.relatives import (
    AskedRelative,
    find_asked_relative,
    speaks_of_third_person,
    tells_of_another,
)
from memoryhub.engines.local.chinese.rules import (
    classify_predicate,
    is_hypothetical,
    is_question,
    is_request,
)
from memoryhub.engines.local.claims.predicates import find_question_predicates, get_search_words
from memoryhub.engines.local.dates.calendar import MONTHS, WEEKDAYS
from memoryhub.engines.local.grammar.speech import asks_to_forget
from memoryhub.engines.local.grammar.verbs import find_lemma, is_dictionary_word
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.local.wordlists import ANIMALS, PEOPLE, split_words
from memoryhub.engines.types import Quote
from memoryhub.subject_names import PLACEHOLDERS, get_first_name

_SPEAKER_PREFIX = re.compile(r"^([^:\n]{1,40}): ", re.M)
# "Mr. Petrov", 82.5, "sofia.m", "163.com": no end of a sentence.
_NO_END = (
    r"(?<=\d)\.(?=\d)|(?<=[a-z])\.(?=[a-z])|(?<=\d)\.(?=(?:com|net|org|edu|cn)\b)"
    r"|(?:(?<=\b[MD]r)|(?<=\bMs)|(?<=\bMrs)|(?<=\bSt))\.(?= [A-Z])"
)
SENTENCE = re.compile(
    rf"(?:[^.!?。！？\n]|{_NO_END})+"
    r"(?:[.!?。！？]+(?=\s|$|[^\w\s.])|\n|[.。！？]|$)[\"”’']*"
)
# What is left of a sentence without its outdated clauses: no mark or "and" before or behind it.
_TELLING = re.compile(r"\b(?!(?:and|but|so|because)\b)\w.*[^\s,;，；、]", re.I | re.S)
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_SPEAKER_ONLY = re.compile(r"\b(?:i|i['’]\w+|im|ive)\b|^我(?![们家的妈爸哥姐弟妹老爷奶])", re.I)
_OWN_DOING = re.compile(
    r"\W*(?:when|where|why|since when|how long(?: ago)?|what (?:day|date|year))"
    r" (?:did|do|am|was|have|had) i (?!have|own|get|meet|see)\w",
    re.I,
)
_TO_SPEAKER = re.compile(r"\b(?:me|us|myself|ourselves)\b", re.I)
_SUPPOSING = re.compile(
    r"\b(?:imagine|what if|if only|i wish|if i (?:were|was|had|won|ever))\b|要是|如果|假如|万一",
    re.I,
)
# Words of a question that say what is asked for, not about what.
_QUESTION_WORDS = split_words("""
    what when where who whom whose which why how many much long often kind type name names year
    month day date time would could will can may might should did does
""")
# And of a Chinese one: what stands on both sides of them are no words of it.
_CHINESE_QUESTION_WORDS = re.compile(
    "什么时候|什么地方|什么|怎么样?|为什么|哪[里儿个些天年]?|多少|几[个岁点号]?|谁|[吗呢吧的啊]+(?=[?？]?$)"
)
# How an answer of somebody's is told, with what was asked.
_ANSWERED = re.compile(r"Asked [\"“][^\"”\n]*[\"”], [^:\n]{1,60} said: ")
MAX_CHARACTERS = 4000  # characters of a memory
# What a sentence's own words count beside those of the memory it stands in.
_OWN_WORDS_SHARE = 0.6
# Of what a question just before it says: an answer seldom repeats it.
_ANSWER_SHARE = 0.6
# How much sooner comes what was found first, and what bears on the question better, in shares of
# the question's words.
_FIRST, _BEARING = 0.25, 0.1


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
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
    coverage: float
    score: float
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """A question's words to look for, without names of people, and what it asks for.

    `people`: whom it is about; of a question about oneself, the subject, who asks. `relative`: the
    one of the `subject`'s that it is about.
    """

    text: str
    people: tuple[str, ...]
    stems: frozenset[str]
    predicates: tuple[str, ...]
    relative: AskedRelative | None = None
    subject: str = ""


def parse_question(question: str, quotes: Sequence[Quote], subject: str) -> QuestionTerms:
    # A subject "ana" is the speaker Ana, whose name is written as she is quoted; and Ana stays Ana
    # where what was said before her name was known calls her "ana".
    known = [subject, *(name for quote in quotes for name in _list_people(quote))]
    people = {name.casefold(): name for name in sorted(known, key=_is_written_well)}
    said = (name for name in people.values() if name and mentions_name(question, name))
    named = tuple(sorted(said))
    if not named and subject and is_about_subject(question):
        named = (people[subject.casefold()],)
    inside = {stem for name in named for stem in extract_stems(f"{name} {name}s")}
    return QuestionTerms(
        text=question,
        people=named,
        stems=frozenset(_extract_sought_stems(question, named) - inside - _QUESTION_WORDS),
        predicates=find_question_predicates(question),
        relative=find_asked_relative(question, (quote.text[:MAX_CHARACTERS] for quote in quotes)),
        subject=subject,
    )


def _extract_sought_stems(question: str, named: Collection[str]) -> set[str]:
    """Of a Chinese question, which is read by pairs of characters, those of what it is about: of no
    pair that is half a name, or half a word for what is asked."""
    if not _HAN_CHARACTER.search(question):
        return extract_stems(question)
    for name in named:
        question = question.replace(name, " ") if _HAN_CHARACTER.search(name) else question
    return extract_stems(_CHINESE_QUESTION_WORDS.sub(" ", question))


def _is_written_well(name: str) -> bool:
    return name != name.lower()


def _list_people(quote: Quote) -> Sequence[str]:
    named = quote.speaker or quote.owner
    if named:
        return [named]
    spoke = _SPEAKER_PREFIX.findall(quote.text[:MAX_CHARACTERS])
    return [quote.name_person(name) for name in spoke]


def mentions_name(text: str, name: str) -> bool:
    """Whether the text has the name, in full or its first word; "anas" is Ana's."""
    forms = {name, get_first_name(name)}
    found = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return bool(re.search(rf"(?<![A-Za-z])(?:{found})s?(?![A-Za-z])", text, re.I))


# Short for one another, as people write.
_SAME_WORD = {
    "appt": "appointment", "appts": "appointment", "bday": "birthday", "gf": "girlfriend",
    "bf": "boyfriend", "hubby": "husband", "mum": "mom", "mobile": "phone", "doc": "doctor",
    "uni": "university", "bro": "brother", "sis": "sister",
}  # fmt: skip


def extract_stems(text: str) -> set[str]:
    stems = (find_lemma(token) for token in count_terms(text))
    return {_SAME_WORD.get(stem, stem) for stem in stems}


def rank_sentences(asked: QuestionTerms, quotes: Sequence[Quote]) -> list[EvidenceSentence]:
    """Every sentence of the quotes that may be about the one who is asked about, best first."""
    spoken = list_spoken_stems(quotes)
    spread = Counter(stem for each in spoken for stem in each)
    weights = {stem: log(1 + (len(quotes) + 1) / (spread[stem] + 0.5)) for stem in asked.stems}
    total = sum(weights.values()) or 1.0
    shares = {stem: weight / total for stem, weight in weights.items()}
    own, doing = _asks_own_state(asked), _asks_own_doing(asked)
    others = {quote.owner for quote in quotes} - {"", asked.subject, *asked.people, *PLACEHOLDERS}
    found = [
        each
        for index, quote in enumerate(quotes)
        if _may_be_about_asked(asked, quote)
        for each in _score_quote(asked, quote, index, shares, spoken[index])
        if not (own and not quote.owner and _is_no_answer(each.text, others))
        and not (doing and not quote.owner and _is_anothers_doing(each.text, others))
        and not _tells_of_someone_else(asked, each, others)
    ]
    return sorted(found, key=lambda each: -each.score)


def _tells_of_someone_else(
    asked: QuestionTerms, sentence: EvidenceSentence, others: Collection[str]
) -> bool:
    """Whether a sentence speaks of somebody else than who is asked about, and of these not: of Mum,
    where Dad is asked about, of oneself, where one's husband is, or of Kim, where Declan is."""
    text, relative = sentence.text, asked.relative
    if relative is not None:
        own = sentence.person == asked.subject and _SPEAKER_ONLY.search(text)
        return relative.is_another(text) or bool(own and not relative.may_be_spoken_of(text))
    named = [name for name in asked.people if name != asked.subject]
    if not named or any(mentions_name(text, name) for name in named):
        return False
    return any(mentions_name(text, name) for name in others if name)


_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Auntie?|Uncle)\.? )?"
_CLIPPED = r"(?:wh\w+|how|it|that|there|here|let|he|she|today)"
# Whose thing is asked for, or what somebody does: "Randy's loan", "how much loan did Randy take".
_ASKS_OF_NAMED = re.compile(
    rf"(?<![\w'’]){_TITLE}(?!{_CLIPPED}['’])(?P<owner>[A-Za-z][\w-]+)['’]s?"
    r"(?= (?!is\b|was\b|not\b)[A-Za-z])"
    rf"|\b(?:does|did|is|has|was|will|do|are) {_TITLE}(?P<doer>[A-Z][\w-]+)"
    r" (?!in\b|at\b|on\b)[a-z]"
    r"|(?<![\w'’])(?P<hurried>[a-z]{3,})s(?= (?!is\b|was\b)[a-z])"
)
_OF_SPEAKER = re.compile(r"\b(?:i|i['’]\w+|im|ive|me|my|mine)\b", re.I)
_OF_SOMEBODY_MEANT = re.compile(r"\b(?:he|she|him|his|her|hers|they|their|them|who)\b", re.I)


def find_named_third(question: str, quotes: Sequence[Quote], subject: str) -> str:
    """The name of somebody else whose thing or doing is asked for; "" where nobody is named so."""
    own = {subject, *(name for quote in quotes[:1] for name in quote.subject_names)}
    for found in _ASKS_OF_NAMED.finditer(question):
        name = found["owner"] or found["doer"] or found["hurried"]
        low = name.casefold()
        known = low in PEOPLE | ANIMALS or low in WEEKDAYS | MONTHS
        if known or any(mentions_name(each, name) for each in own):
            continue
        if name.istitle() or (not is_dictionary_word(low) and _is_called(name.title(), quotes)):
            return name
    return ""


def _is_called(name: str, quotes: Sequence[Quote]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", q.text[:MAX_CHARACTERS]) for q in quotes)


def may_tell_of_named(
    name: str, asked: QuestionTerms, sentence: EvidenceSentence, quote: Quote
) -> bool:
    """Whether a sentence may speak of somebody who is named: what its speaker tells of themselves,
    or of somebody with another name, does not."""
    if mentions_name(f"{sentence.text} {quote.owner}", name):
        return True
    if quote.owner:  # "Ana's brother" may be Randy
        return "'s " in quote.owner
    if _OF_SOMEBODY_MEANT.search(sentence.text):
        return True
    alone = not _OF_SPEAKER.search(sentence.text)
    return alone and mentions_name(quote.text[:MAX_CHARACTERS], name)


def list_spoken_stems(quotes: Sequence[Quote]) -> list[set[str]]:
    """What each quote says, and what that took the place of: "switched to Monzo" tells with which
    bank somebody is, where that was told before."""
    return [extract_stems(f"{q.text[:MAX_CHARACTERS]} {q.replaced}") for q in quotes]


def _is_no_answer(text: str, others: Collection[str]) -> bool:
    """What a message tells of others, or only supposes, says nothing of its speaker's life."""
    return bool(_SUPPOSING.search(text)) or tells_of_another(text, others)


def _asks_own_doing(asked: QuestionTerms) -> bool:
    """Whether the subject asks when, where or why they did something."""
    of_self = [name.casefold() for name in asked.people] == [asked.subject.casefold()]
    return of_self and asked.relative is None and bool(_OWN_DOING.match(asked.text))


def _is_anothers_doing(text: str, others: Collection[str]) -> bool:
    """When Joan retires is not when her husband does."""
    return tells_of_another(text, others) and not _TO_SPEAKER.search(text)


def _asks_own_state(asked: QuestionTerms) -> bool:
    """Whether the subject asks about their own home, job and the like: what a message tells of
    somebody else is no answer to that."""
    of_self = [name.casefold() for name in asked.people] == [asked.subject.casefold()]
    return of_self and asked.relative is None and bool(asked.predicates)


def _may_be_about_asked(asked: QuestionTerms, quote: Quote) -> bool:
    """Where a relative of the subject is asked about, what the subject tells of nobody else is no
    answer: her own move does not say where her sister lives. Nor is what is held of her sister, and
    does not speak of her, where she asks about herself."""
    named = [name for name in asked.people if _HAN_CHARACTER.search(name) and name != asked.subject]
    if asked.relative is None and named:
        # What the subject scored is not what 周叙 did.
        text = quote.text[:MAX_CHARACTERS]
        spoken_of = (quote.speaker or quote.owner) in named or any(
            mentions_name(text, name) for name in named
        )
        return spoken_of or speaks_of_third_person(text)
    if asked.relative is None:
        of_self = [name.casefold() for name in asked.people] == [asked.subject.casefold()]
        if not of_self or quote.owner in ("", *asked.people, *PLACEHOLDERS):
            return True
        if asked.predicates:  # where their sister works
            return False
        return mentions_name(quote.text[:MAX_CHARACTERS], asked.subject)
    others = bool(quote.owner) and quote.owner.casefold() != asked.subject.casefold()
    return others or asked.relative.may_be_spoken_of(quote.text[:MAX_CHARACTERS])


def _score_quote(
    asked: QuestionTerms, quote: Quote, index: int, shares: Mapping[str, float], spoken: set[str]
) -> Iterator[EvidenceSentence]:
    """Its sentences in order; what follows a question is read as the answer to it."""
    around = _sum_shares(shares, spoken)
    replaced = extract_stems(quote.replaced)
    now = find_asked_tense(asked.text) == "now"
    before = 0.0
    pieces = _part_telling_from_asking(quote, split_quote(quote))
    for start, end, person in _leave_out_outdated(quote, pieces) if now else pieces:
        if asked.relative is not None and _HAN_CHARACTER.search(asked.text):
            first, last = asked.relative.narrow(quote.text[start:end])
            start, end = start + first, start + last
        text = quote.text[start:end]
        if not quote.owner and asks_to_forget(text, quote.text):
            continue  # it tells nothing, and what it is about is not to be told
        own = _sum_shares(shares, extract_stems(text) | replaced)
        asks = bool(re.search(r"[?？]\W*$", text))
        near = max(own, _ANSWER_SHARE * before)
        share = _OWN_WORDS_SHARE * near + (1 - _OWN_WORDS_SHARE) * around
        before = own if asks else 0.0
        score = share + _score_rank(quote, index) + _score_statement(asked, quote, text)
        score += _score_speaker(asked, person, text) - 0.5 * asks - 0.3 * _is_empty_sentence(text)
        yield EvidenceSentence(index, start, end, text, person, own, score, asks)


# "先生是电工，有什么汤水好？": what is told before what is asked.
_TOLD_BEFORE_ASKING = re.compile(
    rf"(?P<told>[^？?]*[{HAN}][^？?]*)[，,；;](?=[^，,；;？?]+[？?]+\W*$)"
)
_LEAST_TOLD = 4  # characters


def _part_telling_from_asking(
    quote: Quote, pieces: Iterable[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    for start, end, person in pieces:
        found = _TOLD_BEFORE_ASKING.match(quote.text, start, end)
        told = found["told"].strip() if found else ""
        apart = len(told) >= _LEAST_TOLD and not (
            is_question(told) or is_request(told) or is_hypothetical(told)
        )
        if found and apart:
            yield start, found.end("told"), person
            start = found.end()
        yield start, end, person


def _leave_out_outdated(
    quote: Quote, pieces: Iterable[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Without those that mostly told what holds no longer; of others what is left of them."""
    for start, end, person in pieces:
        over = sorted((a, b) for a, b in quote.outdated if a < end and start < b)
        told = sum(min(end, b) - max(start, a) for a, b in over)
        if not over:
            yield start, end, person
            continue
        if 2 * told > end - start:
            continue
        at = start
        for a, b in [*over, (end, end)]:
            left = _TELLING.search(quote.text[at : max(at, a)])
            if left:
                yield at + left.start(), at + left.end(), person
            at = max(at, b)


def _score_rank(quote: Quote, index: int) -> float:
    return _FIRST / (1 + 0.3 * index) + _BEARING * (quote.relevance or 0.0)


def _sum_shares(shares: Mapping[str, float], said: Iterable[str]) -> float:
    return sum(shares.get(stem, 0.0) for stem in set(said))


def _score_speaker(asked: QuestionTerms, person: str, text: str) -> float:
    """For the words of the one who is asked about; against those of another who is not told so."""
    if not asked.people or not person:
        return 0.0
    if person in asked.people:
        return 0.2
    return -0.1 if any(mentions_name(text, name) for name in asked.people) else -0.3


def _is_empty_sentence(text: str) -> bool:
    """ "Wow, Caroline!", or the caption of a picture."""
    short = len(extract_stems(text)) < 3 and not _HAN_CHARACTER.search(text)
    return short or text.startswith("[")


def _score_statement(asked: QuestionTerms, quote: Quote, text: str) -> float:
    """For what states the very thing that is asked for."""
    if quote.states_any_of(asked.predicates):
        return 0.6
    if detect_language(text) == "zh":
        return 0.6 if classify_predicate(text).key in asked.predicates else 0.0
    telling = {stem for key in asked.predicates for stem in extract_stems(get_search_words(key))}
    return 0.25 if telling & extract_stems(text) else 0.0


def split_quote(quote: Quote) -> Iterator[tuple[int, int, str]]:
    """(first character, end, whose words): a memory of several turns names the speaker of each."""
    at, person = 0, quote.speaker or quote.owner
    for line in quote.text[:MAX_CHARACTERS].splitlines(keepends=True):
        named = None if quote.speaker or quote.owner else _SPEAKER_PREFIX.match(line)
        person = quote.name_person(named[1]) if named else person
        answered = _ANSWERED.match(line)
        offset = named.end() if named else answered.end() if answered else 0
        for match in SENTENCE.finditer(line, offset):
            said = match[0].strip()
            if re.search(r"\w", said):
                start = at + match.start() + match[0].index(said)
                yield start, start + len(said), person
        at += len(line)
