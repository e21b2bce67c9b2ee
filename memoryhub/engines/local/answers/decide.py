"""How likely a piece of a memory answers a question: a learned decider over a few plain features.

Boosted trees, learned by `manage.py lab train-answers` from everyday questions, and shipped as JSON
with where they come from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import log1p
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from memoryhub.engines.embedding.packaged import get_packaged_embedder
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
from memoryhub.engines.local.answers.kinds import AskedKind, find_asked_kind
from memoryhub.engines.local.comparison.topics import find_topics
from memoryhub.engines.local.grammar.speech import asks_to_forget
from memoryhub.engines.local.language import HAN, LanguageCode
from memoryhub.engines.local.trees import BoostedTrees, StrictModel
from memoryhub.engines.reranking.packaged import get_packaged_reranker
from memoryhub.engines.types import Quote
from memoryhub.subject_names import PLACEHOLDERS, THE_USER_BY_LANGUAGE

DECIDER_PATH = Path(__file__).with_name("decider.json")
DECIDER_FORMAT = "memoryhub.decider/2"
_ASKS_NAME = re.compile(
    r"\b(?:who|whos|who['’]s|whose|which|where|wheres|where['’]s|names?|called)\b|谁|哪|叫什么|名字",
    re.I,
)
# A word with a capital that does not begin a sentence.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]+|\b[A-Z][a-z]+ [A-Z]")
# What says that something has changed.
NEWS = re.compile(
    r"\b(?:now|these days|currently|anymore|no longer|switched|changed|moved|started|since|instead"
    r"|still|bought|got|joined|quit|left)\b|现在|换|改|搬|新|了",
    re.I,
)
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
# Topics that tell what kind of thing is asked for.
_KINDS = frozenset(
    {"study", "transport", "sport", "bank", "pet", "coffee", "music", "language", "device", "phone"}
)
_HAN_CHARACTER = re.compile(f"[{HAN}]")
# A memory no longer than this may be the answer as a whole, and not only a sentence of it.
_WHOLE_CHARACTERS = 300
# Behind this many others by meaning it makes no difference how many they are.
_LAST_PLACE = 9
# So many pieces that were told later are read in one with the best; and so many characters of both.
_MOST_SUCCESSORS, _MOST_OF_SUCCESSOR = 10, 150
# So many pieces are read together with the question; what the others score.
_MOST_READ, _UNREAD = 12, -8.0
_THE_USER_ZH = THE_USER_BY_LANGUAGE["zh"]
_FIRST_MEMORIES = 3  # half of what is read may be theirs, whatever is nearer by meaning
_ASSISTANT = "assistant"  # who speaks under no other name
_MOST_WORDS = 8  # of a question, that are told apart by their number
# What was not ranked with the rest bears on the question less than all that was.
_UNRANKED = -3.0


class DeciderTraining(StrictModel):
    """What it was learned from, and by language how it does in dialogues that it has not seen."""

    dialogues: int
    questions: int
    on: str
    left_out: Mapping[str, Mapping[str, float]]


class AnswerDecider(StrictModel):
    """`bars`: by language, from which chance on a piece is taken for the answer."""

    format: Annotated[str, Field(pattern=f"^{DECIDER_FORMAT}$")] = DECIDER_FORMAT
    features: tuple[str, ...]
    bars: Mapping[str, float]
    trained: DeciderTraining
    trees: BoostedTrees

    def get_bar(self, language: LanguageCode) -> float:
        return self.bars["zh" if language == "zh" else "en"]

    def estimate_chances(self, pieces: Sequence[Mapping[str, float]]) -> list[float]:
        rows = np.array([[each[name] for name in self.features] for each in pieces], dtype=float)
        return self.trees.estimate_shares(rows).tolist() if pieces else []


def read_decider(path: Path) -> AnswerDecider:
    """Raises ValueError for anything but a file that the training wrote."""
    return AnswerDecider.model_validate_json(path.read_text(encoding="utf-8"))


@cache
def get_shipped_decider() -> AnswerDecider:
    return read_decider(DECIDER_PATH)


def weigh_sentences(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    sentences: Sequence[EvidenceSentence],
    decider: AnswerDecider,
) -> list[tuple[float, EvidenceSentence]]:
    """Each piece of the quotes with its chance to be the answer, likeliest first. From a chance of
    the decider's bar on it is one."""
    described = list(describe_pieces(asked, quotes, sentences))
    chances = decider.estimate_chances([features for _, features in described])
    weighed = [(chance, piece) for chance, (piece, _) in zip(chances, described, strict=True)]
    return sorted(weighed, key=lambda each: -each[0])


def tells_kind(kind: AskedKind, asked: QuestionTerms, quote: Quote) -> bool:
    """Whether it tells what is asked for of the very one who is asked about."""
    if quote.text.rstrip().endswith(("?", "？")):
        return False
    if asked.relative is not None:
        theirs = bool(quote.owner) and asked.relative.is_called(quote.owner)
    else:
        whose = quote.owner or quote.speaker
        # What was read before the subject's name was known is the user's.
        unnamed = whose in PLACEHOLDERS and asked.subject in asked.people
        theirs = whose in asked.people or unnamed
    around = kind.of_others if quote.owner and asked.relative is None else None
    told = kind.tells if theirs else around
    return told is not None and bool(told.search(quote.text))


def shares_kind(asked: QuestionTerms, quote: Quote, text: str) -> bool:
    """Whether a fact of the one who is asked about is of the same kind of thing as the question, by
    whatever words: a swim where a sport is asked for."""
    theirs = bool(quote.owner) and (quote.owner,) == asked.people
    sought = _find_kinds(asked.text) if theirs and not quote.tells_end else frozenset()
    return bool(sought) and sought <= _find_kinds(text)


def select_answering(asked: QuestionTerms, texts: Sequence[str]) -> frozenset[str]:
    """Those that the reader takes rather for an answer than not, and that are of the kind of thing
    that is asked for, if of any: no medicine is a car."""
    alike = [text for text in texts if _find_kinds(asked.text) <= _find_kinds(text)]
    scores = get_packaged_reranker(1).score_texts(asked.text, alike) if alike else []
    return frozenset(text for text, odds in zip(alike, scores, strict=True) if odds >= 0)


def _measure_shared_grams(question: str, text: str) -> float:
    """The share of the question's pairs of Chinese characters that the text has too."""
    asked, told = (_list_grams(each) for each in (question, text))
    return len(asked & told) / len(asked) if asked else 0.0


def _list_grams(text: str) -> set[str]:
    characters = "".join(_HAN_CHARACTER.findall(text))
    return {characters[at : at + 2] for at in range(len(characters) - 1)}


@lru_cache(maxsize=512)
def _find_kinds(text: str) -> frozenset[str]:
    words = [word.casefold() for word in _LATIN_WORD.findall(text)]
    return find_topics(words, "".join(_HAN_CHARACTER.findall(text))) & _KINDS


def describe_pieces(
    asked: QuestionTerms, quotes: Sequence[Quote], sentences: Sequence[EvidenceSentence]
) -> Iterator[tuple[EvidenceSentence, dict[str, float]]]:
    """The `sentences` of the quotes (`evidence.rank_sentences`), and short memories as a whole,
    with what speaks for each as an answer."""
    about_all = _describe_question(asked, quotes)
    spoken = list_spoken_stems(quotes)
    pieces, texts = list_pieces(asked, quotes, sentences)
    kind = find_asked_kind(asked.text)
    nearness = _describe_nearness(asked, texts)
    reading = _describe_reading(asked, pieces, texts, [each["near"] for each in nearness])
    scores = [each["read"] for each in reading]
    beside = _describe_later_and_earlier(quotes, pieces, scores)
    successors = _describe_succession(asked, quotes, pieces, texts, scores)
    for piece, near, read, others, after in zip(
        pieces, nearness, reading, beside, successors, strict=True
    ):
        own = about_all[piece.quote] | near | read | others | after
        about = _describe_subject(asked, kind, quotes[piece.quote], piece)
        yield piece, own | about | _describe_piece(asked, quotes, piece, spoken[piece.quote])


def list_pieces(
    asked: QuestionTerms, quotes: Sequence[Quote], sentences: Sequence[EvidenceSentence]
) -> tuple[list[EvidenceSentence], list[str]]:
    """What an answer is chosen from, and each as it is read beside the question."""
    now = find_asked_tense(asked.text) == "now"
    pieces = list(_add_whole_memories(sentences, quotes, but_outdated=now))
    return pieces, [_tell_as_asked(asked.text, piece.text) for piece in pieces]


def tell_as_successor(later: str, earlier: str) -> str:
    """What was told later, beside what was told earlier and may answer the question: of few words
    only that tells what they are about."""
    return f"{later[:_MOST_OF_SUCCESSOR]} (earlier: {earlier[:_MOST_OF_SUCCESSOR]})"


def _tell_as_asked(question: str, text: str) -> str:
    """What is told of 用户, as who asks of 我 would say it: that word means a user of anything."""
    return text.replace(_THE_USER_ZH, "我") if "我" in question else text


def _describe_nearness(asked: QuestionTerms, texts: Sequence[str]) -> list[dict[str, float]]:
    """How like the question each piece is by meaning, by itself and beside the others."""
    if not texts:
        return []
    embedder = get_packaged_embedder()
    near = embedder.embed(texts)
    likeness = (near @ embedder.embed_questions([asked.text])[0]).tolist()
    return _describe_places("near", likeness, beside=0.0)


def _describe_reading(
    asked: QuestionTerms,
    pieces: Sequence[EvidenceSentence],
    texts: Sequence[str],
    near: Sequence[float],
) -> list[dict[str, float]]:
    """How sure it is by reading both in one that each piece answers the question: of the first
    memories and of all the nearest, since reading takes milliseconds a piece."""
    nearest = sorted(range(len(pieces)), key=lambda at: -near[at])
    first = [at for at in nearest if pieces[at].quote < _FIRST_MEMORIES][: _MOST_READ // 2]
    offered = list(dict.fromkeys(texts[at] for at in (*first, *nearest)))[:_MOST_READ]
    found = get_packaged_reranker(1).score_texts(asked.text, offered)
    scores = dict(zip(offered, found, strict=True))
    read = [scores.get(text, _UNREAD) for text in texts]
    return _describe_places("read", read, beside=_UNREAD)


def _describe_later_and_earlier(
    quotes: Sequence[Quote], pieces: Sequence[EvidenceSentence], read: Sequence[float]
) -> list[dict[str, float]]:
    """How much surer it is of the best that was said later than each, and earlier, that it answers
    the question: of two that both do, the later one holds."""
    times = [quotes[piece.quote].said_at for piece in pieces]
    told = [(time, score) for time, score in zip(times, read, strict=True) if time]
    return [
        {
            "read_later": max((s for t, s in told if time and t > time), default=_UNREAD) - score,
            "read_earlier": max((s for t, s in told if time and t < time), default=_UNREAD) - score,
        }
        for time, score in zip(times, read, strict=True)
    ]


def _describe_succession(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    pieces: Sequence[EvidenceSentence],
    texts: Sequence[str],
    read: Sequence[float],
) -> list[dict[str, float]]:
    """How sure it is of what was told later than the best that it answers in its stead, by reading
    both in one, and of the best that something does. What was so before has no successor."""
    described = [{"succeeds": _UNREAD, "succeeded": _UNREAD} for _ in pieces]
    times = [quotes[piece.quote].said_at for piece in pieces]
    dated = [at for at in sorted(range(len(pieces)), key=lambda at: -read[at]) if times[at]]
    if not dated or find_asked_tense(asked.text) == "former":
        return described
    best, when = texts[dated[0]], times[dated[0]]
    later = [at for at in dated if (time := times[at]) and when and time > when]
    offered = list(dict.fromkeys(texts[at] for at in later))[:_MOST_SUCCESSORS]
    told = [tell_as_successor(text, best) for text in offered]
    scores = get_packaged_reranker(1).score_texts(asked.text, told) if told else []
    succeeds = dict(zip(offered, scores, strict=True))
    for at in later:
        described[at]["succeeds"] = succeeds.get(texts[at], _UNREAD)
    for at, text in enumerate(texts):
        if text == best:
            described[at]["succeeded"] = max(scores, default=_UNREAD)
    return described


def _describe_places(
    name: str, values: Sequence[float], *, beside: float
) -> list[dict[str, float]]:
    """Each value by itself and beside the others; beside none, it stands beside that of a piece
    that has nothing to do with the question."""
    ranked = sorted(values, reverse=True)
    first, second = [*ranked, beside, beside][:2]
    return [
        {
            name: value,
            f"{name}_lead": value - (second if value == first else first),
            f"{name}_place": min(ranked.index(value), _LAST_PLACE),
            f"{name}_other": second if value == first else first,
        }
        for value in values
    ]


def _add_whole_memories(
    sentences: Sequence[EvidenceSentence], quotes: Sequence[Quote], *, but_outdated: bool
) -> Iterator[EvidenceSentence]:
    counts = Counter(each.quote for each in sentences)
    given = set[int]()
    first = dict[int, int]()
    for each in sentences:
        first[each.quote] = min(each.start, first.get(each.quote, each.start))
    for sentence in sentences:
        quote = quotes[sentence.quote]
        yield sentence
        short = len(quote.text) <= _WHOLE_CHARACTERS and bool(quote.speaker)
        short = short and not (but_outdated and quote.outdated)
        short = short and not asks_to_forget(quote.text)
        # Of one whose beginning is about somebody else the rest is left.
        short = short and not re.search(r"\w", quote.text[: first[sentence.quote]])
        if counts[sentence.quote] > 1 and short and sentence.quote not in given:
            given.add(sentence.quote)
            yield replace(
                sentence, start=0, end=len(quote.text), text=quote.text, person=quote.speaker
            )


def _describe_question(asked: QuestionTerms, quotes: Sequence[Quote]) -> list[dict[str, float]]:
    """Of each quote, its place among the others."""
    tense = find_asked_tense(asked.text)
    times = sorted({quote.said_at for quote in quotes if quote.said_at})
    bearing = [_UNRANKED if q.relevance is None else q.relevance for q in quotes]
    others = sorted(bearing, reverse=True)
    told = []
    for at, quote in enumerate(quotes):
        recency = times.index(quote.said_at) / max(1, len(times) - 1) if quote.said_at else 0.0
        best_other = others[1] if len(others) > 1 and bearing[at] == others[0] else others[0]
        told.append(
            {
                "first": 1 / (1 + at),
                "bearing": bearing[at],
                "lead": bearing[at] - best_other,
                "now": recency * (tense == "now"),
                "former": recency * (tense == "former"),
                "neither": float(tense == ""),
                "ended": float(quote.until is not None and tense != "former"),
                "ended_asked": float(quote.until is not None and tense == "former"),
                "stated": float(quote.states_any_of(asked.predicates)),
                "fact": float(bool(quote.owner)),
            }
        )
    return told


def _describe_subject(
    asked: QuestionTerms, kind: AskedKind | None, quote: Quote, piece: EvidenceSentence
) -> dict[str, float]:
    """Whether it is about the one who is asked about, and tells a thing of the kind asked for."""
    relative = asked.relative
    spoken_of = relative is not None and (
        relative.is_called(quote.owner) if quote.owner else relative.may_be_spoken_of(piece.text)
    )
    return {
        "kind_told": float(kind is not None and bool(kind.tells.search(piece.text))),
        "tells": float(kind is not None and tells_kind(kind, asked, quote)),
        "relative": float(relative is not None),
        "relative_told": float(spoken_of),
        "another": float(bool(quote.owner) and quote.owner not in asked.people),
        "people": float(bool(asked.people)),
        "yes_or_no": float(asks_yes_or_no(asked.text)),
    }


def _describe_piece(
    asked: QuestionTerms, quotes: Sequence[Quote], sentence: EvidenceSentence, spoken: set[str]
) -> dict[str, float]:
    kind, quote = find_value_kind(asked.text), quotes[sentence.quote]
    stems = extract_stems(f"{sentence.text} {quote.replaced}")
    kind = "" if kind == "identity" else kind  # answered before, where it is told
    chinese = bool(_HAN_CHARACTER.search(sentence.text))
    words = len(sentence.text) / 1.6 if chinese else len(sentence.text.split())
    text, count = quote.text, max(1, len(asked.stems))
    return {
        "says": len(asked.stems & stems) / count,
        "grams": _measure_shared_grams(asked.text, sentence.text),
        "words": min(len(asked.stems), _MOST_WORDS),
        "memory_says": len(asked.stems & spoken) / count,
        "few_words": float(len(asked.stems) <= 1),
        "value": float(bool(kind) and has_value(sentence.text, kind)),
        "no_value": float(not has_value(sentence.text, kind)),
        "name": float(bool(_ASKS_NAME.search(asked.text) and _NAME.search(sentence.text))),
        "asks": float(sentence.is_question),
        "theirs": float(bool(asked.people) and sentence.person in asked.people),
        "whole": float(len(sentence.text) == len(text)),
        "length": log1p(words),
        "news": float(bool(NEWS.search(sentence.text)) and find_asked_tense(asked.text) == "now"),
        "chinese": float(chinese),
        "assistant": float(quote.speaker.casefold() == _ASSISTANT),
    }
