"""What is alike by meaning or by words, of one kind: RRF of both, above the channel's floor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from memoryhub.recall.arms import PER_ARM, candidates
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit, places, reciprocal, share
from memoryhub.recall.fading import kept
from memoryhub.recall.fusion import Candidate
from memoryhub.recall.results import Arm, ItemKind
from memoryhub.recall.unread import unread

# Below this cosine, and with fewer than this share of the question's words, it is no answer (E32).
FLOOR, WORDS = 0.25, 0.3


def alike(
    ask: Ask, kind: ItemKind, *, most: int = PER_ARM, linked_to: Sequence[UUID] = ()
) -> list[Candidate]:
    """Candidates of one kind in one statement, or the notes linked to these."""
    found = candidates(
        ask.space,
        words=ask.way.words,
        vector=ask.vector,
        model=ask.model,
        kinds=[kind],
        visibility=ask.visibility,
        per_arm=most,
        linked_to=linked_to,
    ).seen
    if kind == "turn":
        found += unread(ask)
    # Of what is equally alike the newest first, and always in the same order.
    return sorted(found, key=lambda c: (c.occurred_at, c.id), reverse=True)


def bears(candidate: Candidate) -> bool:
    """Above the floor in one arm or the other."""
    near = candidate.dense is not None and candidate.dense / 2 >= FLOOR
    return near or candidate.lexical >= WORDS


def arms_of(
    found: Sequence[Candidate], wanted: Collection[UUID] | None = None
) -> dict[UUID, dict[str, Arm]]:
    """The places by meaning and by words, among all found, of those wanted (None: of all)."""
    near = places({at: c.dense for at, c in enumerate(found)})
    words = places({at: c.lexical or None for at, c in enumerate(found)})
    return {
        c.id: _arms(c, near.get(at), words.get(at))
        for at, c in enumerate(found)
        if wanted is None or c.id in wanted
    }


def _arms(candidate: Candidate, near: int | None, words: int | None) -> dict[str, Arm]:
    arms: dict[str, Arm] = {}
    if near is not None and candidate.dense is not None:
        arms["dense"] = Arm(near, round(candidate.dense / 2, 4))
    if words is not None:
        arms["lexical"] = Arm(words, round(candidate.lexical, 4))
    return arms


def ranked(ask: Ask, found: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    """Those that bear on the question with their RRF, best first; what has faded counts less."""
    near = places({c.id: c.dense for c in found})
    words = places({c.id: c.lexical or None for c in found})
    scored = [
        (c, share(reciprocal([near.get(c.id), words.get(c.id)]) * left))
        for c, left in zip(found, kept(ask, found), strict=True)
        if bears(c)
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def hits(ask: Ask, kind: ItemKind, count: int) -> list[Hit]:
    """The `count` best of a kind."""
    known = alike(ask, kind, most=max(PER_ARM, count))
    arms = arms_of(known)
    best = ranked(ask, known)[:count]
    return [Hit(kind, c.id, score, reason(c), arms=arms[c.id]) for c, score in best]


def reason(candidate: Candidate) -> str:
    alike = "" if candidate.dense is None else f"alike {candidate.dense / 2:.2f}"
    words = f"words {candidate.lexical:.2f}" if candidate.lexical else ""
    return ", ".join(part for part in (alike, words) if part)
