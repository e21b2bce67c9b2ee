"""What released generators make of the OpenAPI description: clients without a warning, with types.

`docs/reference/api.md` says how to run them, under "schema".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from memoryhub_client.rows import models
from tests.clients.conftest import CLIENTS, NODE

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "tests/api/openapi.json"


def run_command(command: Sequence[str | Path], folder: Path, **more: str) -> str:
    """What it says. Fails where it does."""
    assert (CLIENTS / "openapi").is_dir(), "not installed: make .venv/installed-clients"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"HOME": str(folder), "PATH": path, "NO_COLOR": "1"}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env=env | more,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def test_the_python_clients_rows_are_those_of_the_contract(tmp_path: Path) -> None:
    """`python clients/python/generate_rows.py tests/api/openapi.json` writes them anew."""
    made = tmp_path / "models.py"
    script = ROOT / "clients/python/generate_rows.py"
    run_command([sys.executable, script, CONTRACT, made], tmp_path)
    kept = Path(str(models.__file__)).read_text(encoding="utf-8")
    assert made.read_text(encoding="utf-8") == kept


def test_openapi_python_client_makes_a_client_that_type_checks(tmp_path: Path) -> None:
    config = ROOT / "clients/openapi-python-client.yaml"
    said = run_command(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", CONTRACT,
         "--config", config, "--meta", "none", "--output-path", tmp_path / "hub",
         "--fail-on-warning"],
        tmp_path,
        PYTHONPATH=str(CLIENTS / "openapi"),
    )  # fmt: skip
    assert "WARNING" not in said
    made = {each.stem for each in (tmp_path / "hub/api").glob("*/*.py")} - {"__init__"}
    assert {each.strip("_") for each in made} == list_operations()
    (tmp_path / "use.py").write_text(
        "from hub.api.spaces.spaces_facts_query_post import sync\n"
        "from hub.client import AuthenticatedClient\n"
        "from hub.models import Fact, FactFilter, FactPage, MemoryItem, NumberTests\n"
        "from hub.models import SearchResult, SpacesFactsQuery\n\n\n"
        "def read(found: SearchResult, fact: Fact) -> tuple[list[MemoryItem], str]:\n"
        "    return found.items, fact.text or ''\n\n\n"
        "def list_sure(hub: AuthenticatedClient) -> FactPage | None:\n"
        "    sure = FactFilter(confidence=NumberTests(gte=0.8), not_=FactFilter(owner=['ana']))\n"
        "    query = SpacesFactsQuery(filter_=FactFilter(or_=[sure]), limit=20)\n"
        "    found = sync('ana', client=hub, body=query)\n"
        "    return found if isinstance(found, FactPage) else None\n",
        encoding="utf-8",
    )
    # Its own hands over what the context manager is given without saying what that is.
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\n[mypy-hub.client]\nignore_errors = True\n", encoding="utf-8")
    run_command([sys.executable, "-m", "mypy", "--config-file", settings, "use.py"], tmp_path)


def test_openapi_typescript_makes_types_that_compile(tmp_path: Path) -> None:
    modules = CLIENTS / "node/node_modules"
    said = run_command(
        [NODE, modules / "openapi-typescript/bin/cli.js", CONTRACT, "-o", tmp_path / "hub.ts"],
        tmp_path,
    )
    assert "warn" not in said.lower()
    (tmp_path / "use.ts").write_text(
        'import type { components } from "./hub";\n'
        'type Found = components["schemas"]["SearchResult"];\n'
        "export const read = (found: Found): string[] => found.items.map((each) => each.text);\n"
        'type Fact = components["schemas"]["Fact"];\n'
        'type Filter = components["schemas"]["FactFilter"];\n'
        "export const sure: Filter = { confidence: { gte: 0.8 }, NOT: [{ owner: ['ana'] }] };\n"
        "// @ts-expect-error  no such column\n"
        "export const wrong: Filter = { OR: [{ colour: 'red' }] };\n"
        'export const since = (fact: Fact): string => fact.valid_from ?? "";\n',
        encoding="utf-8",
    )
    run_command([NODE, modules / "typescript/bin/tsc", "--strict", "--noEmit", "use.ts"], tmp_path)


def list_operations() -> set[str]:
    """Names of all there are."""
    described = json.loads(CONTRACT.read_text(encoding="utf-8"))
    return {each["operationId"] for ops in described["paths"].values() for each in ops.values()}


def test_every_operation_names_its_answer() -> None:
    """Each answer that is JSON is a component, or one of several."""
    described = json.loads(CONTRACT.read_text(encoding="utf-8"))
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json")
                if status.startswith("2") and content is not None:
                    shape = content["schema"]
                    several = shape.get("anyOf", [shape])
                    assert all("$ref" in each for each in several), (path, method, status)
