"""Ids of a file as those of rows: kept where they are free, else all moved by the same step.

No table of old and new ids is needed, so that a file of any size fits, and whatever is in the
same place of two rows stays so: ids keep their times and, but for one pair in millions, their
order.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

_UUID_PATTERN = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# The random end of an id; before it are its time, version and variant (RFC 9562).
_RANDOM_BITS = (1 << 62) - 1
# What people or models say: an id in it is a word of theirs.
_FREE_TEXT_KEYS = frozenset({"metadata", "terms", "details", "external_id"})
_ID_KEYS = frozenset({"id", "lineage", "names", "turn", "turns", "entity", "into"})


@dataclass(frozen=True, slots=True)
class IdShift:
    """`step` is added to the random end of every id; 0: ids are kept."""

    step: int = 0

    @classmethod
    def from_random_step(cls) -> IdShift:
        """Another one each time, so that the same file can come in twice."""
        return cls(1 + secrets.randbits(40))

    def shift_id(self, row_id: UUID) -> UUID:
        if not self.step:
            return row_id
        value = row_id.int
        return UUID(int=(value & ~_RANDOM_BITS) | ((value + self.step) & _RANDOM_BITS))

    def shift_key(self, text: str) -> str:
        """A key that is made of ids and other parts ("merge:…:…")."""
        return _UUID_PATTERN.sub(lambda found: str(self.shift_id(UUID(found[0]))), text)

    def shift_json(self, value: Any, key: str = "") -> Any:
        """JSON the hub keeps for itself (values of revisions, payloads), with the ids it names."""
        if not self.step or key in _FREE_TEXT_KEYS:
            return value
        if isinstance(value, dict):
            return {name: self.shift_json(held, name) for name, held in value.items()}
        if isinstance(value, list):
            return [self.shift_json(held, key) for held in value]
        named = key in _ID_KEYS or key.endswith(("_id", "_ids"))
        if named and isinstance(value, str) and _UUID_PATTERN.fullmatch(value):
            return str(self.shift_id(UUID(value)))
        return value
