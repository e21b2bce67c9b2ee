"""The Python client as it is built and installed: a wheel in an environment with nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.clients.conftest import ClientRunner
from tests.docs.page_runner import HERE, KEY
from tests.docs.pages import ROOT, list_marked_blocks

CLIENT = ROOT / "clients/python"


def run(*command: str | Path, folder: Path) -> str:
    """What it says. Fails where it does."""
    done = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def list_needed(name: str) -> set[str]:
    """A distribution with all that it needs here, extras aside."""
    found = {name}
    for needed in distribution(name).requires or []:
        if "extra ==" not in needed and "python_version" not in needed:
            found |= list_needed(re.split(r"[^\w.-]", needed)[0])
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(CLIENT, folder / "python", ignore=built)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-index"]
    run(*pip, "--no-deps", "--no-build-isolation", "-w", folder, folder / "python", folder=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment in which the wheel is, and what it says that it needs."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder.parent)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as made:
        made.extractall(packages)
    for name in list_needed("httpx"):
        held = distribution(name)
        for top in {Path(str(file)).parts[0] for file in held.files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(str(held.locate_file(top)))
    return folder / "bin/python"


def test_the_wheel_has_all_of_it_with_types_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as made:
        names = set(made.namelist())
        (about,) = (made.read(n).decode() for n in names if n.endswith("/METADATA"))
    source = CLIENT / "src"
    assert {str(f.relative_to(source)) for f in source.rglob("*.py")} <= names
    assert "memoryhub_client/py.typed" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert "Requires-Dist: httpx>=0.27" in about
    assert "# memoryhub-client" in about


def test_the_readme_md_runs_where_nothing_but_the_wheel_is(
    python: Path, talker: ClientRunner
) -> None:
    """README.md, its first program."""
    first = next(b.text for b in list_marked_blocks(CLIENT / "README.md") if b.language == "python")
    program = first.replace(HERE, talker.host).replace(KEY, talker.key)
    said = run(python, "-I", "-c", program, folder=python.parent)
    assert said.splitlines() == re.findall(r"print\(.*\)  # (.*)$", first, re.M)
    assert "No module named" in run(
        python, "-I", "-c", "try:\n import django\nexcept ImportError as e:\n print(e)",
        folder=python.parent,
    )  # fmt: skip
