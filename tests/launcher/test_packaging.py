"""The production shape: compose file, image, and the roles its database starts with."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from memoryhub.embedded import EmbeddedPostgres, software
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from tests.launcher.conftest import PROJECT

COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]


def list_variables_read() -> set[str]:
    """Every variable some module of the hub reads."""
    sources = (PROJECT / "memoryhub").rglob("*.py")
    reader = re.compile(r'env\.\w+\(\s*"([A-Z][A-Z0-9_]+)"')
    return {name for source in sources for name in reader.findall(source.read_text())}


def test_the_services() -> None:
    assert set(SERVICES) == {
        "web", "worker", "scheduler", "migrate", "postgres", "valkey",
    }  # fmt: skip
    assert SERVICES["postgres"]["image"] == "pgvector/pgvector:pg18"
    assert all("healthcheck" in SERVICES[name] for name in set(SERVICES) - {"migrate"})
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", {})) <= set(SERVICES) - {name}
    named = {v.split(":")[0] for s in SERVICES.values() for v in s.get("volumes", [])}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_one_the_hub_reads(name: str) -> None:
    assert set(SERVICES[name]["environment"]) - list_variables_read() == set()


def test_only_the_migration_has_the_owner_and_nobody_the_superuser() -> None:
    assert "memoryhub_owner" in SERVICES["migrate"]["environment"]["DATABASE_OWNER_URL"]
    for name in OURS:
        environment = SERVICES[name]["environment"]
        assert environment["DATABASE_URL"].startswith("postgresql://memoryhub_app:")
        assert "POSTGRES_PASSWORD" not in str(environment)
        if name != "migrate":
            assert "OWNER" not in str(environment)


def test_no_secret_has_a_default() -> None:
    text = (PROJECT / "docker-compose.yml").read_text()
    secrets = re.findall(r"\$\{(\w*(?:PASSWORD|SECRET)\w*)(:\S)?", text)
    assert {name for name, _ in secrets} == {
        "POSTGRES_PASSWORD",
        "MEMORYHUB_OWNER_PASSWORD",
        "MEMORYHUB_APP_PASSWORD",
        "MEMORYHUB_SECRET_KEY",
    }
    assert {required for _, required in secrets} == {":?"}


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    kept = {
        line[1:].rstrip("/")
        for line in (PROJECT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    for line in (PROJECT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            for source in shlex.split(line)[1:-1]:
                assert (PROJECT / source).exists()
                assert source.split("/")[0] in kept


def test_the_image_does_not_run_as_root() -> None:
    lines = (PROJECT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER ")] == ["USER memoryhub"]


def test_the_databases_first_start_makes_bound_roles(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        EmbeddedPostgres, "provision_roles", lambda self: None
    )  # as the image finds it
    server = EmbeddedPostgres(folder, settings=THROWAWAY_SETTINGS)
    server.start()
    with psycopg.connect(server.dsn("superuser", "postgres"), autocommit=True) as superuser:
        superuser.execute("CREATE DATABASE memoryhub")
    where = server.conninfo("superuser")
    environment = {
        "PATH": f"{Path(software.find_program('psql')).parent}:{os.environ['PATH']}",
        "PGHOST": where["host"],
        "PGPORT": where["port"],
        "POSTGRES_USER": "postgres",
        "POSTGRES_DB": "memoryhub",
        "MEMORYHUB_OWNER_PASSWORD": "it's",
        "MEMORYHUB_APP_PASSWORD": "b",
    }
    script = PROJECT / "docker" / "initdb" / "10-roles.sh"
    subprocess.run([str(script)], env=environment, check=True, capture_output=True)
    with psycopg.connect(server.dsn("owner"), autocommit=True) as owner:
        owner.execute("CREATE TABLE kept (at vector(2))")
    with psycopg.connect(server.dsn("app"), autocommit=True) as app:
        app.execute("INSERT INTO kept VALUES ('[1,2]')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("DROP TABLE kept")
        bound = (
            "SELECT bool_or(rolsuper OR rolbypassrls) FROM pg_roles WHERE rolname ~ '^memoryhub'"
        )
        assert app.execute(bound).fetchone() == (False,)
    server.stop()


def test_shell_scripts_are_sound() -> None:
    for script in (".ci/run", "docker/initdb/10-roles.sh"):
        subprocess.run(["bash", "-n", str(PROJECT / script)], check=True)
        assert os.access(PROJECT / script, os.X_OK)
