"""Chains: pages of which each goes on from the one before (MemoryOS, spec §8.2, O12, O19).

A chain is a row of its own, so it outlives the process, and all its pages show the one summary
that it has now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.engines.types import ChainJudgement


@dataclass(frozen=True, slots=True)
class ChainRun:
    """Places of consecutive pages of one chain, and what sums the chain up ("": nothing new).

    `extends`: the first page goes on from the page before all of them.
    """

    places: tuple[int, ...]
    summary: str
    extends: bool


def split_into_runs(judged: ChainJudgement, has_previous: bool) -> list[ChainRun]:
    """The chains that a judgement makes of consecutive pages. What was not judged begins one."""
    found: list[ChainRun] = []
    for place, (continues, summary) in enumerate(
        zip(judged.continues, judged.summaries, strict=True)
    ):
        if place == 0:
            found.append(ChainRun((0,), summary, bool(continues) and has_previous))
        elif continues:
            last = found[-1]
            found[-1] = ChainRun((*last.places, place), summary or last.summary, last.extends)
        else:
            found.append(ChainRun((place,), summary, False))
    return found


def join_judgements(parts: Sequence[ChainJudgement]) -> ChainJudgement:
    """Judgements of parts of one sequence, in order, as one."""
    return ChainJudgement(
        tuple(flag for part in parts for flag in part.continues),
        tuple(summary for part in parts for summary in part.summaries),
    )
