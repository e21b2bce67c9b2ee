"""Notes that are alike, and notes linked to those (A-Mem, spec §4.2).

Links have a budget of their own: with one for both, linked notes would vanish whenever there are
k direct ones (A10). They are scored against the question like the others, and a little less.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, places, reciprocal, share
from memoryhub.recall.channels.similar import alike, arms_of, ranked, reason
from memoryhub.recall.fusion import Candidate


def find(ask: Ask) -> list[Hit]:
    """The best k, then at most `link_budget` that are linked to them."""
    known = alike(ask, "note")
    arms = arms_of(known)
    direct = ranked(ask, known)[: ask.k]
    found = [Hit("note", c.id, score, reason(c), arms=arms[c.id]) for c, score in direct]
    return found + linked(ask, known, [hit.id for hit in found])


def linked(ask: Ask, known: Sequence[Candidate], direct: Sequence[UUID]) -> list[Hit]:
    """At most `link_budget` notes linked to these, beside all that are known, best first."""
    budget = ask.policy.recall.link_budget
    if not direct or budget == 0:
        return []
    far = alike(ask, "note", linked_to=direct)
    return _rescored(ask, known, far)[:budget]


def _rescored(ask: Ask, known: Sequence[Candidate], linked: list[Candidate]) -> list[Hit]:
    """Linked notes by the places they take among all, damped."""
    everyone = {c.id: c for c in (*known, *linked)}.values()
    near = places({c.id: c.dense for c in everyone})
    words = places({c.id: c.lexical or None for c in everyone})
    weight = ask.policy.recall.linked_weight
    scored = [(c, share(weight * reciprocal([near.get(c.id), words.get(c.id)]))) for c in linked]
    scored.sort(key=lambda pair: -pair[1])
    return [Hit("note", c.id, score, f"linked, {reason(c)}", linked=True) for c, score in scored]
