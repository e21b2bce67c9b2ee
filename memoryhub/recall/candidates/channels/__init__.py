"""Where memories are looked for: one module a channel (spec §12.2 step 2).

A channel reads inside the tenant's scope, in at most two statements, and leaves out what may not
be seen: what has faded or gone cold, is stale or retired, or did not hold at the time asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memoryhub.policies.schema import Channel
from memoryhub.recall.candidates.channels import (
    episodes,
    facts,
    graph,
    notes,
    pages,
    raw,
    shelf,
    stm,
)
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.question.prepare import PreparedQuestion

__all__ = [
    "ChannelHit",
    "FINDERS",
    "find_hits_by_channel",
]

# "core" and "window" hold out no findings: context reads them (channels/core.py, context.py).
FINDERS: Mapping[Channel, Callable[[PreparedQuestion], list[ChannelHit]]] = {
    "stm": stm.find_hits,
    "shelf": shelf.find_hits,
    "raw": raw.find_hits,
    "pages": pages.find_hits,
    "notes": notes.find_hits,
    "facts": facts.find_hits,
    "graph": graph.find_hits,
    "episodes": episodes.find_hits,
}


def find_hits_by_channel(
    ask: PreparedQuestion, channels: Sequence[Channel]
) -> dict[str, list[ChannelHit]]:
    """What each of the channels holds out, best first. Call inside the tenant's scope."""
    return {channel: FINDERS[channel](ask) for channel in channels if channel in FINDERS}
