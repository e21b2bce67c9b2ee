"""What the rules dare say of two claims. Doubt is left to a person: see `notes.resolving`."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.types import Comparison, NamePair, Verdict


class Deciding:
    def resolve(self, comparison: Comparison) -> list[Verdict]:
        raise NotImplementedError

    def merge_check(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        raise NotImplementedError
