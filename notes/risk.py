"""How much a decision puts at stake: what its undoing would cost a reader meanwhile. Pure.

High is what takes away what was held for certain or for good, medium what ends or replaces a
memory, low what only adds to one or names two things alike.
"""

from __future__ import annotations

from typing import Literal

from notes.resolving import Op

Risk = Literal["low", "medium", "high"]
# Said at least this often, a memory is not ended in passing.
ESTABLISHED = 3

_WITHDRAW = frozenset({Op.CORRECT, Op.RETRACT})
_END = frozenset({Op.SUPERSEDE, Op.END, Op.CLOSE})
_RANK: dict[str, int] = {"low": 0, "medium": 1, "high": 2}


def of_decision(op: str, mentions: int) -> Risk:
    """Of what an op does to a memory that was said `mentions` times."""
    if op in _WITHDRAW or (op in _END and mentions >= ESTABLISHED):
        return "high"
    return "medium" if op in _END else "low"


def of_case(kind: str, op: str, mentions: int, *, order: bool = False) -> Risk:
    """Of saying yes to a proposal of this kind. `order`: it reads like a command to the hub."""
    if kind == "erase" or order:
        return "high"
    if kind == "merge":
        return "low"
    if kind == "quarantine":
        return "medium"
    risk = of_decision(op, mentions)
    # A person's word stands behind what would be overwritten.
    return "high" if kind == "overwrite" and risk != "low" else max(risk, "medium", key=rank)


def rank(risk: str) -> int:
    return _RANK[risk]


def waits(risk: Risk, level: str) -> bool:
    """Whether a policy of this level (off, high, medium) has it wait for a person."""
    return level != "off" and rank(risk) >= rank(level)
