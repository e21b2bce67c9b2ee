"""The table of every method of mem0's clients in docs/reference/mem0.md, from the clients as they
are installed.

Written anew by `MEMORYHUB_WRITE_CONTRACT=1 python -m pytest tests/clients/test_mem0_methods.py`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

import pytest

from tests.clients.conftest import HERE, ClientRunner

PAGE = HERE.parent.parent / "docs/reference/mem0.md"
SCRIPTS = ("mem0_talk.py", "mem0_surface.py", "mem0_talk.mjs")
_TABLE = re.compile(r"(?<=<!-- methods -->\n).*?(?=<!-- end of methods -->)", re.S)

ANSWERED = "answered"
# By method as the Python client names it, in the page's order: what becomes of a call here.
STATES: Mapping[str, str] = {
    "add": f"{ANSWERED}; what a model would be told is ignored by name",
    "search": f"{ANSWERED}; `rerank` is ignored by name",
    "get_all": ANSWERED,
    "get": ANSWERED,
    "update": ANSWERED,
    "delete": ANSWERED,
    "delete_all": f"{ANSWERED}; narrows by all it is given, and is refused what it does not know",
    "history": ANSWERED,
    "batch_update": ANSWERED,
    "batch_delete": ANSWERED,
    "users": ANSWERED,
    "delete_users": f"{ANSWERED}: erases for good",
    "delete_user": f"{ANSWERED}: erases for good",
    "reset": f"{ANSWERED}: erases everybody for good",
    "create_memory_export": f"{ANSWERED}; `export_instructions` is ignored by name",
    "get_memory_export": f"{ANSWERED}, by the schema where one was given",
    "get_summary": ANSWERED,
    "feedback": f"{ANSWERED}: kept, and changes nothing by itself; 1.0.11 raises `TypeError` then",
    "get_profile": f"{ANSWERED}: read from memories when it is asked for",
    "generate_profile": f"{ANSWERED}: done when it is begun",
    "sample_profiles": f"{ANSWERED}: done when it is begun",
    "get_profile_job": ANSWERED,
    "get_profile_settings": ANSWERED,
    "update_profile_settings": f"{ANSWERED}, but `custom_instructions` is refused",
    "get_project": ANSWERED,
    "update_project": f"`multilingual` {ANSWERED}; what would steer extraction is refused by name",
    "project.get": ANSWERED,
    "project.update": f"`multilingual` {ANSWERED}; what would steer extraction is refused by name",
    "project.create": "refused: another project is another tenant",
    "project.delete": "refused: the project is the tenant",
    "project.get_members": f"{ANSWERED}: the people of the tenant",
    "project.add_member": f"{ANSWERED}: lets a person in, with a password in the answer",
    "project.update_member": ANSWERED,
    "project.remove_member": ANSWERED,
    "get_webhooks": ANSWERED,
    "create_webhook": ANSWERED,
    "update_webhook": ANSWERED,
    "delete_webhook": ANSWERED,
    "ping": ANSWERED,
    "chat": "the client raises `NotImplementedError` itself",
}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> ClientRunner:
    """Runs a script that calls nobody."""
    return ClientRunner("", "", tmp_path_factory.mktemp("mem0"))


@pytest.fixture(scope="module")
def releases(runner: ClientRunner) -> dict[str, set[str]]:
    """By release its methods, as the Python client names them."""
    found: dict[str, set[str]] = {}
    for folder in ("mem0-1", "mem0-2"):
        told = json.loads(runner.run_python(folder, HERE / "mem0_methods.py"))
        assert told["sync"] == told["async"]
        found[f"Python {told['version']}"] = set(told["sync"])
    told = json.loads(runner.run_node(HERE / "mem0_methods.mjs"))
    public = [name for name in told["methods"] if not name.startswith(("_", "constructor"))]
    found[f"npm {told['version']}"] = {_rename(name) for name in public}
    return found


def _rename(name: str) -> str:
    """("getAll") → "get_all"."""
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def _name_in_node(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def test_the_page_has_every_method_of_every_client(releases: dict[str, set[str]]) -> None:
    assert set().union(*releases.values()) == set(STATES)
    lines = [
        f"| Method | {' | '.join(releases)} | Here |",
        f"|---|{'---|' * len(releases)}---|",
        *(_render_row(name, releases) for name in STATES),
    ]
    table, page = "\n".join([*lines, ""]), PAGE.read_text(encoding="utf-8")
    if os.environ.get("MEMORYHUB_WRITE_CONTRACT"):
        PAGE.write_text(_TABLE.sub(lambda _: table, page), encoding="utf-8")
    else:
        assert _TABLE.findall(page) == [table]


def _render_row(name: str, releases: Mapping[str, set[str]]) -> str:
    cells = ["yes" if name in methods else "–" for methods in releases.values()]
    return f"| `{name}` | {' | '.join(cells)} | {STATES[name]} |"


@pytest.mark.parametrize("client", ["Python 2", "npm"])
def test_every_method_is_called_against_a_live_hub(
    releases: dict[str, set[str]], client: str
) -> None:
    """By the scripts that the other tests run."""
    in_node = client == "npm"
    scripts = [HERE / name for name in SCRIPTS if name.endswith(".mjs") == in_node]
    said = "\n".join(script.read_text(encoding="utf-8") for script in scripts)
    (methods,) = (found for each, found in releases.items() if each.startswith(client))
    names = {_name_in_node(name) if in_node else name for name in methods}
    assert {n for n in names if not re.search(rf"\.{n.split('.')[-1]}\b", said)} == set()
