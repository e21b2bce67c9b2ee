"""How likely a piece of a memory answers a question: a learned decider over plain signals.

Its weights are learned by `manage.py lab train-answers` from everyday questions, and shipped as
JSON with where they come from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from memoryhub.engines.local.answers.evidence import EvidenceSentence, QuestionTerms
from memoryhub.engines.local.answers.signals import (
    describe_pieces,
    find_asked_topics,
    find_text_topics,
)
from memoryhub.engines.local.language import LanguageCode
from memoryhub.engines.local.logistic import Logistic
from memoryhub.engines.types import Quote

DECIDER_PATH = Path(__file__).with_name("decider.json")
DECIDER_FORMAT = "memoryhub.decider/2"
# Topics that tell what kind of thing is asked for.
_KINDS = frozenset(
    (
        "transport",
        "bank",
        "coffee",
        "device",
        "home",
        "language",
        "music",
        "pet",
        "phone",
        "sport",
        "study",
    )
)


def read_decider(path: Path, language: LanguageCode) -> Logistic:
    """As questions in this language are answered: each has a bar of its own. Raises ValueError for
    anything but a file that the training wrote."""
    given: Any = json.loads(path.read_text(encoding="utf-8"))
    if given.get("format") != DECIDER_FORMAT:
        raise ValueError(f"{path.name} holds no decider")
    return Logistic(given["bias"], given["bars"][language], given["weights"])


@cache
def get_shipped_decider(language: LanguageCode) -> Logistic:
    return read_decider(DECIDER_PATH, language)


def weigh_sentences(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    sentences: Sequence[EvidenceSentence],
    decider: Logistic,
) -> list[tuple[float, EvidenceSentence]]:
    """Each piece of the quotes with its chance to be the answer, likeliest first. From a chance of
    the decider's bar on it is one."""
    weighed = [
        (decider.estimate(signals), piece)
        for piece, signals in describe_pieces(asked, quotes, sentences)
    ]
    return sorted(weighed, key=lambda each: -each[0])


def shares_kind(asked: QuestionTerms, quote: Quote, text: str) -> bool:
    """Whether a fact of the one who is asked about is of the same kind of thing as the question, by
    whatever words: a swim where a sport is asked for."""
    theirs = bool(quote.owner) and (quote.owner,) == asked.people
    sought = find_asked_topics(asked.text) & _KINDS if theirs and not quote.tells_end else set()
    return bool(sought) and sought <= find_text_topics(text)
