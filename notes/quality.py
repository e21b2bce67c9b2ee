"""Signals of quality: facts that a person should look at, and by which measure. Pure.

Each is a rule with its thresholds beside it; none decides anything. `notes.soundness` finds the
facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

ALIKE = 0.95  # cosine from which two facts say the same
ECHOED = 0.9  # and from which one may repeat the other
STALE_AFTER = timedelta(days=180)
UNUSED_AFTER = timedelta(days=30)
FEWEST_WORDS = 3
MOST_COMPARED = 3000  # facts of a space, the newest
_BLOCK = 500

# As PostgreSQL and Python both read them.
SHORT = r"^\s*[^\s一-鿿]+(\s+[^\s一-鿿]+)?\s*$|^[一-鿿，。]{1,3}$"
NAMELESS = r"^(he|she|it|they|this|that|these|those|there)(\s|')"


@dataclass(frozen=True, slots=True)
class Signal:
    """`what` explains it with its thresholds. `pairs`: it is about two facts."""

    name: str
    label: str
    what: str
    pairs: bool = False


SIGNALS = (
    Signal(
        "duplicates",
        "Duplicates",
        f"Two facts of the same person say the same: their vectors are at least {ALIKE} alike"
        f" (cosine), with the same numbers in them. Of the newest {MOST_COMPARED:,} facts.",
        pairs=True,
    ),
    Signal(
        "fragments",
        "Fragments",
        f"Fewer than {FEWEST_WORDS} words, or it begins with a word like “he” or “it” that names"
        " nobody.",
    ),
    Signal(
        "stale",
        "Stale",
        f"Held as true now, last said more than {STALE_AFTER.days} days ago. Events, and what a"
        " person pinned or corrected, don't count.",
    ),
    Signal(
        "contradicting",
        "Contradicting",
        "Two facts held at once that can't both be so: a case of the inbox is open about them, or"
        " one denies the other's very words.",
        pairs=True,
    ),
    Signal(
        "unrecalled",
        "Never recalled",
        f"Held for more than {UNUSED_AFTER.days} days, and shown for no question. What is pinned"
        " doesn't count.",
    ),
    Signal(
        "unsupported",
        "Unsupported",
        "No message is recorded that says it, and no person put it right.",
    ),
    Signal(
        "loops",
        "Loop candidates",
        f"Said by no person, and at least {ECHOED} alike to an older fact that had been recalled:"
        " the memory may have repeated itself through an assistant.",
        pairs=True,
    ),
)
NAMES = tuple(signal.name for signal in SIGNALS)


def is_fragment(text: str) -> bool:
    return bool(re.search(SHORT, text) or re.search(NAMELESS, text, re.I))


@dataclass(frozen=True, slots=True)
class Compared:
    """What pairs are told by, besides their vectors."""

    owner: str
    polarity: str
    text: str
    recorded_at: datetime
    event_from: datetime | None
    recalled: bool
    said_by_a_person: bool


def are_duplicates(one: Compared, other: Compared, cosine: float) -> bool:
    mattering = [(c.owner, c.polarity, c.event_from, _numbers(c.text)) for c in (one, other)]
    return round(cosine, 6) >= ALIKE and mattering[0] == mattering[1]


def is_echo(newer: Compared, older: Compared, cosine: float) -> bool:
    """Whether `newer` may be the memory `older`, come back."""
    return (
        round(cosine, 6) >= ECHOED
        and not newer.said_by_a_person
        and older.recalled
        and older.recorded_at < newer.recorded_at
    )


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,:]\d+)*", text)


def alike(vectors: NDArray[np.float32], floor: float) -> Iterator[tuple[int, int, float]]:
    """(place, later place, cosine) of rows at least `floor` alike, block by block."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normed = vectors / np.where(lengths == 0, 1, lengths)
    for start in range(0, len(normed), _BLOCK):
        block = normed[start : start + _BLOCK] @ normed.T
        for row, column in zip(*np.nonzero(block >= floor - 1e-6), strict=True):
            if start + row < column:
                yield int(start + row), int(column), float(block[row, column])


def rate(found: int, of: int) -> float:
    return found / of if of else 0.0


def of_name(name: str) -> Signal | None:
    return next((signal for signal in SIGNALS if signal.name == name), None)
