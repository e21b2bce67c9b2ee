"""What is alike by meaning or by words, of one kind: RRF of both, above the channel's floor.

So are found what was said, what is held true, summaries of spans (MemoryBank, AMA), and notes with
those linked to them (A-Mem, spec §4.2). Links have a budget of their own: with one for both, linked
notes would vanish whenever there are k direct ones (A10). They are scored against the question like
the others, and a little less.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.recall.candidates.channels.hits import (
    ChannelHit,
    clamp_score,
    compute_reciprocal_rank,
    rank_by_score,
)
from memoryhub.recall.candidates.sql import CANDIDATES_PER_ARM, retrieve_for_question
from memoryhub.recall.candidates.unindexed_turns import retrieve_unindexed_turns
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.decay import compute_kept_shares
from memoryhub.recall.ranking.score import MemoryCandidate
from memoryhub.recall.render.results import ArmRank, ItemKind

# Below this cosine, and with fewer than this share of the question's words, it is no answer (E32).
FLOOR, WORDS = 0.25, 0.3
# For a fact about whom the question names.
_NAMED_OWNER_BOOST = 0.1


def retrieve_similar(
    ask: PreparedQuestion,
    kind: ItemKind,
    *,
    most: int = CANDIDATES_PER_ARM,
    linked_to: Sequence[UUID] = (),
) -> list[MemoryCandidate]:
    """Candidates of one kind in one statement, or the notes linked to these."""
    found = retrieve_for_question(ask, [kind], most, linked_to).visible
    if kind == "turn":
        found += retrieve_unindexed_turns(ask)
    # Of what is equally alike the newest first, and always in the same order.
    return sorted(found, key=lambda c: (c.occurred_at, c.id), reverse=True)


def is_above_floor(candidate: MemoryCandidate) -> bool:
    """Above the floor in one arm or the other."""
    near = candidate.dense is not None and candidate.dense / 2 >= FLOOR
    return near or candidate.lexical >= WORDS


def build_arms(
    found: Sequence[MemoryCandidate], wanted: Collection[UUID] | None = None
) -> dict[UUID, dict[str, ArmRank]]:
    """The places by meaning and by words, among all found, of those wanted (None: of all)."""
    near = rank_by_score({at: c.dense for at, c in enumerate(found)})
    words = rank_by_score({at: c.lexical or None for at, c in enumerate(found)})
    return {
        c.id: _build_candidate_arms(c, near.get(at), words.get(at))
        for at, c in enumerate(found)
        if wanted is None or c.id in wanted
    }


def _build_candidate_arms(
    candidate: MemoryCandidate, near: int | None, words: int | None
) -> dict[str, ArmRank]:
    arms: dict[str, ArmRank] = {}
    if near is not None and candidate.dense is not None:
        arms["dense"] = ArmRank(near, round(candidate.dense / 2, 4))
    if words is not None:
        arms["lexical"] = ArmRank(words, round(candidate.lexical, 4))
    return arms


def rank_similar(
    ask: PreparedQuestion, found: Sequence[MemoryCandidate]
) -> list[tuple[MemoryCandidate, float]]:
    """Those that bear on the question with their RRF, best first; what has faded counts less."""
    scores = _score_by_places(found)
    scored = [
        (c, clamp_score(scores[c.id] * left))
        for c, left in zip(found, compute_kept_shares(ask, found), strict=True)
        if is_above_floor(c)
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def _score_by_places(found: Collection[MemoryCandidate]) -> dict[UUID, float]:
    """RRF of the places by meaning and by words."""
    near = rank_by_score({c.id: c.dense for c in found})
    words = rank_by_score({c.id: c.lexical or None for c in found})
    return {c.id: compute_reciprocal_rank([near.get(c.id), words.get(c.id)]) for c in found}


def _build_hits(
    ask: PreparedQuestion, kind: ItemKind, known: Sequence[MemoryCandidate]
) -> list[ChannelHit]:
    arms = build_arms(known)
    return [
        ChannelHit(kind, c.id, score, format_reason(c), arms=arms[c.id])
        for c, score in rank_similar(ask, known)
    ]


def _retrieve_known(ask: PreparedQuestion, kind: ItemKind) -> list[MemoryCandidate]:
    """Enough to choose K of."""
    return retrieve_similar(ask, kind, most=max(CANDIDATES_PER_ARM, ask.k))


def _find_best(ask: PreparedQuestion, kind: ItemKind) -> list[ChannelHit]:
    return _build_hits(ask, kind, _retrieve_known(ask, kind))[: ask.k]


def format_reason(candidate: MemoryCandidate) -> str:
    alike = "" if candidate.dense is None else f"alike {candidate.dense / 2:.2f}"
    words = f"words {candidate.lexical:.2f}" if candidate.lexical else ""
    return ", ".join(part for part in (alike, words) if part)


def find_turns(ask: PreparedQuestion) -> list[ChannelHit]:
    """What was said, word for word."""
    if ask.policy.recall.whole:
        return _list_all_turns(ask)
    return _find_best(ask, "turn")


def _list_all_turns(ask: PreparedQuestion) -> list[ChannelHit]:
    """Every turn in its order: the baseline that has no memory (spec §9, BL1)."""
    rows = Turn.objects.filter(space=ask.space, occurred_at__lte=ask.visibility.said_by)
    rows = rows.exclude(IS_INNER).exclude(state=Turn.State.REDACTED)
    ids = rows.order_by("seq").values_list("id", flat=True)
    return [ChannelHit("turn", at, 1.0, "everything said") for at in ids]


def find_facts(ask: PreparedQuestion) -> list[ChannelHit]:
    """Current ones, those of an earlier time, or all (spec §12.2); first those of whom the
    question names, where its words count."""
    known = _retrieve_known(ask, "fact")
    names = ask.parsed_question.named if ask.policy.recall.words else ()
    named = {c.id for c in known if c.owner in names}
    scored = [
        replace(hit, score=clamp_score((hit.score + boost) / (1 + _NAMED_OWNER_BOOST)))
        for hit in _build_hits(ask, "fact", known)
        for boost in [_NAMED_OWNER_BOOST * (hit.id in named)]
    ]
    return sorted(scored, key=lambda hit: -hit.score)[: ask.k]


def find_episodes(ask: PreparedQuestion) -> list[ChannelHit]:
    """Topics, days, sessions, everything."""
    return _find_best(ask, "episode")


def find_notes(ask: PreparedQuestion) -> list[ChannelHit]:
    """The best k, then at most `link_budget` that are linked to them."""
    known = _retrieve_known(ask, "note")
    found = _build_hits(ask, "note", known)[: ask.k]
    return found + find_linked_hits(ask, known, [hit.id for hit in found])


def find_linked_hits(
    ask: PreparedQuestion, known: Sequence[MemoryCandidate], direct: Sequence[UUID]
) -> list[ChannelHit]:
    """At most `link_budget` notes linked to these, beside all that are known, best first."""
    budget = ask.policy.recall.link_budget
    if not direct or budget == 0:
        return []
    linked = retrieve_similar(ask, "note", linked_to=direct)
    # By the places they take among all, damped.
    scores = _score_by_places({c.id: c for c in (*known, *linked)}.values())
    weight = ask.policy.recall.linked_weight
    found = [
        ChannelHit(
            "note",
            c.id,
            clamp_score(weight * scores[c.id]),
            f"linked, {format_reason(c)}",
            linked=True,
        )
        for c in linked
    ]
    return sorted(found, key=lambda hit: -hit.score)[:budget]
