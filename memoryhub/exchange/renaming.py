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

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# The random end of an id; before it are its time, version and variant (RFC 9562).
_TAIL = (1 << 62) - 1
# What people or models say: an id in it is a word of theirs.
_WORDS = frozenset({"metadata", "terms", "details", "external_id"})
_IDS = frozenset({"id", "lineage", "names", "turn", "turns", "entity", "into"})


@dataclass(frozen=True, slots=True)
class Renaming:
    """`step` is added to the random end of every id; 0: ids are kept."""

    step: int = 0

    @classmethod
    def anew(cls) -> Renaming:
        """Another one each time, so that the same file can come in twice."""
        return cls(1 + secrets.randbits(40))

    def of(self, row_id: UUID) -> UUID:
        value = row_id.int
        return UUID(int=(value & ~_TAIL) | ((value + self.step) & _TAIL)) if self.step else row_id

    def within(self, text: str) -> str:
        """A key that is made of ids and other parts ("merge:…:…")."""
        return _UUID.sub(lambda found: str(self.of(UUID(found[0]))), text) if self.step else text

    def inside(self, value: Any, key: str = "") -> Any:
        """JSON the hub keeps for itself (values of revisions, payloads), with the ids it names."""
        if not self.step or key in _WORDS:
            return value
        if isinstance(value, dict):
            return {name: self.inside(held, name) for name, held in value.items()}
        if isinstance(value, list):
            return [self.inside(held, key) for held in value]
        named = key in _IDS or key.endswith(("_id", "_ids"))
        if named and isinstance(value, str) and _UUID.fullmatch(value):
            return str(self.of(UUID(value)))
        return value
