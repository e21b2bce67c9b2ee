"""Slips of the hand in questions."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.answers.typos import correct_typos


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("what's my dgo's name", "what's my dog's name"),
        ("wehre do i wrok", "where do i work"),
        ("whats my sistr called", "whats my sister called"),
        ("my adress?", "my address?"),
        ("who is my collegue", "who is my colleague"),
        ("did my carreer chnage", "did my career change"),
        ("birthdya and favorit food", "birthday and favorite food"),
    ],
)
def test_one_slip_a_word_is_put_right(typed: str, meant: str) -> None:
    assert correct_typos(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "Where does Zlatko wrk from?",
        "does bolota like lucia and marco",
        "my favourite colour, organised jewellery, travelling theatre",
        "tell me abt my bday pls",
        "mail jo@exampel.org or see /hoem/dgo",
        "我住在哪里",
        "",
    ],
)
def test_what_may_be_meant_so_stays(typed: str) -> None:
    assert correct_typos(typed) == typed


def test_a_flood_is_left_alone_after_some_words() -> None:
    assert correct_typos("dgo " * 20_000).startswith("dog dog")
    many = " ".join(
        f"zq{n:05}".translate(str.maketrans("0123456789", "abcdefghij")) for n in range(999)
    )
    assert correct_typos(many) == many
