"""How many claims an engine is offered to compare with, and how near they have to be."""

from __future__ import annotations

from dataclasses import dataclass

from memoryhub.engines.types import Engine
from memoryhub.policies.schema import Policy

_MAX_PAST = 5
_MAX_OF_OTHERS = 5  # claims near a new one that rules are offered whoever they are about


@dataclass(frozen=True, slots=True)
class OfferLimits:
    """Of one new claim or wish: `claims` held, candidates read `earlier` with it, and as many as
    `compared` of both together; a claim is compared with those of a cosine from `floor` on.

    `others`: at most so many found by meaning alone that are not looked for by owner. `of_others`:
    what other people have is looked for apart from the owner's own, and by whom and what a claim
    names. `past`: of those that are over, which a wish may mean too.
    """

    claims: int
    earlier: int
    others: int
    compared: int
    floor: float
    of_others: bool
    past: int

    @classmethod
    def of(cls, engine: Engine, policy: Policy) -> OfferLimits:
        """A model is shown a few, and understands whom each is about. Rules cost nothing: they look
        at all that the owner has, whatever it resembles, and at little of others, for they might
        take what is told of one for another's."""
        if engine.reads_by_rules:
            return cls(60, 10, _MAX_OF_OTHERS, compared=70, floor=-1.0, of_others=False, past=0)
        most = policy.facts.neighbours
        floor = policy.facts.floor
        return cls(most, 3, most, compared=most, floor=floor, of_others=True, past=_MAX_PAST)
