"""Deciding what new claims do to those held, and whether two names are one entity's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    ModelPurposes,
    ask_in_halves,
    render_held_claim,
)
from memoryhub.engines.llm.replies import MergeReply, ResolveReply, VerdictReply
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimVerdict,
    HeldClaim,
    NamePair,
    VerdictOp,
)


class ClaimPurposes(ModelPurposes):
    def resolve_claims(self, comparison: ClaimComparison) -> list[ClaimVerdict]:
        """Verdicts on offered handles only. A target that was not offered makes an `augment`, a
        `contradict` or a `same` an `add`, and a `forget` nothing (spec §5.4 M2, E13)."""
        if not comparison.candidates:
            return []
        parts = ask_in_halves(
            lambda some: self._ask_for_verdicts(_narrow_comparison(comparison, some)),
            comparison.candidates,
        )
        return [verdict for part in parts for verdict in part]

    def _ask_for_verdicts(self, comparison: ClaimComparison) -> list[ClaimVerdict]:
        reply = self.ask_purpose("resolve", _build_request(comparison), ResolveReply)
        asked = {candidate.handle: candidate for candidate in comparison.candidates}
        kept: dict[tuple[str, str], ClaimVerdict] = {}
        rejected = 0
        for each in reply.decisions:
            candidate = asked.get(each.candidate.strip())
            verdict, fault = _build_verdict(each, candidate) if candidate else (None, True)
            rejected += fault
            if verdict is None or candidate is None:
                continue
            place = (candidate.handle, verdict.target)
            rejected += place in kept
            kept.setdefault(place, verdict)
        self.count_rejected_items("resolve", rejected)
        return list(kept.values())

    def compare_names(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        if not pairs:
            return {}
        found = ask_in_halves(self._ask_about_names, pairs)
        return {handle: same for part in found for handle, same in part.items()}

    def _ask_about_names(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        told = [
            {"handle": p.handle, "names": [p.left, p.right], "known": [p.left_facts, p.right_facts]}
            for p in pairs
        ]
        reply = self.ask_purpose("merge_check", {"pairs": told}, MergeReply)
        offered = {pair.handle for pair in pairs}
        known = [each for each in reply.decisions if each.pair.strip() in offered]
        self.count_rejected_items("merge_check", len(reply.decisions) - len(known))
        return {each.pair.strip(): each.same for each in known if each.same is not None}


def _build_verdict(
    reply: VerdictReply, candidate: ClaimCandidate
) -> tuple[ClaimVerdict | None, bool]:
    """What a decision may mean, and whether something of it was dropped."""
    op, target = reply.op.strip().lower(), reply.target.strip()
    if op not in get_args(VerdictOp) or (op == "forget") != candidate.is_wish:
        return None, True
    if op == "add":
        return ClaimVerdict(candidate.handle, "add"), False
    if target not in candidate.offered:
        return (None if op == "forget" else ClaimVerdict(candidate.handle, "add")), True
    chosen: Any = op
    text = reply.text.strip()[:MOST_CHARACTERS] if op == "augment" else ""
    return ClaimVerdict(candidate.handle, chosen, target, text), False


def _narrow_comparison(
    comparison: ClaimComparison, some: Sequence[ClaimCandidate]
) -> ClaimComparison:
    """What is asked about some of the candidates: those they may be compared with, and of the
    others' those that come before them."""
    if len(some) == len(comparison.candidates):
        return comparison
    offered = {handle for candidate in some for handle in candidate.offered}
    asked = {candidate.handle for candidate in some}
    others = [c for c in comparison.candidates if c.handle in offered - asked]
    held = [claim for claim in comparison.held if claim.handle in offered]
    return replace(comparison, candidates=some, held=[*held, *map(_held_from_candidate, others)])


def _held_from_candidate(candidate: ClaimCandidate) -> HeldClaim:
    return HeldClaim(
        handle=candidate.handle,
        text=candidate.text,
        owner=candidate.owner,
        predicate_key="",
        valid_from=candidate.said_at,
        polarity=candidate.polarity,
    )


def _build_request(comparison: ClaimComparison) -> dict[str, Any]:
    return {
        "subject": comparison.subject,
        "kept": [render_held_claim(held) for held in comparison.held],
        "new": [_render_candidate(candidate) for candidate in comparison.candidates],
    }


def _render_candidate(candidate: ClaimCandidate) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "handle": candidate.handle,
        "text": candidate.text,
        "speaker": candidate.speaker,
        "said": candidate.said_at.date().isoformat(),
        "compare": list(candidate.offered),
    }
    if candidate.event_from:
        shown["about"] = candidate.event_from.date().isoformat()
    return shown | ({"wish": True} if candidate.is_wish else {})
