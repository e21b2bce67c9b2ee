"""The memory model's page: what is cited stands there, and what it promises is tested.

How it is cited is told on the page itself (docs/reference/memory-model.md, 0.2).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, list_pages

MODEL = ROOT / "docs/reference/memory-model.md"
CODE = ("memoryhub", "notes", "personas", "api", "clients", "benchmarks", "tests")
SHOWN = ("templates", "static")
LETTERS = r"(?:MB|MG|AM|GR|AA|MO|BL|[ABCEGIJMORX])"
ID = re.compile(rf"(?<![\w%#@.&/-]){LETTERS}\d{{1,2}}(?![\w:%])")
RANGE = re.compile(rf"\b({LETTERS})(\d{{1,2}})(?:-| to )\1(\d{{1,2}})\b")
SECTION = re.compile(r"§ ?(\d+(?:\.\d+)*)(?: ([A-Z]{1,2}\d{1,2}))?")
# Ids of the model in small letters: edge cases, invariants and checks. The rest are corrections
# and choices, which are told where they are cited.
PROMISED = re.compile(r"(?:mb|mg|am|gr|aa|mo|bl|[eimx])\d+")


@cache
def anchors() -> frozenset[str]:
    return frozenset(re.findall(r'<a id="([^"]+)"></a>', MODEL.read_text(encoding="utf-8")))


def list_named_checks() -> set[str]:
    """The ids in the names of the project's test functions, in small letters."""
    found: set[str] = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^\s*def test_(\w+)", file.read_text(encoding="utf-8"), re.M):
            found |= set(re.findall(r"(?:^|_)([A-Z]{1,2}\d{1,2})(?=_|$)", name))
    return {each.lower() for each in found}


def words_of(file: Path) -> Iterator[str]:
    """Comments and docstrings of a module: what else is in quotes is nobody's citation."""
    text = file.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(said))):
                yield said


@cache
def citing() -> tuple[tuple[Path, str], ...]:
    return tuple(_citing())


def _citing() -> Iterator[tuple[Path, str]]:
    """Every text of the repository that may cite the model."""
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            for text in words_of(file):
                yield file, text
    for folder in SHOWN:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".html", ".js", ".css") and "vendor" not in file.parts:
                yield file, file.read_text(encoding="utf-8")
    for file in list_pages():
        if file != MODEL:
            yield file, file.read_text(encoding="utf-8")


def cited(text: str) -> Iterator[str]:
    """The anchors that a text cites."""
    for letters, first, last in RANGE.findall(text):
        for number in range(int(first), int(last) + 1):
            yield f"{letters}{number}".lower()
    for section, row in SECTION.findall(text):
        yield anchor(section)
        # A correction of Mem0 is told from Mem0's check of the same id by its section.
        if section == "5.4" and row:
            yield f"{anchor(section)}-{row.lower()}"
    for row in ID.findall(SECTION.sub("", text)):
        yield row.lower()


def anchor(section: str) -> str:
    return "s" + section.replace(".", "-")


def test_what_is_cited_stands_in_the_memory_model() -> None:
    unknown = {
        (str(file.relative_to(ROOT)), each)
        for file, text in citing()
        for each in cited(text)
        if each not in anchors()
    }
    assert unknown == set()


def test_a_section_is_cited_as_the_specs() -> None:
    """So that a search for one finds all places: `spec §11.7`, and more after a comma."""
    bare = {
        str(file.relative_to(ROOT))
        for file, text in citing()
        for found in SECTION.finditer(text)
        if not re.search(r"[sS]pec [^()]*$", text[: found.start()])
    }
    assert bare == set()


def test_the_model_has_no_anchor_twice_and_no_section_or_row_without() -> None:
    text = MODEL.read_text(encoding="utf-8")
    found = re.findall(r'<a id="([^"]+)"></a>', text)
    assert [each for each, count in Counter(found).items() if count > 1] == []
    sections = re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\b", text, re.M)
    assert {anchor(each) for each in sections} <= anchors()
    assert re.findall(rf"^(?:\| |\* (?:\*\*)?){LETTERS}\d+\b.*", text, re.M) == []


def test_every_promise_of_the_memory_model_has_a_test() -> None:
    """Each edge case, invariant and check, by its id in a test's name."""
    promised = {each for each in anchors() if PROMISED.fullmatch(each)}
    assert len(promised) > 140
    assert promised - list_named_checks() == set()


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("(spec §11.7)", ["s11-7"]),
        ("(MemoryOS, spec §8.2, O12)", ["s8-2", "o12"]),
        ("(spec §5.4 M8, E13)", ["s5-4", "s5-4-m8", "e13"]),
        ("three of them (G5-G7)", ["g5", "g6", "g7", "g5", "g7"]),
        ("`D8:6` and `%E6` are none", []),
    ],
)
def test_a_citation_is_told_from_other_words(text: str, anchors: list[str]) -> None:
    assert sorted(set(cited(text))) == sorted(set(anchors))


def test_no_two_test_modules_have_one_name() -> None:
    """Or pytest would refuse to collect them together."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
