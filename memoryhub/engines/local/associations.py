"""Links by likeness and shared names; descriptors grow by what neighbours share."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local.describing import described
from memoryhub.engines.local.linking import associated
from memoryhub.engines.types import Association, Neighbourhood, NoteDraft, Passage


class Associating:
    def note_build(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        """Keywords, themes and a line of context; without any where a text names nothing."""
        return described(texts)

    def link_evolve(
        self, notes: Sequence[Neighbourhood], *, links: bool = True, evolve: bool = True
    ) -> Association:
        return associated(notes, links=links, evolve=evolve)
