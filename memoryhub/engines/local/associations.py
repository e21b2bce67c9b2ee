"""Links by likeness and shared names; descriptors grow by what neighbours share."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.types import Association, Neighbourhood, NoteDraft, Passage


class Associating:
    def note_build(self, texts: Sequence[Passage]) -> list[NoteDraft]:
        raise NotImplementedError

    def link_evolve(self, notes: Sequence[Neighbourhood]) -> Association:
        raise NotImplementedError
