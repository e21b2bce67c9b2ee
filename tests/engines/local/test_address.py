"""What is held about somebody, told to them."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.answers.address import address_person


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("Priya works as a nurse in Faro.", "You work as a nurse in Faro."),
        ("Priya is thirty and does not smoke.", "You are thirty and do not smoke."),
        ("Priya has two cats and hates thunder.", "You have two cats and hate thunder."),
        ("Priya was in Porto and lives in Faro now.", "You were in Porto and live in Faro now."),
        ("Priya moved to Faro last week.", "You moved to Faro last week."),
        ("Priya visits their sister.", "You visit your sister."),
        ("Anjali is Priya's sister.", "Anjali is your sister."),
        ("Priya's dog hates thunder.", "Your dog hates thunder."),
        ("Rita cooked for Priya.", "Rita cooked for you."),
        ("Priya thinks that Rita lives in Leeds.", "You think that Rita lives in Leeds."),
        ("The user is called Priya.", "You are called Priya."),
        ("The user is Priya.", "You are called Priya."),
        ("The user is Priya, 34.", "You are called Priya and are 34."),
        ("Rita lives in Leeds.", "Rita lives in Leeds."),
    ],
)
def test_english(held: str, told: str) -> None:
    assert address_person(held, ["Priya", "the user"]) == told


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("李敏住在成都。", "你住在成都。"),
        ("李敏的姐姐叫李娜。", "你的姐姐叫李娜。"),
        ("饼干是李敏的狗。", "饼干是你的狗。"),
        ("用户叫李敏。", "你叫李敏。"),
    ],
)
def test_chinese(held: str, told: str) -> None:
    assert address_person(held, ["李敏", "用户"]) == told


def test_a_name_in_letters_among_chinese() -> None:
    assert address_person("zhou住在杭州。", ["zhou", "用户"]) == "你住在杭州。"
    assert address_person("zhouyi住在杭州。", ["zhou", "用户"]) == "zhouyi住在杭州。"


def test_nobodys_name_changes_nothing() -> None:
    assert address_person("Priya works here.", [""]) == "Priya works here."
