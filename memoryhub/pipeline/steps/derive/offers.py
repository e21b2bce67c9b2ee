"""How many claims an engine is offered to compare with, and how near they have to be."""

from __future__ import annotations

from dataclasses import dataclass

from memoryhub.engines.types import Engine
from memoryhub.policies.schema import Policy


@dataclass(frozen=True, slots=True)
class OfferLimits:
    """Of one new claim or wish: `claims` held, candidates read `earlier` with it, and as many as
    `compared` of both together, each of a cosine from `floor` on.

    `beyond_owner`: also what is held under the owner's other names, and of other people where a
    wish may mean it.
    """

    claims: int
    earlier: int
    compared: int
    floor: float
    beyond_owner: bool

    @classmethod
    def of(cls, engine: Engine, policy: Policy) -> OfferLimits:
        """A model is shown a few. Rules cost nothing: they look at all, whatever it resembles."""
        if engine.reads_by_rules:
            return cls(claims=60, earlier=10, compared=70, floor=-1.0, beyond_owner=True)
        most = policy.facts.neighbours
        return cls(most, earlier=3, compared=most, floor=policy.facts.floor, beyond_owner=False)
