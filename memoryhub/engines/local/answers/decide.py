"""How likely a piece of a memory answers a question: learned trees over a few plain features.

They are learned by `manage.py lab train-answers` from everyday questions, and shipped as JSON with
where they come from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log1p
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoryhub.engines.embedding.onnx import get_onnx_minilm
from memoryhub.engines.local.answers.asked import (
    AskedTense,
    ValueKind,
    find_asked_tense,
    find_value_kind,
    has_value,
)
from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
)
from memoryhub.engines.local.claims.topics import find_topics
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.local.trees import BoostedTrees, StrictModel
from memoryhub.engines.types import Quote

DECIDER_PATH = Path(__file__).with_name("decider.json")
DECIDER_FORMAT = "memoryhub.decider/2"
_ASKS_PERSON = re.compile(r"\bwho(?:['’]?s|se|m)?\b|\bnames?\b|\bcalled\b|谁|叫什么|名字", re.I)
_ASKS_PLACE = re.compile(r"\bwhere(?:['’]?s)?\b|\b(?:which|what) (?:city|town|country)\b|哪", re.I)
_ASKS_YES = re.compile(
    r"^\W*(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would)\b|[吗嘛][?？]?\s*$",
    re.I,
)
# A word with a capital that does not begin a sentence.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]+|\b[A-Z][a-z]+ [A-Z]")
_NEWS = re.compile(
    r"\b(?:now|these days|currently|anymore|no longer|switched|changed|moved|started|since|instead"
    r"|still|bought|got|joined|quit|left)\b|现在|换|改|搬|新|了",
    re.I,
)
_NEGATION = re.compile(r"\b(?:no|not|never|none|without)\b|n['’]t\b|不|没|无|别", re.I)
_FIRST_PERSON = re.compile(r"\b(?:i|i['’]\w+|im|ive|me|my|mine)\b|我", re.I)
_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(r"[a-z]+")
_ASKING_HAN = re.compile(r"什么|怎么|多少|哪里|哪儿|哪个|哪家|谁|吗|呢|现在|多大|是不是|有没有|几")
# A memory no longer than this may be the answer as a whole, and not only a sentence of it.
_WHOLE_CHARACTERS = 300
_READ_CHARACTERS = 4000
# Of a piece this much is compared with the question by meaning; of a question's pieces, so many.
_MEANT_CHARACTERS, _MOST_PIECES = 160, 40
# What was not ranked with the rest bears on the question less than all that was.
_UNRANKED = -3.0

Features = dict[str, float]


class AnswerDecider(StrictModel):
    """`features` name the numbers of `describe_pieces`. Below `bar` nothing is answered."""

    format: Annotated[str, Field(pattern=f"^{DECIDER_FORMAT}$")] = DECIDER_FORMAT
    features: tuple[str, ...]
    answers: BoostedTrees
    bar: Annotated[float, Field(ge=0, le=1)]
    trained: Mapping[str, Any]

    def estimate_chances(self, described: Sequence[Features]) -> NDArray[np.float64]:
        """Of each piece: (pieces,) within 0 to 1."""
        rows = [[features[name] for name in self.features] for features in described]
        return self.answers.estimate_shares(np.array(rows))


def read_decider(path: Path) -> AnswerDecider:
    """Raises ValueError for anything but a file that the training wrote."""
    return AnswerDecider.model_validate_json(path.read_text(encoding="utf-8"))


def write_decider(path: Path, made: AnswerDecider) -> None:
    path.write_text(made.model_dump_json() + "\n", encoding="utf-8")


@cache
def get_shipped_decider() -> AnswerDecider:
    return read_decider(DECIDER_PATH)


def weigh_sentences(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    sentences: Sequence[EvidenceSentence],
    decider: AnswerDecider,
) -> list[tuple[float, EvidenceSentence]]:
    """Each piece of the quotes with its chance to be the answer, likeliest first."""
    described = describe_pieces(asked, quotes, sentences)
    if not described:
        return []
    chances = decider.estimate_chances([features for _, features in described]).tolist()
    weighed = [(chance, piece) for chance, (piece, _) in zip(chances, described, strict=True)]
    return sorted(weighed, key=lambda each: -each[0])


def describe_pieces(
    asked: QuestionTerms, quotes: Sequence[Quote], sentences: Sequence[EvidenceSentence]
) -> list[tuple[EvidenceSentence, Features]]:
    """The `sentences` of the quotes (`evidence.rank_sentences`), best first, and short memories as
    a whole, with what speaks for each as an answer."""
    pieces = list(_add_whole_memories(sentences, quotes))[:_MOST_PIECES]
    question = _describe_question(asked)
    places = _describe_quotes(asked, quotes, question.tense)
    nearness = _measure_nearness(asked, pieces)
    best = max(nearness, default=0.0)
    found = []
    for piece, near in zip(pieces, nearness, strict=True):
        own = _describe_piece(asked, question, quotes[piece.quote], piece)
        meant = {"near": near, "near_lead": near - best, "nearest": best}
        found.append((piece, places[piece.quote] | own | meant))
    return found


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


@dataclass(frozen=True, slots=True)
class _Question:
    tense: AskedTense
    kind: ValueKind
    topics: frozenset[str]
    grams: frozenset[str]
    flags: Features


def _describe_question(asked: QuestionTerms) -> _Question:
    tense, kind = find_asked_tense(asked.text), find_value_kind(asked.text)
    flags = {
        "asks_now": tense == "now",
        "asks_former": tense == "former",
        "asks_amount": kind == "amount",
        "asks_time": kind == "time",
        "asks_person": bool(_ASKS_PERSON.search(asked.text)),
        "asks_place": bool(_ASKS_PLACE.search(asked.text)),
        "asks_yes": bool(_ASKS_YES.search(asked.text)),
        "asks_self": bool(_FIRST_PERSON.search(asked.text)),
        "asks_known": bool(asked.predicates),
    }
    words = {"asked_stems": float(min(6, len(asked.stems)))}
    plain = _ASKING_HAN.sub(" ", asked.text)
    return _Question(
        tense,
        kind,
        _find_topics(asked.text),
        frozenset(_list_grams(plain)),
        {name: float(is_so) for name, is_so in flags.items()} | words,
    )


def _describe_quotes(
    asked: QuestionTerms, quotes: Sequence[Quote], tense: AskedTense
) -> list[Features]:
    """Of each quote, its place among the others."""
    count = max(1, len(asked.stems))
    times = sorted({quote.said_at for quote in quotes if quote.said_at})
    bearing = [_UNRANKED if q.relevance is None else q.relevance for q in quotes]
    others = sorted(bearing, reverse=True)
    told = []
    for at, quote in enumerate(quotes):
        recency = times.index(quote.said_at) / max(1, len(times) - 1) if quote.said_at else 0.0
        best_other = others[1] if len(others) > 1 and bearing[at] == others[0] else others[0]
        stems = extract_stems(quote.text[:_READ_CHARACTERS])
        told.append(
            {
                "memory_says": len(asked.stems & stems) / count,
                "first": 1 / (1 + at),
                "bearing": bearing[at],
                "lead": bearing[at] - best_other,
                "most_bearing": others[0],
                "recency": recency,
                "now": recency * (tense == "now"),
                "former": recency * (tense == "former"),
                "ended": float(quote.until is not None),
                "ended_asked": float(quote.until is not None and tense == "former"),
                "fact": float(bool(quote.owner)),
                "said": float(bool(quote.speaker)),
                "quotes": float(len(quotes)),
            }
        )
    return told


def _measure_nearness(asked: QuestionTerms, pieces: Sequence[EvidenceSentence]) -> list[float]:
    """The cosine of the question with each piece, in a language that the vectors can read; names
    of people are left out, whose likeness says nothing."""
    if not pieces or detect_language(asked.text) == "zh":
        return [0.0] * len(pieces)
    texts = [asked.text, *(piece.text for piece in pieces)]
    names = sorted({*asked.people, *(piece.person for piece in pieces)} - {""}, key=len)
    bare = re.compile("|".join(rf"\b{re.escape(name)}(?:['’]s)?\b" for name in names) or "$^", re.I)
    vectors = get_onnx_minilm().embed([bare.sub("", t[:_MEANT_CHARACTERS]) for t in texts])
    nearness: list[float] = (vectors[1:] @ vectors[0]).tolist()
    return nearness


def _describe_piece(
    asked: QuestionTerms, question: _Question, quote: Quote, piece: EvidenceSentence
) -> Features:
    text = piece.text
    stems, count = extract_stems(text), max(1, len(asked.stems))
    han, grams = "".join(_HAN_RUN.findall(text)), set(_list_grams(text))
    words = len(han) / 1.6 if han else len(text.split())
    topics = _find_topics(text)
    return question.flags | {
        "says": len(asked.stems & stems) / count,
        "covers": piece.coverage,
        "score": piece.score,
        "grams": len(question.grams & grams) / max(1, len(question.grams)),
        "topics": len(question.topics & topics) / max(1, len(question.topics)),
        "asked_topics": float(len(question.topics)),
        "stated": float(quote.states_any_of(asked.predicates)),
        "other_stated": float(
            bool(quote.predicate and asked.predicates) and not quote.states_any_of(asked.predicates)
        ),
        "value": float(bool(question.kind) and has_value(text, question.kind)),
        "no_value": float(not has_value(text, question.kind)),
        "digits": float(any(character.isdigit() for character in text)),
        "name": float(bool(_NAME.search(text))),
        "asks": float(piece.is_question),
        "theirs": float(bool(asked.people) and piece.person in asked.people),
        "others": float(bool(asked.people and piece.person) and piece.person not in asked.people),
        "whole": float(len(text) == len(quote.text)),
        "length": log1p(words),
        "news": float(bool(_NEWS.search(text))),
        "negated": float(bool(_NEGATION.search(text))),
        "chinese": float(bool(han)),
    }


def _find_topics(text: str) -> frozenset[str]:
    return find_topics(_WORD.findall(text.lower()), "".join(_HAN_RUN.findall(text)))


def _list_grams(text: str) -> Iterator[str]:
    for run in _HAN_RUN.findall(text):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
