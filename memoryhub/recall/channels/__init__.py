"""Where memories are looked for: one module a channel (spec §12.2 step 2).

A channel reads inside the tenant's scope, in at most two statements, and leaves out what may not
be seen: what has faded or gone cold, is stale or retired, or did not hold at the time asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memoryhub.policies.schema import Channel
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels import episodes, facts, graph, notes, pages, raw, shelf, stm
from memoryhub.recall.channels.hits import Hit

__all__ = ["FINDERS", "Hit", "find"]

# "core" and "window" hold out no findings: context reads them (channels/core.py, context.py).
FINDERS: Mapping[Channel, Callable[[Ask], list[Hit]]] = {
    "stm": stm.find,
    "shelf": shelf.find,
    "raw": raw.find,
    "pages": pages.find,
    "notes": notes.find,
    "facts": facts.find,
    "graph": graph.find,
    "episodes": episodes.find,
}


def find(ask: Ask, channels: Sequence[Channel]) -> dict[str, list[Hit]]:
    """What each of the channels holds out, best first. Call inside the tenant's scope."""
    return {channel: FINDERS[channel](ask) for channel in channels if channel in FINDERS}
