"""Deciding what new claims do to those held, and whether two names are one entity's."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.llm.asking import Asking
from memoryhub.engines.types import Comparison, NamePair, Verdict


class Deciding(Asking):
    def resolve(self, comparison: Comparison) -> list[Verdict]:
        raise NotImplementedError

    def merge_check(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        raise NotImplementedError
