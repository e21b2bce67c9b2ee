"""Presets beside one another: a memory is known by its mark, and its moves are told."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.console.pages.search.ranked_lists import _draw_line, _spell_letters
from memoryhub.console.pages.search.trial import MOST_BESIDE
from tests.console.conftest import ConsoleWorld

LIST = re.compile(r'<section class="ranking" aria-label="([^"]*)">(.*?)</section>', re.S)
MARK = re.compile(r'<span class="mark-of tone-\d+">([A-Z]+)</span>')


def ask(browser: Client, world: ConsoleWorld, *presets: str) -> dict[str, str]:
    """By their titles, the lists that are shown."""
    where = reverse("space-search", args=[world.space.id])
    page = browser.get(where, {"q": "Where are the bees?", "beside": presets}).content.decode()
    return dict(LIST.findall(page))


def test_each_preset_has_a_list_beside_that_of_the_space(
    browser: Client, world: ConsoleWorld
) -> None:
    lists = ask(browser, world, "rag", "balanced")
    assert list(lists) == ["Current settings", "Balanced", "Plain retrieval"]
    assert not {"▲", "▼"} & set(lists["Current settings"])


def test_a_memory_has_one_letter_and_a_letter_one_memory(
    browser: Client, world: ConsoleWorld
) -> None:
    lists = ask(browser, world, "rag", "full_context")
    seen = [
        (re.findall(r'href="([^"]+)"', row)[0], MARK.findall(row)[0])
        for rows in lists.values()
        for row in rows.split("<li>")[1:]
    ]
    assert len(seen) > len(set(seen)) == len(dict(seen)) == len({letter for _, letter in seen})


def test_no_more_presets_are_asked_than_are_allowed(browser: Client, world: ConsoleWorld) -> None:
    wanted = ("balanced", "rag", "memorybank", "amem", "mem0", "mem0g")
    assert len(ask(browser, world, *wanted)) == 1 + MOST_BESIDE
    assert ask(browser, world, "no-such-preset") == {}


@pytest.mark.parametrize(("at", "letters"), [(0, "A"), (25, "Z"), (26, "AA"), (52, "BA")])
def test_letters_go_on_after_z(at: int, letters: str) -> None:
    assert _spell_letters(at) == letters


def test_a_line_leads_from_the_middle_of_a_row_to_the_middle_of_another() -> None:
    assert _draw_line(1, 3) == "M0 32C20 32 20 160 40 160"
