"""Where memories are looked for: the channels (spec §12.2 step 2).

A channel reads inside the tenant's scope, in at most two statements, and leaves out what may not
be seen: what has faded or gone cold, is stale or retired, or did not hold at the time asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memoryhub.policies.schema import Channel
from memoryhub.recall.candidates.channels import at_hand, graph, pages, similar
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.question.prepare import PreparedQuestion

__all__ = ["FINDERS", "ChannelHit", "find_hits_by_channel"]

# "core" and "window" hold out no findings: context reads them (channels/at_hand.py, context.py).
FINDERS: Mapping[Channel, Callable[[PreparedQuestion], list[ChannelHit]]] = {
    "stm": at_hand.find_latest,
    "shelf": at_hand.find_shelf,
    "raw": similar.find_turns,
    "pages": pages.find_hits,
    "notes": similar.find_notes,
    "facts": similar.find_facts,
    "graph": graph.find_hits,
    "episodes": similar.find_episodes,
}


def find_hits_by_channel(
    ask: PreparedQuestion, channels: Sequence[Channel]
) -> dict[str, list[ChannelHit]]:
    """What each of the channels holds out, best first. Call inside the tenant's scope."""
    return {channel: FINDERS[channel](ask) for channel in channels if channel in FINDERS}
