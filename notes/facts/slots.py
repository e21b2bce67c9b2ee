"""What becomes of a claim's slots when a person puts its words right. Pure.

Subject, verb and objects were read from the old words. Where the new words differ only within an
object, the object follows and the rest stands; where anything else changed, nothing is known of
the slots any more, since a changed verb may turn the claim round.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FIRST_WORD = re.compile(r"\W*\w+")
_END_MARKS = " .。!！"
MAX_SLOT_LENGTH = 500


class ClaimSlots(NamedTuple):
    subject: str = ""
    verb: str = ""
    object: str = ""
    indirect_object: str = ""
    complement: str = ""


OBJECT_SLOTS = ("complement", "indirect_object", "object")


def carry_slots_over(old: str, new: str, slots: ClaimSlots) -> ClaimSlots | None:
    """The slots of `new`, or None when the difference is not within one object."""
    was, becomes = old.rstrip(_END_MARKS), new.rstrip(_END_MARKS)
    start, end = _find_changed_span(was, becomes)
    for name in OBJECT_SLOTS:
        value = getattr(slots, name)
        at = was.rfind(value) if value else -1
        if at >= 0 and at <= start and end <= at + len(value):
            tail = len(was) - (at + len(value))
            said = becomes[at : len(becomes) - tail].strip()
            return slots._replace(**{name: said}) if 0 < len(said) <= MAX_SLOT_LENGTH else None
    return slots if was == becomes else None


def find_value_in_place(old: str, new: str, value: str) -> str:
    """What stands in `new` where `old` had the value: behind all that went before it, and before
    the word that followed it. "" if one of the two is not there any more."""
    before, found, after = old.rpartition(value)
    following = _FIRST_WORD.match(after)
    if not found or not following or not new.startswith(before):
        return ""
    said = re.match(rf"(.+?){re.escape(following[0])}(?!\w)", new[len(before) :])
    return said[1].strip()[:MAX_SLOT_LENGTH] if said else ""


def _find_changed_span(old: str, new: str) -> tuple[int, int]:
    """The part of `old` between what both begin and end with."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - start
    same = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    return start, len(old) - same
