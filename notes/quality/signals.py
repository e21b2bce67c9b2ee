"""Signals of quality: facts that a person should look at, and by which measure. Pure.

Each is a rule with its thresholds beside it; none decides anything. `notes.quality.findings`
finds the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

DUPLICATE_COSINE = 0.95  # cosine from which two facts say the same
ECHO_COSINE = 0.9  # and from which one may repeat the other
STALE_AFTER = timedelta(days=180)
UNUSED_AFTER = timedelta(days=30)
MIN_WORDS = 3
MAX_COMPARED_FACTS = 3000  # facts of a space, the newest
_BLOCK_SIZE = 500
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

# As PostgreSQL and Python both read them.
SHORT_TEXT_PATTERN = r"^\s*[^\s一-鿿]+(\s+[^\s一-鿿]+)?\s*$|^[一-鿿，。]{1,3}$"
NAMELESS_PATTERN = r"^(he|she|it|they|this|that|these|those|there)(\s|')"


@dataclass(frozen=True, slots=True)
class QualitySignal:
    """`what` explains it with its thresholds. `pairs`: it is about two facts."""

    name: str
    label: StrOrPromise
    what: StrOrPromise
    pairs: bool = False


SIGNALS = (
    QualitySignal(
        "duplicates",
        _("Duplicates"),
        format_lazy(
            _(
                "Two facts about the same person say the same: their vectors are at least "
                "{alike} similar (cosine) and they contain the same numbers. Checks the newest "
                "{count} facts."
            ),
            alike=DUPLICATE_COSINE,
            count=f"{MAX_COMPARED_FACTS:,}",
        ),
        pairs=True,
    ),
    QualitySignal(
        "fragments",
        _("Fragments"),
        format_lazy(
            _(
                "Fewer than {count} words, or it starts with a word like “he” or “it” without "
                "saying who."
            ),
            count=MIN_WORDS,
        ),
    ),
    QualitySignal(
        "stale",
        _("Stale"),
        format_lazy(
            _(
                "Current, but last mentioned more than {days} days ago. Events, and what a "
                "person pinned or corrected, don't count."
            ),
            days=STALE_AFTER.days,
        ),
    ),
    QualitySignal(
        "contradicting",
        _("Contradicting"),
        _(
            "Two current facts that can't both be true: an inbox case is open about them, "
            "or one directly denies the other."
        ),
        pairs=True,
    ),
    QualitySignal(
        "unrecalled",
        _("Never recalled"),
        format_lazy(
            _(
                "Stored for more than {days} days, but never returned by a search. Pinned "
                "memories don't count."
            ),
            days=UNUSED_AFTER.days,
        ),
    ),
    QualitySignal(
        "unsupported",
        _("Unsupported"),
        _("No source message is recorded, and no person corrected it."),
    ),
    QualitySignal(
        "loops",
        _("Loop candidates"),
        format_lazy(
            _(
                "Not said by a person, and at least {alike} similar to an older fact that had "
                "been recalled: an assistant may have repeated the memory."
            ),
            alike=ECHO_COSINE,
        ),
        pairs=True,
    ),
)
SIGNAL_NAMES = tuple(signal.name for signal in SIGNALS)


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """What pairs are told by, besides their vectors."""

    owner: str
    polarity: str
    text: str
    recorded_at: datetime
    event_from: datetime | None
    recalled: bool
    said_by_a_person: bool


def are_duplicates(one: ComparedFact, other: ComparedFact, cosine: float) -> bool:
    mattering = [(c.owner, c.polarity, c.event_from, _NUMBER.findall(c.text)) for c in (one, other)]
    return round(cosine, 6) >= DUPLICATE_COSINE and mattering[0] == mattering[1]


def is_echo(newer: ComparedFact, older: ComparedFact, cosine: float) -> bool:
    """Whether `newer` may be the memory `older`, come back."""
    return (
        round(cosine, 6) >= ECHO_COSINE
        and not newer.said_by_a_person
        and older.recalled
        and older.recorded_at < newer.recorded_at
    )


def find_alike_pairs(
    vectors: NDArray[np.float32], floor: float
) -> Iterator[tuple[int, int, float]]:
    """(place, later place, cosine) of rows at least `floor` alike, block by block."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normed = vectors / np.where(lengths == 0, 1, lengths)
    for start in range(0, len(normed), _BLOCK_SIZE):
        block = normed[start : start + _BLOCK_SIZE] @ normed.T
        for row, column in zip(*np.nonzero(block >= floor - 1e-6), strict=True):
            if start + row < column:
                yield int(start + row), int(column), float(block[row, column])


def compute_rate(found: int, of: int) -> float:
    return found / of if of else 0.0


def find_signal(name: str) -> QualitySignal | None:
    return next((signal for signal in SIGNALS if signal.name == name), None)
