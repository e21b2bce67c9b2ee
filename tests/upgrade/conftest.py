"""A hub of the version before: its dump in a database of its own, opened by this code.

Each test runs in a transaction that is taken back, on the database that was migrated once.
"""

from __future__ import annotations

import json
import lzma
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.software import find_program
from memoryhub.tenants.services import create_key, create_tenant
from tests.conftest import use_database
from tests.upgrade.making import ANSWERS, DUMP, SECRET_KEY


@pytest.fixture(scope="session")
def answers() -> dict[str, Any]:
    """What the hub that was dumped answered, and the ids of what was done there."""
    found: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def upgraded(
    postgres: EmbeddedPostgres, django_db_setup: None, django_db_blocker: Any, worker_id: str
) -> Iterator[None]:
    """The old hub's database, with every migration of this code."""
    name, own = f"upgrade_{worker_id}", f"test_{worker_id}"
    _restore(postgres, name)
    with django_db_blocker.unblock():
        use_database(name)
        call_command("migrate", database="owner", verbosity=0, interactive=False)
    yield
    with django_db_blocker.unblock():
        use_database(own)
    _drop(postgres, name)


def _restore(postgres: EmbeddedPostgres, name: str) -> None:
    """As `docs/how-to/back-up.md` has it: by the owner, into an empty database."""
    _drop(postgres, name)
    postgres.create_database(name)
    command = [find_program("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    done = subprocess.run(
        [*command, "--dbname", postgres.dsn("owner", name)],
        input=lzma.decompress(DUMP.read_bytes()),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def _drop(postgres: EmbeddedPostgres, name: str) -> None:
    with psycopg.connect(postgres.dsn("superuser", "postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def old(upgraded: None, db: None, answers: dict[str, Any], settings: Any) -> APIClient:
    """A client with the key that was made before the upgrade."""
    settings.SECRET_KEY = SECRET_KEY
    return APIClient(headers={"Authorization": f"Bearer {answers['key']}"})


@pytest.fixture
def fresh(db: None) -> APIClient:
    """A client of a tenant that has nothing yet."""
    _, key = create_key(create_tenant("Fresh", "fresh"), "test", ["admin"])
    return APIClient(headers={"Authorization": f"Bearer {key}"})
