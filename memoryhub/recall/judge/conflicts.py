"""Current facts that can't all hold: the same single-valued matter of the same owner.

Resolving keeps such pairs apart when they are written; what still meets here came by different
ways, and is reported (spec §12.2 step 7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from memoryhub.dialogues.messages import normalise_text
from memoryhub.recall.render.results import ConflictingMemories, MemoryItem


def find_conflicts(items: Iterable[MemoryItem], at: datetime) -> list[ConflictingMemories]:
    """Those that hold at `at` and say different things of one matter."""
    matters: dict[str, list[MemoryItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (item.occurred_at, item.id)):
        if item.matter and _holds_at(item, at):
            matters[item.matter].append(item)
    return [
        ConflictingMemories(tuple(dict.fromkeys(item.id for item in told)), matter)
        for matter, told in matters.items()
        if len({normalise_text(item.text) for item in told}) > 1
    ]


def _holds_at(item: MemoryItem, at: datetime) -> bool:
    begun = item.valid_from is None or item.valid_from <= at
    return begun and (item.valid_to is None or item.valid_to > at)
