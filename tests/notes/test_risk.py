"""What a decision puts at stake."""

from __future__ import annotations

import pytest

from notes.facts.risk import RiskLevel, assess_decision_risk, assess_proposal_risk, needs_review


@pytest.mark.parametrize(
    ("op", "mentions", "risk"),
    [
        ("retract", 1, "high"),
        ("correct", 1, "high"),
        ("supersede", 3, "high"),
        ("supersede", 2, "medium"),
        ("end", 1, "medium"),
        ("close", 1, "medium"),
        ("augment", 9, "low"),
        ("add", 9, "low"),
    ],
)
def test_the_more_is_lost_the_higher(op: str, mentions: int, risk: str) -> None:
    assert assess_decision_risk(op, mentions) == risk


@pytest.mark.parametrize(
    ("kind", "op", "risk"),
    [
        ("erase", "", "high"),
        ("merge", "", "low"),
        ("quarantine", "add", "medium"),
        ("conflict", "", "medium"),
        ("conflict", "correct", "high"),
        ("overwrite", "supersede", "high"),
        ("overwrite", "augment", "medium"),
    ],
)
def test_the_risk_of_saying_yes(kind: str, op: str, risk: str) -> None:
    assert assess_proposal_risk(kind, op, 1) == risk
    assert assess_proposal_risk(kind, op, 1, order=True) == "high"


def test_the_level_of_a_policy() -> None:
    risks: tuple[RiskLevel, ...] = ("low", "medium", "high")
    levels = ("off", "high", "medium")
    found = [(level, [risk for risk in risks if needs_review(risk, level)]) for level in levels]
    assert found == [("off", []), ("high", ["high"]), ("medium", ["medium", "high"])]
