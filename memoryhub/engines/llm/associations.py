"""Describing notes, linking them and letting them evolve (A-Mem, spec §4)."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.llm.asking import Asking
from memoryhub.engines.types import Association, Neighbourhood, NoteDraft, Passage


class Associating(Asking):
    def note_build(self, texts: Sequence[Passage]) -> list[NoteDraft]:
        raise NotImplementedError

    def link_evolve(self, notes: Sequence[Neighbourhood]) -> Association:
        raise NotImplementedError
