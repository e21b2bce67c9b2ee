"""Every code block of the pages is run, or read as what it is; the exceptions stand here."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.clients.conftest import Talker
from tests.docs.pages import ROOT, fenced, pages

# What is not run here, and why.
LANGUAGES = {
    "text": "shows what is printed",
    "sql": "makes roles and databases of a server that the reader has",
    "ts": "test_mem0_clients runs a longer talk of the same client",
    "": "a drawing, or commands of manage.py, whose arguments are read",
}
COMMANDS = {
    "make": "starts the whole hub, or these tests; test_reference knows the targets",
    "docker": "needs containers",
    "manage.py": "its arguments are read by its parser",
    "pip": "fetches packages",
    "pg_dump": "needs a database of the reader's",
    "pg_restore": "needs a database of the reader's",
    "tar": "packs the reader's data",
    "python -c": "opens the reader's data folder; it is compiled",
    "setting": "sets a variable, which test_settings knows",
}
RUN = {"curl", "export"}
HERE, KEY = "http://127.0.0.1:8000", "mh_…"
PAGES = [page for page in pages() if "static" not in page.parts and fenced(page)]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(block: str) -> list[list[str]]:
    """The words of each command, whatever line it ends on."""
    whole = re.sub(r"\\\n", " ", block)
    held = [line for line in _lines(whole) if line.strip() and not line.strip().startswith("#")]
    return [shlex.split(line, comments=True) for line in held]


def _lines(text: str) -> list[str]:
    """Lines, of which those within quotes are one."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and lines[-1].count("'") % 2:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return lines


def kind(words: list[str]) -> str:
    """What a command is, as the lists above name it."""
    first = Path(words[0]).name
    if first.startswith("python"):
        return {"-m": "pip", "-c": "python -c"}.get(words[1], Path(words[1]).name)
    return "setting" if "=" in words[0] else first


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_block_is_of_a_kind_that_is_run_or_explained(page: Path) -> None:
    for language, block in fenced(page):
        assert language in {*LANGUAGES, "python", "sh", "json"}, language
        if language == "sh":
            kinds = {kind(words) for words in commands(block)}
            assert kinds <= {*RUN, *COMMANDS}, kinds


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_shell_block_is_one_that_a_shell_can_read(page: Path) -> None:
    for language, block in fenced(page):
        if language == "sh":
            done = subprocess.run(
                ["bash", "-n"], input=block, text=True, capture_output=True, check=False
            )
            assert done.stderr == ""


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_command_of_the_hub_takes_these_arguments(page: Path) -> None:
    for language, block in fenced(page):
        if language not in ("sh", "") or "manage.py" not in block:
            continue
        for words in commands(block):
            at = next((n for n, word in enumerate(words) if word.endswith("manage.py")), None)
            if at is not None:
                name, *given = words[at + 1 :]
                command = load_command_class(get_commands()[name], name)
                command.create_parser("manage.py", name).parse_args(given)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_block_of_data_can_be_read(page: Path) -> None:
    for language, block in fenced(page):
        if language == "json":
            whole = block if _is_json(block) else None
            for part in [whole] if whole else block.splitlines():
                assert json.loads(part)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_program_in_a_command_can_be_compiled(page: Path) -> None:
    for language, block in fenced(page):
        for words in commands(block) if language == "sh" else ():
            if kind(words) == "python -c":
                compile(words[2], str(page), "exec")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def of(page: Path, language: str) -> list[str]:
    return [block for name, block in fenced(page) if name == language]


@pytest.mark.parametrize("page", [p for p in PAGES if of(p, "python")], ids=ids)
def test_every_python_block_runs_and_prints_what_it_says(
    page: Path, talker: Talker, tmp_path: Path
) -> None:
    """The blocks of a page are one program. What a `print` is followed by, it prints."""
    program = "\n".join(of(page, "python"))
    script = tmp_path / "page.py"
    script.write_text(program.replace(HERE, talker.host).replace(KEY, talker.key), "utf-8")
    told = [line for line in re.findall(r"print\(.*\)(?:  # (.*))?$", program, re.M) if line]
    mem0 = "mem0" in program
    printed = talker.python("mem0-2", script) if mem0 else _with_our_client(script)
    if told:
        assert printed.splitlines() == told


def _with_our_client(script: Path) -> str:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "clients/python/src")}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _to_run(page: Path) -> list[str]:
    return [b for b in of(page, "sh") if "curl" in {kind(words) for words in commands(b)}]


@pytest.mark.parametrize("page", [p for p in PAGES if _to_run(p)], ids=ids)
def test_every_curl_block_is_answered_by_a_live_hub(
    page: Path, talker: Talker, tmp_path: Path
) -> None:
    (tmp_path / ".curlrc").write_text("fail-with-body\n")
    told = '{"subject": "ana", "messages": [{"content": "I live in Lisbon."}], "wait": true}'
    _shell(f"curl -s {talker.host}/api/v1/memories {_HEADERS} -d '{told}'", talker, tmp_path)
    for block in _to_run(page):
        script = textwrap.dedent(block).replace(HERE, talker.host)
        script = re.sub(r"(?m)^export MEMORYHUB_KEY=\S+", "", script)
        # One answer after the other, and the last of them whole.
        assert _shell(script, talker, tmp_path).rstrip().endswith("}")


_HEADERS = '-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"'


def _shell(script: str, talker: Talker, home: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        env=env | {"KEY": talker.key, "MEMORYHUB_KEY": talker.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (script, done.stdout, done.stderr)
    return done.stdout


def test_the_lists_above_name_nothing_that_is_nowhere() -> None:
    languages = {language for page in PAGES for language, _ in fenced(page)}
    assert set(LANGUAGES) <= languages
    kinds = {kind(words) for page in PAGES for block in of(page, "sh") for words in commands(block)}
    assert kinds == {*RUN, *COMMANDS}
