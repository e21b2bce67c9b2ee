"""Notes that are alike, and notes linked to those (A-Mem, spec §4.2).

Links have a budget of their own: with one for both, linked notes would vanish whenever there are
k direct ones (A10). They are scored against the question like the others, and a little less.
"""

from __future__ import annotations

from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, places, reciprocal, share
from memoryhub.recall.channels.similar import alike, ranked, reason
from memoryhub.recall.fusion import Candidate


def find(ask: Ask) -> list[Hit]:
    """The best k, then at most `link_budget` that are linked to them."""
    known = alike(ask, "note")
    direct = ranked(ask, known)[: ask.k]
    found = [Hit("note", c.id, score, reason(c)) for c, score in direct]
    budget = ask.policy.recall.link_budget
    if not found or budget == 0:
        return found
    linked = alike(ask, "note", linked_to=[hit.id for hit in found])
    return found + _rescored(ask, known, linked)[:budget]


def _rescored(ask: Ask, known: list[Candidate], linked: list[Candidate]) -> list[Hit]:
    """Linked notes by the places they take among all, damped."""
    everyone = {c.id: c for c in (*known, *linked)}.values()
    near = places({c.id: c.dense for c in everyone})
    words = places({c.id: c.lexical or None for c in everyone})
    weight = ask.policy.recall.linked_weight
    scored = [(c, share(weight * reciprocal([near.get(c.id), words.get(c.id)]))) for c in linked]
    scored.sort(key=lambda pair: -pair[1])
    return [Hit("note", c.id, score, f"linked, {reason(c)}", linked=True) for c, score in scored]
