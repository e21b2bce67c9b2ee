"""Whether what was found suffices, and what else to look at (AMA, spec §7.2, §12.2 step 6).

The judge names what is relevant and whether it is enough; what follows is decided here. Nothing
is ever changed: conflicts are reported (spec J1, I11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memoryhub.engines.types import JudgeEntry, Judgement
from memoryhub.recall.question.engine import TolerantEngine
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.results import ConflictingMemories, MemoryItem

# (what is kept so far, number of the round) -> memories that were not seen before
FindMore = Callable[[Sequence[MemoryItem], int], Sequence[MemoryItem]]


@dataclass
class JudgedMemories:
    """`items` are those to show. `enough` is False when the last round still left something open,
    `unverified` when the judge could not be asked. `irrelevant` is what a judge set aside, `word`
    what it said, as a sentence."""

    items: list[MemoryItem]
    enough: bool
    rounds: int = 1
    unverified: bool = False
    conflicts: list[ConflictingMemories] = field(default_factory=list)
    irrelevant: list[MemoryItem] = field(default_factory=list)
    verdict: str = ""


def is_satisfied(relevant: int, offered: int, enough: bool, density: float) -> bool:
    """No further round: the judge has enough, and of what was offered enough was of use."""
    return enough and offered > 0 and round(relevant / offered, 6) >= density


def judge_by_floor(first: Sequence[MemoryItem], more: FindMore, rounds: int) -> JudgedMemories:
    """What passed its channel's floor is relevant: more is tried only where nothing did."""
    items, number = list(first), 1
    while not items and number < rounds:
        number += 1
        items = list(more((), number))
    word = f"nothing above the floor at first; {number} rounds" if number > 1 else ""
    return JudgedMemories(items, enough=bool(items), rounds=number, verdict=word)


def judge_by_engine(
    ask: PreparedQuestion,
    consultant: TolerantEngine,
    first: Sequence[MemoryItem],
    more: FindMore,
    rounds: int,
) -> JudgedMemories:
    """At most `rounds` rounds; what was found relevant in one is kept in the next (spec J4).

    A judge that fails takes everything for relevant, and no further round is tried (spec §7.4).
    """
    offered, number = list(first), 1
    conflicts: list[ConflictingMemories] = []
    aside: dict[UUID, MemoryItem] = {}
    while True:
        entries = [JudgeEntry(f"m{n}", i.text, i.occurred_at) for n, i in enumerate(offered, 1)]
        judgement = consultant.judge_entries(ask.routed_question.query, entries, ask.window)
        if judgement is None:
            word = "could not be asked: everything found is taken for relevant"
            gone, enough = [*aside.values()], bool(offered)
            return JudgedMemories(offered, enough, number, True, conflicts, gone, word)
        kept, found = _apply_judgement(judgement, offered)
        conflicts += found
        taken = {item.id for item in kept}
        aside |= {item.id: item for item in offered if item.id not in taken}
        density = ask.policy.judge.density
        enough = is_satisfied(len(kept), len(offered), judgement.enough, density)
        added = [] if enough or number == rounds else list(more(kept, number + 1))
        if not added:
            word = _format_verdict(len(kept), len(offered), judgement.enough, number)
            enough = judgement.enough and bool(kept)
            return JudgedMemories(kept, enough, number, False, conflicts, [*aside.values()], word)
        number += 1
        offered = [*kept, *added]


def _format_verdict(relevant: int, offered: int, enough: bool, rounds: int) -> str:
    verdict = "enough" if enough else "not enough"
    return f"{relevant} of {offered} relevant, {verdict}, round {rounds}"


def _apply_judgement(
    judgement: Judgement, offered: Sequence[MemoryItem]
) -> tuple[list[MemoryItem], list[ConflictingMemories]]:
    """(the relevant items, best first as the judge has it, conflicts by id)."""
    by_handle = {f"m{at}": item for at, item in enumerate(offered, 1)}
    relevant = dict.fromkeys(judgement.relevant)
    kept = [by_handle[handle] for handle in relevant if handle in by_handle]
    conflicts = [
        ConflictingMemories(tuple(by_handle[h].id for h in c.handles if h in by_handle), c.why)
        for c in judgement.conflicts
    ]
    return kept, conflicts
