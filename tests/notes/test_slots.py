"""What a person's new words leave of the slots of a claim."""

from __future__ import annotations

import pytest

from notes.facts.slots import MAX_SLOT_LENGTH, ClaimSlots, carry_slots_over

LIVES = ClaimSlots(subject="Ana", verb="live in", object="Porto")


@pytest.mark.parametrize(
    ("new", "value"),
    [
        ("Ana lives in Braga", "Braga"),
        ("Ana lives in Braga.", "Braga"),
        ("Ana lives in Porto Alegre", "Porto Alegre"),
        ("Ana lives in the old town of Porto", "the old town of Porto"),
        ("Ana lives in Ponto", "Ponto"),
        ("Ana lives in Porto", "Porto"),
    ],
)
def test_an_object_follows_its_words(new: str, value: str) -> None:
    assert carry_slots_over("Ana lives in Porto.", new, LIVES) == LIVES._replace(object=value)


@pytest.mark.parametrize(
    "new",
    ["Ana no longer lives in Porto", "Ana left Porto", "Rosa lives in Porto", "Her home is Braga"],
)
def test_where_anything_else_changed_nothing_is_known(new: str) -> None:
    assert carry_slots_over("Ana lives in Porto", new, LIVES) is None


def test_an_object_is_not_taken_away_nor_too_long() -> None:
    assert carry_slots_over("Ana lives in Porto", "Ana lives in ", LIVES) is None
    assert (
        carry_slots_over("Ana lives in Porto", f"Ana lives in {'x' * (MAX_SLOT_LENGTH + 1)}", LIVES)
        is None
    )


def test_chinese_words_need_no_spaces() -> None:
    slots = ClaimSlots(subject="小明", verb="住", object="上海")
    assert carry_slots_over("小明住在上海。", "小明住在北京。", slots) == slots._replace(
        object="北京"
    )
