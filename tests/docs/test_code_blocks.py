"""Every code block of the pages is run, unless a comment before it says why it is not.

`<!-- not run: needs containers -->` gives one of the reasons below; it is still read as far as
that goes. `<!-- run by tests/… -->` names the test that runs it, where it needs more than a hub.
A block without such a comment is run as it stands.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.docs.page_runner import PageRunner
from tests.docs.pages import (
    ROOT,
    CodeBlock,
    list_fenced_blocks,
    list_marked_blocks,
    list_pages,
    parse_blocks,
)

REASONS = {
    "starts a whole hub",
    "fetches packages",
    "needs containers",
    "needs a cluster",
    "needs a provider",
    "needs Claude Code",
    "takes minutes",
}
PROGRAMS = {"sh", "python", "ts"}
# Read: data by its syntax; text shows what is printed or drawn.
READ = {"json", "text"}
PAGES = [page for page in list_pages() if "static" not in page.parts and list_fenced_blocks(page)]


def get_page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def find_undecided(block: CodeBlock) -> str:
    """What is undecided about a block; empty where nothing is."""
    if block.language in READ:
        return "it is read, not run" if block.reason or block.runner else ""
    if block.runner:
        known = ROOT / block.runner
        return "" if known.is_file() else "no such test"
    if block.mark and not block.reason:
        return "a comment that decides nothing"
    if block.reason:
        return "" if block.reason in REASONS else "no known reason"
    return "" if block.language in PROGRAMS else "nothing runs this language"


def list_blocks_to_run(page: Path, language: str) -> list[str]:
    blocks = [block for block in list_marked_blocks(page) if not (block.reason or block.runner)]
    return [block.text for block in blocks if block.language == language]


def parametrize_pages(language: str) -> pytest.MarkDecorator:
    """For each page with such blocks to run."""
    return pytest.mark.parametrize(
        "page", [p for p in PAGES if list_blocks_to_run(p, language)], ids=get_page_name
    )


every_page = pytest.mark.parametrize("page", PAGES, ids=get_page_name)


@every_page
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    assert [
        (block, why) for block in list_marked_blocks(page) if (why := find_undecided(block))
    ] == []


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("```sh\nls\n```", ""),
        ("<!-- not run: needs containers -->\n```sh\ndocker ps\n```", ""),
        ("<!-- not run: it is late -->\n```sh\nls\n```", "no known reason"),
        ("<!-- a remark -->\n```sh\nls\n```", "a comment that decides nothing"),
        ("<!-- run by tests/docs/nothing.py -->\n```sh\nls\n```", "no such test"),
        ("<!-- not run: needs containers -->\n```json\n{}\n```", "it is read, not run"),
        ("```\nls\n```", "nothing runs this language"),
        ("```sql\nSELECT 1;\n```", "nothing runs this language"),
    ],
)
def test_a_block_that_nobody_decided_about_is_told(text: str, trouble: str) -> None:
    (block,) = parse_blocks(text)
    assert find_undecided(block) == trouble


def test_no_reason_stands_here_for_nothing() -> None:
    used = {block.reason for page in PAGES for block in list_marked_blocks(page)} - {""}
    assert used == REASONS


@every_page
def test_a_test_that_runs_a_block_knows_its_page(page: Path) -> None:
    for runner in {block.runner for block in list_marked_blocks(page)} - {""}:
        assert page.name in (ROOT / runner).read_text("utf-8")


@every_page
def test_every_block_of_data_can_be_read(page: Path) -> None:
    for language, text in list_fenced_blocks(page):
        if language == "json":
            assert all(part for part in _parse_values(text))


def _parse_values(text: str) -> list[object]:
    """One value, or one a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


# --- what is run ---


@parametrize_pages("sh")
def test_every_shell_block_runs(page: Path, desk: PageRunner) -> None:
    for script in list_blocks_to_run(page, "sh"):
        desk.run_shell(script)


@parametrize_pages("python")
def test_every_python_block_runs_and_prints_what_it_says(page: Path, desk: PageRunner) -> None:
    """The blocks of a page are one program. What a `print` is followed by, it prints."""
    _check_output(
        desk.run_python, "\n".join(list_blocks_to_run(page, "python")), r"print\(.*\)  # (.*)$"
    )


@parametrize_pages("ts")
def test_every_typescript_block_runs_and_prints_what_it_says(page: Path, desk: PageRunner) -> None:
    _check_output(
        desk.run_node, "\n".join(list_blocks_to_run(page, "ts")), r"console\.log\(.*\);  // (.*)$"
    )


def _check_output(run: Callable[[str], str], program: str, told: str) -> None:
    assert run(program).splitlines() == re.findall(told, program, re.M)


# --- what is not run is read as far as that goes ---


@every_page
def test_every_shell_block_is_one_that_a_shell_can_read(page: Path) -> None:
    for language, script in list_fenced_blocks(page):
        if language == "sh":
            given = ["bash", "-n", "-c", script]
            done = subprocess.run(given, text=True, capture_output=True, check=False)
            assert done.stderr == ""


@every_page
def test_every_command_of_the_hub_takes_these_arguments(page: Path) -> None:
    for language, script in list_fenced_blocks(page):
        for given in re.findall(r"manage\.py (.+)", script) if language == "sh" else ():
            name, *words = shlex.split(given, comments=True)
            command = load_command_class(get_commands()[name], name)
            command.create_parser("manage.py", name).parse_args(words)
