"""What of a conversation leaves the window, and when. Pure (MemGPT, spec §3.2, §3.6).

Tokens are counted, not messages (G3); a cut never separates a tool's call from its result or an
exchange from itself, and there is always an answer (G2, G4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

Count = Callable[[Sequence[str]], list[int]]
# Of a message too long to be shown: this share of what is left of it is its beginning.
HEAD = 2 / 3
_SMALLEST = 8  # tokens a message is never cut below


@dataclass(frozen=True, slots=True)
class Queued:
    """A message in the window. `calls` are ids of the tool calls it makes, `answers` the one it
    gives the result of; a tool's result without an id belongs to the message before it."""

    seq: int
    role: str
    text: str
    tokens: int
    calls: tuple[str, ...] = ()
    answers: str = ""


def pressure(tokens: int, limit: int, share: float) -> bool:
    """Whether `tokens` have reached this share of the window."""
    return tokens >= round(limit * share, 6)


def cut(queue: Sequence[Queued], share: float, keep_last: int, room: int) -> int:
    """How many of the oldest messages leave: at least `share` of the queue's tokens, and enough
    for the rest to fit into `room` tokens, but never one of the last `keep_last`.

    The cut moves on to the next safe place, else back to the last one before it. Whole exchanges
    leave where that is possible at all; 0 when nothing may.
    """
    total = sum(each.tokens for each in queue)
    wanted = _reaching(queue, max(ceil(total * share), total - room))
    last = max(0, len(queue) - keep_last)
    for places in (_between_exchanges(queue, last), _between_pairs(queue, last)):
        after = [at for at in places if at >= wanted]
        if after or places:
            return min(after) if after else max(places)
    return 0


def _reaching(queue: Sequence[Queued], tokens: int) -> int:
    """The smallest number of messages with so many tokens together."""
    gone = 0
    for at, each in enumerate(queue):
        if gone >= tokens:
            return at
        gone += each.tokens
    return len(queue)


def _between_exchanges(queue: Sequence[Queued], last: int) -> list[int]:
    """Places in front of a user's message: an exchange begins there."""
    return [at for at in _between_pairs(queue, last) if queue[at].role == "user"]


def _between_pairs(queue: Sequence[Queued], last: int) -> list[int]:
    """Places up to `last` that no tool call spans."""
    answered = {each.answers: at for at, each in enumerate(queue) if each.answers}
    reach, found = 0, []
    for at in range(1, min(last, len(queue) - 1) + 1):
        reach = max([reach, *(answered.get(call, 0) for call in queue[at - 1].calls)])
        if reach < at and queue[at].role != "tool":
            found.append(at)
    return found


def fitted(queue: Sequence[Queued], room: int, count: Count) -> list[Queued]:
    """The messages as shown: those too long for the window by head and tail (G8), so that all
    fit into `room` tokens together, as far as anything does."""
    shown, cap = list(queue), max(_SMALLEST, room // 2)
    while True:
        shown = [_shown(each, cap, count) for each in shown]
        if sum(each.tokens for each in shown) <= room or cap <= _SMALLEST:
            return shown
        cap //= 2


def _shown(message: Queued, cap: int, count: Count) -> Queued:
    if message.tokens <= cap:
        return message
    text = shortened(message.text, cap / message.tokens)
    return replace(message, text=text, tokens=count([text])[0])


def shortened(text: str, share: float) -> str:
    """About `share` of a text: its head and its tail, and how much is missing in between."""
    left = int(len(text) * share * 0.8)
    head = int(left * HEAD)
    missing = len(text) - left
    return f"{text[:head]} [… {missing} characters left out …] {text[len(text) - (left - head) :]}"


def portions(tokens: Iterable[int], most: int) -> list[list[int]]:
    """Places of texts of so many tokens, in runs of at most `most`: what is folded in one call."""
    runs: list[list[int]] = []
    size = most + 1
    for at, each in enumerate(tokens):
        if size + each > most:
            runs.append([])
            size = 0
        runs[-1].append(at)
        size += each
    return runs
