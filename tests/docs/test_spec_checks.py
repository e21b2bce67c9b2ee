"""Every check that the memory model promises is a test of that name."""

from __future__ import annotations

import re
from collections import Counter

from tests.docs.pages import ROOT

# How many checks each system has, by the letters before their numbers.
CHECKS = {"MB": 10, "MG": 10, "AM": 11, "M": 11, "GR": 9, "AA": 11, "MO": 15, "X": 16, "E": 32}


def list_named_checks() -> set[str]:
    """The ids in the names of the project's test functions."""
    found: set[str] = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^\s*def test_(\w+)", file.read_text(encoding="utf-8"), re.M):
            found |= set(re.findall(r"(?:^|_)([A-Z]{1,2}\d{1,2})(?=_|$)", name))
    return found


def test_every_check_of_the_memory_model_has_a_test() -> None:
    wanted = {f"{letters}{n}" for letters, most in CHECKS.items() for n in range(1, most + 1)}
    assert wanted - list_named_checks() == set()


def test_no_two_test_modules_have_one_name() -> None:
    """Or pytest would refuse to collect them together."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
