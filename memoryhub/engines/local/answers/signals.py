"""What speaks for a piece of a memory as the answer to a question, as plain numbers. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log, log1p

from memoryhub.engines.local.answers.asked import (
    asks_yes_or_no,
    find_asked_tense,
    find_value_kind,
    has_value,
)
from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
    list_spoken_stems,
)
from memoryhub.engines.local.comparison.topics import find_topics
from memoryhub.engines.local.language import HAN
from memoryhub.engines.types import Quote

Signals = dict[str, float]

_WHO = re.compile(r"\b(?:who|whos|whose)\b|谁", re.I)
_WHERE = re.compile(
    r"\b(?:where|wheres|(?:what|which) (?:city|town|country|school|gym|bank))\b"
    r"|哪里|哪儿|在哪|哪个城市|住哪",
    re.I,
)
_ASKS_NAME = re.compile(
    r"\b(?:who|whos|whose|which|where|wheres|names?|called)\b|谁|哪|叫什么|名字", re.I
)
# A word with a capital that does not begin a sentence.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]+|\b[A-Z][a-z]+ [A-Z]")
_INNER_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+")
_AT_A_PLACE = re.compile(r"\b(?:in|at|to|near|from) (?:the )?[A-Z\d]|在|住|搬")
# What says that something has changed, that it is not so, or not yet.
NEWS = re.compile(
    r"\b(?:now|these days|currently|anymore|no longer|switched|changed|moved|started|since|instead"
    r"|still|bought|got|joined|quit|left)\b|现在|换|改|搬|新|了",
    re.I,
)
_DENIAL = re.compile(r"\b(?:not|never|no longer|stopped|quit|gave up)\b|n['’]t\b|没|不|别", re.I)
_NOT_YET = re.compile(
    r"\b(?:will|going to|gonna|plans?|might|maybe|hope|want|would|if)\b"
    r"|打算|准备|想|要|计划|如果|可能",
    re.I,
)
_DIGIT = re.compile(r"\d")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_HAN_CHARACTER = re.compile(f"[{HAN}]")
# What a question is about where no word of it says so: "what does Jo do" is about work.
_ASKED_TOPICS = {
    topic: re.compile(pattern, re.I)
    for topic, pattern in {
        "work": (
            r"\bwhat (?:do|does|did|is|am|are|was|were) (?:[\w'’]+ ){1,2}?(?:do|doing|up to)\b"
            r"|\bdo(?:es)? for work\b|\bfor a living\b"
            r"|干[嘛啥什]|做什么|做啥|做咩|做嘢|干的什么|干哪|拉货|什么活|在哪[里儿]?[做干教]"
        ),
        "home": (
            r"\bwhere (?:do|does|did|am|is|are|was|were) [\w'’]+"
            r"(?:(?: [\w'’]+)? (?:live|living|stay|staying|based|stationed|from))?\W*$"
            r"|\b(?:what|which) (?:city|town|suburb|country|village)\b|\baddress\b"
            r"|哪个城市|哪座城市|地址|寄哪|搬到哪|在哪[里儿]?[?？]?$"
        ),
        "money": (r"\bhow much\b(?! (?:does|do|did) [\w'’]+ weigh)|[收报拿赚挣给]多少|多少钱|几块"),
        "date": (
            r"\bwhen\b|\b(?:what|which) (?:day|night|date|month|time)\b"
            r"|周几|几号|哪天|什么时候|几月|几点"
        ),
        "partner": (
            r"\bseeing (?:any|some|over|who)|\bwho (?:was|am|is|were) \w+ seeing\b|什么关系"
        ),
        "sport": r"\bpb\b|\bkm a week\b|\b(?:shoes|miles)\b|全马|半马",
        "health": (r"\bweigh|\bhow much \w+ (?:do|does|is) \w+ (?:take|on)\b|多重|几斤|多少斤"),
        "boss": (
            r"\bwho (?:runs|leads|supervises|manages|heads|trains|coaches|teaches)\b"
            r"|谁[管带教]|跟谁"
        ),
        "name": r"\bwho(?:['’]?s| is| was)\b|姓[什啥]|叫[什啥]",
        "mail": r"\be-?mail",
        "phone": r"\b(?:extension|landline|pin)\b",
        "device": r"\bpw\b|password|wifi|语言写|写什么语言",
    }.items()
}
# A memory no longer than this may be the answer as a whole, and not only a sentence of it.
_WHOLE_CHARACTERS = 300
# What was not ranked with the rest bears on the question less than all that was.
_UNRANKED = -3.0


def describe_pieces(
    asked: QuestionTerms, quotes: Sequence[Quote], sentences: Sequence[EvidenceSentence]
) -> list[tuple[EvidenceSentence, Signals]]:
    """The `sentences` of the quotes (`evidence.rank_sentences`), and short memories as a whole,
    with what speaks for each as an answer; always the same signals in the same order."""
    about_all, spoken = _describe_question(asked, quotes), list_spoken_stems(quotes)
    weights = _weigh_stems(asked, quotes, spoken)
    told = [
        (piece, about_all[piece.quote] | _describe_piece(asked, quotes, piece, spoken, weights))
        for piece in _add_whole_memories(sentences, quotes)
    ]
    _compare_pieces(asked, told)
    return told


@lru_cache(maxsize=2048)
def find_text_topics(text: str) -> frozenset[str]:
    words = [word.casefold() for word in _LATIN_WORD.findall(text)]
    return find_topics(words, "".join(_HAN_CHARACTER.findall(text)))


@lru_cache(maxsize=512)
def find_asked_topics(question: str) -> frozenset[str]:
    meant = (topic for topic, pattern in _ASKED_TOPICS.items() if pattern.search(question))
    return find_text_topics(question).union(meant)


def _add_whole_memories(
    sentences: Sequence[EvidenceSentence], quotes: Sequence[Quote]
) -> Iterator[EvidenceSentence]:
    counts = Counter(each.quote for each in sentences)
    given = set[int]()
    for sentence in sentences:
        quote = quotes[sentence.quote]
        yield sentence
        short = len(quote.text) <= _WHOLE_CHARACTERS and bool(quote.speaker)
        if counts[sentence.quote] > 1 and short and sentence.quote not in given:
            given.add(sentence.quote)
            yield replace(
                sentence, start=0, end=len(quote.text), text=quote.text, person=quote.speaker
            )


def _weigh_stems(
    asked: QuestionTerms, quotes: Sequence[Quote], spoken: Sequence[set[str]]
) -> dict[str, float]:
    """The question's words by their rarity among the memories, together 1."""
    spread = Counter(stem for each in spoken for stem in each)
    weights = {stem: log(1 + (len(quotes) + 1) / (spread[stem] + 0.5)) for stem in asked.stems}
    total = sum(weights.values()) or 1.0
    return {stem: weight / total for stem, weight in weights.items()}


def _describe_question(asked: QuestionTerms, quotes: Sequence[Quote]) -> list[Signals]:
    """Of each quote, its place among the others, and what the question asks of it."""
    tense, kind = find_asked_tense(asked.text), find_value_kind(asked.text)
    times = sorted({quote.said_at for quote in quotes if quote.said_at})
    bearing = [_UNRANKED if q.relevance is None else q.relevance for q in quotes]
    others = sorted(bearing, reverse=True)
    topics = find_asked_topics(asked.text)
    told = []
    for at, quote in enumerate(quotes):
        recency = times.index(quote.said_at) / max(1, len(times) - 1) if quote.said_at else 0.0
        best_other = others[1] if len(others) > 1 and bearing[at] == others[0] else others[0]
        theirs = quote.owner in asked.people if asked.people and quote.owner else 0.5
        told.append(
            {
                "first": 1 / (1 + at),
                "place": float(at),
                "bearing": bearing[at],
                "lead": bearing[at] - best_other,
                "bears": float(quote.bears),
                "recency": recency,
                "now": recency * (tense == "now"),
                "former": recency * (tense == "former"),
                "asks_now": float(tense == "now"),
                "asks_former": float(tense == "former"),
                "asks_amount": float(kind == "amount"),
                "asks_time": float(kind == "time"),
                "asks_who": float(bool(_WHO.search(asked.text))),
                "asks_where": float(bool(_WHERE.search(asked.text))),
                "asks_yes_or_no": float(asks_yes_or_no(asked.text)),
                "of_relative": float(asked.relative is not None),
                "words": float(len(asked.stems)),
                "has_topic": float(bool(topics)),
                "ended": float(quote.until is not None and tense != "former"),
                "ended_asked": float(quote.until is not None and tense == "former"),
                "tells_end": float(quote.tells_end),
                "stated": float(quote.states_any_of(asked.predicates)),
                "fact": float(bool(quote.owner)),
                "holds": float(bool(quote.owner) and quote.until is None),
                "of_asked": float(theirs),
            }
        )
    return told


def _describe_piece(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    sentence: EvidenceSentence,
    spoken: Sequence[set[str]],
    weights: dict[str, float],
) -> Signals:
    kind, quote = find_value_kind(asked.text), quotes[sentence.quote]
    kind = "" if kind == "identity" else kind  # answered before, where it is told
    stems = extract_stems(f"{sentence.text} {quote.replaced}")
    chinese = bool(_HAN_CHARACTER.search(sentence.text))
    words = len(sentence.text) / 1.6 if chinese else len(sentence.text.split())
    count = max(1, len(asked.stems))
    topics = find_asked_topics(asked.text)
    shared = topics & find_text_topics(sentence.text)
    question, text = asked.text, sentence.text
    return {
        "says": len(asked.stems & stems) / count,
        "says_rare": sum(weights[stem] for stem in asked.stems & stems),
        "memory_says": len(asked.stems & spoken[sentence.quote]) / count,
        "score": sentence.score,
        "topics": float(len(shared)),
        "topic_share": len(shared) / len(topics) if topics else -1.0,
        "value": float(bool(kind) and has_value(text, kind)),
        "no_value": float(not has_value(text, kind)),
        "digit": float(bool(_DIGIT.search(text))),
        "name": float(bool(_ASKS_NAME.search(question) and _NAME.search(text))),
        "name_asked": float(bool(_WHO.search(question) and _INNER_NAME.search(text))),
        "place_asked": float(bool(_WHERE.search(question) and _AT_A_PLACE.search(text))),
        "asks": float(sentence.is_question),
        "denies": float(bool(_DENIAL.search(text))),
        "not_yet": float(bool(_NOT_YET.search(text))),
        "theirs": float(bool(asked.people) and sentence.person in asked.people),
        "whole": float(len(text) == len(quote.text)),
        "length": log1p(words),
        "news": float(bool(NEWS.search(text)) and find_asked_tense(question) == "now"),
        "chinese": float(chinese),
    }


def _compare_pieces(asked: QuestionTerms, told: Sequence[tuple[EvidenceSentence, Signals]]) -> None:
    """Add how each stands to the others: whether any says more of what is asked, and which of
    those that speak of it was said last, or first where what was before is asked for."""
    topics, former = find_asked_topics(asked.text), find_asked_tense(asked.text) == "former"
    spread = Counter(t for piece, _ in told for t in topics & find_text_topics(piece.text))
    rarity = {topic: log(1 + (len(told) + 1) / (spread[topic] + 0.5)) for topic in topics}
    total = sum(rarity.values()) or 1.0
    for piece, signals in told:
        shared = topics & find_text_topics(piece.text)
        signals["rare_topics"] = sum(rarity[topic] for topic in shared) / total
    most = {name: max((s[name] for _, s in told), default=0.0) for name in _COMPARED}
    on_topic = [s["recency"] for _, s in told if s["rare_topics"] >= most["rare_topics"]]
    bound = (min if former else max)(on_topic, default=0.0)
    for _, signals in told:
        best = 0 < most["rare_topics"] <= signals["rare_topics"]
        for name in _COMPARED:
            signals[f"{name}_behind"] = signals[name] - most[name]
        signals["last_of_topic"] = float(best and not former and signals["recency"] >= bound)
        signals["first_of_topic"] = float(best and former and signals["recency"] <= bound)
        signals["says_either"] = max(signals["says_rare"], signals["rare_topics"])
        signals["says_nothing"] = float(not signals["says_rare"] and not signals["rare_topics"])


_COMPARED = ("says_rare", "rare_topics", "topics")
