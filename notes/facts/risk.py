"""How much a decision puts at stake: what its undoing would cost a reader meanwhile. Pure.

High is what takes away what was held for certain or for good, medium what ends or replaces a
memory, low what only adds to one or names two things alike.
"""

from __future__ import annotations

from typing import Literal

from notes.facts.decide import ResolutionOp

RiskLevel = Literal["low", "medium", "high"]
# Said at least this often, a memory is not ended in passing.
ESTABLISHED_MENTIONS = 3

_WITHDRAWING_OPS = frozenset({ResolutionOp.CORRECT, ResolutionOp.RETRACT})
_ENDING_OPS = frozenset({ResolutionOp.SUPERSEDE, ResolutionOp.END, ResolutionOp.CLOSE})
_RISK_RANKS: dict[str, int] = {"low": 0, "medium": 1, "high": 2}


def assess_decision_risk(op: str, mentions: int) -> RiskLevel:
    """Of what an op does to a memory that was said `mentions` times."""
    if op in _WITHDRAWING_OPS or (op in _ENDING_OPS and mentions >= ESTABLISHED_MENTIONS):
        return "high"
    return "medium" if op in _ENDING_OPS else "low"


def assess_proposal_risk(kind: str, op: str, mentions: int, *, order: bool = False) -> RiskLevel:
    """Of saying yes to a proposal of this kind. `order`: it reads like a command to the hub."""
    if kind == "erase" or order:
        return "high"
    if kind == "merge":
        return "low"
    if kind == "quarantine":
        return "medium"
    risk = assess_decision_risk(op, mentions)
    # A person's word stands behind what would be overwritten.
    return "high" if kind == "overwrite" and risk != "low" else max(risk, "medium", key=rank_risk)


def rank_risk(risk: str) -> int:
    return _RISK_RANKS[risk]


def needs_review(risk: RiskLevel, level: str) -> bool:
    """Whether a policy of this level (off, high, medium) has it wait for a person."""
    return level != "off" and rank_risk(risk) >= rank_risk(level)
