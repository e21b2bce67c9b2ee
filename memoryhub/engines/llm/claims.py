"""Deciding what new claims do to those held, and whether two names are one entity's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from memoryhub.engines.llm.asking import Asking, halved
from memoryhub.engines.llm.replies_claims import MergeReply, ResolveReply, VerdictReply
from memoryhub.engines.types import Candidate, Comparison, HeldClaim, NamePair, Verdict, VerdictOp

_MOST_TEXT = 500  # characters of a merged text
_WITHOUT_TARGET = frozenset({"add"})


class Deciding(Asking):
    def resolve(self, comparison: Comparison) -> list[Verdict]:
        """Verdicts on offered handles only. A target that was not offered makes an `augment`, a
        `contradict` or a `same` an `add`, and a `forget` nothing (spec M2, E13)."""
        if not comparison.candidates:
            return []
        parts = halved(lambda some: self._resolved(_part(comparison, some)), comparison.candidates)
        return [verdict for part in parts for verdict in part]

    def _resolved(self, comparison: Comparison) -> list[Verdict]:
        reply = self.ask("resolve", _compared(comparison), ResolveReply)
        asked = {candidate.handle: candidate for candidate in comparison.candidates}
        kept: dict[tuple[str, str], Verdict] = {}
        rejected = 0
        for each in reply.decisions:
            candidate = asked.get(each.candidate.strip())
            verdict, fault = _verdict(each, candidate) if candidate else (None, True)
            rejected += fault
            if verdict is None or candidate is None:
                continue
            place = (candidate.handle, verdict.target if candidate.is_wish else "")
            rejected += place in kept
            kept.setdefault(place, verdict)
        self.reject("resolve", rejected)
        return list(kept.values())

    def merge_check(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        if not pairs:
            return {}
        found = halved(self._merged, pairs)
        return {handle: same for part in found for handle, same in part.items()}

    def _merged(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        data = {"pairs": [_pair(pair) for pair in pairs]}
        reply = self.ask("merge_check", data, MergeReply)
        offered = {pair.handle for pair in pairs}
        known = [each for each in reply.decisions if each.pair.strip() in offered]
        self.reject("merge_check", len(reply.decisions) - len(known))
        return {each.pair.strip(): each.same for each in known if each.same is not None}


def _verdict(reply: VerdictReply, candidate: Candidate) -> tuple[Verdict | None, bool]:
    """What a decision may mean, and whether something of it was dropped."""
    op, target = reply.op.strip().lower(), reply.target.strip()
    if op not in get_args(VerdictOp) or (op == "forget") != candidate.is_wish:
        return None, True
    if op in _WITHOUT_TARGET:
        return Verdict(candidate.handle, "add", reason=reply.reason[:200]), False
    if target not in candidate.offered:
        return (None if op == "forget" else Verdict(candidate.handle, "add")), True
    chosen: Any = op
    text = reply.text.strip()[:_MOST_TEXT] if op == "augment" else ""
    return Verdict(candidate.handle, chosen, target, text, reply.reason[:200]), False


def _part(comparison: Comparison, some: Sequence[Candidate]) -> Comparison:
    """What is asked about some of the candidates: those they may be compared with, and of the
    others' those that come before them."""
    if len(some) == len(comparison.candidates):
        return comparison
    offered = {handle for candidate in some for handle in candidate.offered}
    asked = {candidate.handle for candidate in some}
    others = [c for c in comparison.candidates if c.handle in offered - asked]
    held = [claim for claim in comparison.held if claim.handle in offered]
    return replace(comparison, candidates=some, held=[*held, *map(_as_held, others)])


def _as_held(candidate: Candidate) -> HeldClaim:
    return HeldClaim(
        handle=candidate.handle,
        text=candidate.text,
        owner=candidate.owner,
        predicate_key="",
        valid_from=candidate.said_at,
        polarity=candidate.polarity,
    )


def _compared(comparison: Comparison) -> dict[str, Any]:
    return {
        "subject": comparison.subject,
        "kept": [_claim(held) for held in comparison.held],
        "new": [_candidate(candidate) for candidate in comparison.candidates],
    }


def _claim(held: HeldClaim) -> dict[str, Any]:
    shown = {"handle": held.handle, "text": held.text, "since": held.valid_from.date().isoformat()}
    return shown | ({"until": held.valid_to.date().isoformat()} if held.valid_to else {})


def _candidate(candidate: Candidate) -> dict[str, Any]:
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


def _pair(pair: NamePair) -> Mapping[str, Any]:
    return {
        "handle": pair.handle,
        "names": [pair.left, pair.right],
        "known": [list(pair.left_facts), list(pair.right_facts)],
    }
