"""How long is waited before another try. Pure."""

from __future__ import annotations

from datetime import timedelta

FACTOR = 4
LONGEST = timedelta(hours=6)
# While a receiver fails, nothing is sent to it by itself for this long at most.
LONGEST_QUIET = timedelta(minutes=5)
MOST_ASKED_FOR = timedelta(hours=1)


def backoff(tries: int, base: float, roll: float, asked: int = 0) -> timedelta:
    """The wait after this many tries: four times as long with each, six hours at most, and up to
    a quarter more or less by `roll` (0 to 1), so that what failed together does not come back
    together. `asked`: seconds the receiver asked for, which are kept up to an hour.
    """
    seconds = min(base * FACTOR ** max(0, tries - 1), LONGEST.total_seconds())
    wait = timedelta(seconds=seconds * (0.75 + 0.5 * roll))
    return max(wait, min(timedelta(seconds=asked), MOST_ASKED_FOR))


def quiet(failures: int, base: float) -> timedelta:
    """How long a receiver is left alone after so many failures running."""
    seconds = base * 2 ** min(max(0, failures - 1), 20)
    return min(timedelta(seconds=seconds), LONGEST_QUIET)
