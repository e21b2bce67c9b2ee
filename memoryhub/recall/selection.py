"""Which of the ranked candidates are shown: above the floor, each thing once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from memoryhub.recall.fusion import Candidate, Scored

# One own-word match of one query word gives this ts_rank, before division by the query's length.
_ONE_MATCH = 0.0608


def relevance(candidate: Candidate) -> float:
    """How far it bears on the question by itself, about 0 to 1, however the others do.

    Similarity (mean of alone and in its window), or the share of the question's words it has.
    """
    words = candidate.lexical / (2 * _ONE_MATCH)
    return max((candidate.dense or 0.0) / 2, 0.0) + words


def above_floor(ranked: Sequence[Scored], floor: float) -> list[Scored]:
    """Those that bear on the question (spec E32: never the nearest junk)."""
    return [scored for scored in ranked if relevance(scored.candidate) >= floor]


def distinct(
    ranked: Sequence[Scored], turns_of: Mapping[UUID, Collection[UUID]], limit: int
) -> list[Scored]:
    """The first `limit`, a fact standing for the turn it was read from (spec §12.2 step 5).

    A fact takes the place its turn already has; further facts of that turn keep their own.
    A note gives way to its turns, and they to it, whichever ranks first.
    """
    chosen: list[Scored] = []
    place: dict[UUID, int] = {}
    covered: set[UUID] = set()
    for scored in ranked:
        own = scored.candidate
        turns = turns_of.get(own.id, ()) if own.kind != "turn" else (own.id,)
        held = next((place[turn] for turn in turns if turn in place), None)
        if own.kind == "fact" and held is not None:
            chosen[held] = _in_place(scored, chosen[held])
            for turn in turns:
                place.pop(turn, None)
        elif own.kind == "fact" or not (turns and covered.issuperset(turns)):
            if len(chosen) == limit:
                continue
            if own.kind == "turn":
                place[own.id] = len(chosen)
            chosen.append(scored)
        covered.update(turns)
    return chosen


def _in_place(fact: Scored, turn: Scored) -> Scored:
    """The fact at the turn's rank: the difference is shown as a part of its score."""
    return Scored(fact.candidate, {**fact.parts, "source": turn.score - fact.score})
