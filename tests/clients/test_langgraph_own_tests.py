"""LangGraph's own tests of its stores, as its source package has them, against the hub's.

docs/how-to/langgraph.md says what they say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tests.clients.conftest import CLIENTS, HERE, ClientRunner

ROOT = HERE.parent.parent
OWN = CLIENTS / "langgraph"
PAGE = ROOT / "docs/how-to/langgraph.md"
# By test, why it says nothing of a store.
LEFT_OUT: Mapping[str, str] = {
    "test_vector_store_initialization": "an attribute of the in-memory store",
}


def test_they_are_those_of_the_release_that_is_installed() -> None:
    assert OWN.is_dir(), "not installed: make .venv/installed-clients"
    own = tomllib.loads((OWN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8")
    assert f"{own['name']}=={own['version']} " in locked
    assert f"langgraph-checkpoint {own['version']}" in PAGE.read_text(encoding="utf-8")


def test_they_pass_but_for_those_that_are_of_no_store(talker: ClientRunner, tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(OWN / "tests")
    words = ["-q", "--no-header", "-p", "langgraph_plugin", "-p", "no:cacheprovider"]
    words += ["-p", "no:django", "-p", "no:asyncio", "-c", "/dev/null", f"--rootdir={tmp_path}"]
    words += [f"--deselect=tests/test_store.py::{name}" for name in LEFT_OUT]
    said = talker.run_module("pytest", *words, "tests/test_store.py", folder=tmp_path)
    passed, left_out = re.findall(r"(\d+) (?:passed|deselected)", said.splitlines()[-1])
    assert int(left_out) == len(LEFT_OUT)
    told = PAGE.read_text(encoding="utf-8")
    assert f"{passed} of its {int(passed) + int(left_out)} tests" in told
    assert [name for name in LEFT_OUT if f"`{name}`" not in told] == []
