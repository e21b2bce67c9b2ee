"""Every environment variable that the code reads is described, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, list_headings

CODE = ("memoryhub", "api", "notes", "personas", "benchmarks")
# Django's own; the project sets it and offers no other value.
_NOT_OURS = {"DJANGO_SETTINGS_MODULE"}
_READERS = {
    f"read_{kind}"
    for kind in ("text", "integer", "number", "flag", "choice", "names", "path", "parsed")
}


def list_variables_read(source: str) -> Iterator[str]:
    """Names given to `env.…` readers, `os.environ` in any form, and `os.getenv`."""
    for node in ast.walk(ast.parse(source)):
        name = _find_called_name(node) or _find_indexed_name(node)
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


def _find_called_name(node: ast.AST) -> ast.expr | None:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return None
    owner, method = ast.unparse(node.func.value), node.func.attr
    by_env = owner == "env" and method in _READERS
    by_os = owner.endswith("environ") or (owner == "os" and method == "getenv")
    return node.args[0] if by_env or by_os else None


def _find_indexed_name(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
        return node.slice
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).endswith("environ"):
        return node.left
    return None


@cache
def list_code_variables() -> set[str]:
    files = [ROOT / "manage.py", *(f for part in CODE for f in (ROOT / part).rglob("*.py"))]
    return {name for file in files for name in list_variables_read(file.read_text())} - _NOT_OURS


def list_described_variables() -> set[str]:
    return set(list_headings(ROOT / "docs/reference/settings.md", level=3))


def test_every_variable_has_its_heading_and_no_heading_is_stale() -> None:
    assert list_described_variables() == list_code_variables()


@pytest.mark.parametrize(
    "source",
    [
        "env.read_text('A')",
        "env.read_choice('A', 'x', ('x', 'y'))",
        "os.environ['A']",
        "os.environ.get('A')",
        "environ.setdefault('A', 'x')",
        "os.getenv('A')",
        "'A' in os.environ",
    ],
)
def test_the_collector_sees_every_way_to_read_a_variable(source: str) -> None:
    assert list(list_variables_read(source)) == ["A"]


def test_production_is_given_only_variables_that_exist() -> None:
    compose = Path(ROOT, "docker-compose.yml").read_text()
    given = {line.split(":")[0].strip() for line in compose.splitlines() if ": " in line}
    ours = {name for name in given if name.startswith(("MEMORYHUB_", "OPENAI_", "DATABASE_"))}
    made_by_compose = {"MEMORYHUB_OWNER_PASSWORD", "MEMORYHUB_APP_PASSWORD"}
    assert ours - made_by_compose <= list_code_variables()
    assert "DATABASE_URL" in ours
