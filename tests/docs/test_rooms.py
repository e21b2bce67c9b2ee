"""The glossary and the architecture page name places in the code that exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.pages import ROOT

PLACE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.py)`(?: `(\w+)`)?")
PAGES = ["docs/reference/glossary.md", "docs/explanation/architecture.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_place_named_is_there(page: str) -> None:
    missing = []
    for path, name in PLACE.findall((ROOT / page).read_text(encoding="utf-8")):
        file = ROOT / path
        if not file.is_file() or (name and name not in list_names(file.read_text("utf-8"))):
            missing.append(f"{path} {name}")
    assert missing == []


def list_names(source: str) -> set[str]:
    """Classes, functions and constants of a module."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names


def test_every_term_is_explained_once() -> None:
    lines = (ROOT / PAGES[0]).read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1].strip() for line in lines if re.match(r"\| [a-z]", line)]
    assert len(rows) > 90
    assert len(rows) == len(set(rows))


def test_the_page_answers_forty_questions_of_where() -> None:
    text = (ROOT / PAGES[1]).read_text(encoding="utf-8").split("## Where is it?")[1]
    answers = [line for line in text.splitlines() if re.match(r"\| .+\? \|", line)]
    assert len(answers) >= 40
    assert all(PLACE.search(line) for line in answers)
