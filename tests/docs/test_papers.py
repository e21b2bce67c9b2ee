"""Every row of the table of mechanisms names code and a test that exist, and says its state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.systems.test_every_reader import ARRIVES, READERS

PAGE = ROOT / "docs/reference/papers.md"
SYSTEMS = ("MemoryBank", "MemGPT", "A-Mem", "Mem0", "Mem0g", "AMA", "MemoryOS", "Baselines")
READERS_HEADING = "## What reaches each reader"
STATES = ("works", "different: ", "not there: ")


def list_rows() -> list[list[str]]:
    """The cells of each mechanism."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    lines = lines[: lines.index(READERS_HEADING)]
    rows = [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines if "|" in line]
    return [row for row in rows if row[0] not in ("Mechanism", "---") and "---" not in row[0]]


@cache
def list_names(file: Path) -> frozenset[str]:
    """Functions and classes of a module, and methods behind their class and a dot."""
    return frozenset(_list_names(ast.parse(file.read_text(encoding="utf-8"))))


def _list_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}"


def is_there(place: str, mark: str) -> bool:
    path, _, name = place.partition(mark)
    file = ROOT / path
    return file.is_file() and (not name or name in list_names(file))


@pytest.mark.parametrize("row", list_rows(), ids=lambda row: row[0])
def test_a_mechanism_names_its_code_its_test_and_its_state(row: list[str]) -> None:
    _, source, code, test, state = row
    assert "memory-model.md#s" in source
    assert state.startswith(STATES)
    if state.startswith("not there: ") and code == test == "–":
        return
    places, tests = re.findall(r"`([^`]+)`", code), re.findall(r"`([^`]+)`", test)
    assert places
    assert tests
    assert [place for place in places if not is_there(place, ":")] == []
    assert [each for each in tests if not is_there(each, "::") or "::test_" not in each] == []


def test_every_system_has_its_rows() -> None:
    found = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.M)
    assert tuple(found) == (*SYSTEMS, READERS_HEADING.removeprefix("## "))
    assert len(list_rows()) >= 60


def test_the_table_of_readers_is_what_the_acceptance_suite_asks_for() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition(READERS_HEADING)[2]
    lines = [line for line in shown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0] == ["Preset", "What arrives", *READERS]
    assert rows[2:] == [
        [f"`{preset}`", name, *("no" if reader in part.lacking else "yes" for reader in READERS)]
        for preset, parts in ARRIVES.items()
        for name, part in parts.items()
    ]
    kept = [part for parts in ARRIVES.values() for part in parts.values()]
    reasons = {why for part in kept for why in part.lacking.values()}
    assert [why for why in reasons if why not in shown] == []
