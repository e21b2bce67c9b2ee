"""Where a topic's episode ends (AMA, spec §7.2): decided by code, from what is known of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

# A change of topic after fewer turns than this is the same talk: it ends no episode.
MIN_TURNS = 4
# A silence this long ends a topic, whatever is said after it.
TOPIC_GAP = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class PageStretch:
    """A page's turns that no episode covers yet.

    `opens`: it begins another topic; `ends`: with it, what was said so far is to be closed.
    """

    page_id: UUID
    turns: int
    opens: bool = False
    ends: bool = False


EpisodeSpan = tuple[PageStretch, ...]


def find_closed_spans(
    stretches: Sequence[PageStretch], window: int, *, least: int = MIN_TURNS, ended: bool = False
) -> list[EpisodeSpan]:
    """The spans that are complete, oldest first; what follows the last of them stays open.

    A span ends before a page that opens a topic, and with the page that makes it `window` turns
    long. `ended`: nothing follows, so the rest is a span too.
    """
    closed: list[EpisodeSpan] = []
    open_: list[PageStretch] = []
    for stretch in stretches:
        if stretch.opens and count_turns(open_) >= least:
            closed.append(tuple(open_))
            open_ = []
        open_.append(stretch)
        if stretch.ends or count_turns(open_) >= window:
            closed.append(tuple(open_))
            open_ = []
    return [*closed, tuple(open_)] if ended and open_ else closed


def is_silence(before: datetime, after: datetime) -> bool:
    """Whether so much time passed between two turns that a topic ended in it."""
    return after - before > TOPIC_GAP


def count_turns(stretches: Sequence[PageStretch]) -> int:
    return sum(stretch.turns for stretch in stretches)
