"""The subject by one name in what is handed over: what was said before it was known was said under
another, and would read like somebody else's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memoryhub.recall.render.results import MemoryItem

# Their lines begin with who said them.
_KINDS_OF_LINES = ("note", "page", "episode")


def name_subject(items: Iterable[MemoryItem], called: Sequence[str]) -> list[MemoryItem]:
    """`called`: all that stands for the subject, the present name first."""
    shown, *former = called
    old = "|".join(re.escape(name) for name in former)
    speaking = re.compile(rf"^(?:{old})(?=: )", re.MULTILINE)
    return [_name_in_item(item, shown, former, speaking) for item in items]


def _name_in_item(
    item: MemoryItem, shown: str, former: Sequence[str], speaking: re.Pattern[str]
) -> MemoryItem:
    if item.kind == "turn" and item.speaker in former:
        return replace(item, speaker=shown, owner=shown)
    if item.kind in _KINDS_OF_LINES and speaking.search(item.text):
        return replace(item, text=speaking.sub(lambda _: shown, item.text))
    return item
