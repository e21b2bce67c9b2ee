"""Names that can't be one entity's, however near their vectors are (GR5)."""

from __future__ import annotations

import pytest

from notes.graph.identity import may_be_same_entity


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        ("Rob Hill", "Robert Hall", True),
        ("Madrid marathon", "marathon", True),
        ("Leire's aunt", "Leire's aunt Pilar", True),
        ("李敏的姑姑", "李敏姑姑", True),
        ("room 101", "room 102", False),
        ("Leire's aunt", "Leire", False),
        ("Leire", "leire’s dog", False),
        ("Lukas' shop", "Lukas", False),
        ("李敏的姑姑", "李敏", False),
    ],
)
def test_GR5_who_belongs_to_somebody_is_somebody_else(left: str, right: str, may: bool) -> None:
    assert may_be_same_entity(left, right) is may
    assert may_be_same_entity(right, left) is may


def test_GR5_a_person_is_no_place() -> None:
    assert may_be_same_entity("Santiago", "San Diego", "person", "") is True
    assert may_be_same_entity("Santiago", "San Diego", "person", "place") is False
