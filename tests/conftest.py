"""One real PostgreSQL a session; each worker's database is a copy of a migrated template.

Tests connect as the application's role: a superuser would not see row-level security at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.test.utils import override_settings
from django.utils import translation
from hypothesis import settings as hypothesis_settings
from whitenoise.middleware import WhiteNoiseMiddleware

from api.core import request_log
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from memoryhub.embedded.software import find_program
from memoryhub.engines import registry
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.own_prompts import PromptSet
from memoryhub.engines.registry import EngineSettings
from memoryhub.engines.types import Reranker
from memoryhub.pipeline.jobs import runner
from memoryhub.recall.log import reinforcement
from memoryhub.tenants.services import create_tenant
from tests.support.hub import IndifferentReranker, ScriptedHub, ScriptedModel, TableEmbedder

# How long an example takes is the machine's affair; what takes too long is for benchmarks.
hypothesis_settings.register_profile("memoryhub", deadline=None)
hypothesis_settings.load_profile("memoryhub")

TEMPLATE = "memoryhub_template"
ROOT = Path(settings.BASE_DIR)
# What migrations have made, kept from one run to the next: they take longer than most modules.
KEPT_TEMPLATES = ROOT / ".pytest_cache" / "templates"
# All that a migrated database depends on: migrations, what they import, and libraries.
MADE_OF = (
    "*/migrations/*.py",
    "memoryhub/*/migrations/*.py",
    "memoryhub/embedded/*.py",
    "memoryhub/tenants/*.py",
    "memoryhub/tenants/database/*.py",
    "requirements/*.txt",
    "tests/conftest.py",
)
# A test's rows are never committed: a vacuum that comes by counts none in tables that are full of
# them, and plans made for empty tables take minutes.
NO_AUTOVACUUM = {"autovacuum": "off"}


@pytest.fixture
def one_long_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """No minute of the rate limit ends while the test runs: its count is five statements more."""
    monkeypatch.setattr("api.core.rate_limit.WINDOW_SECONDS", 10**9)


@pytest.fixture(scope="session")
def postgres() -> EmbeddedPostgres:
    server = EmbeddedPostgres(settings.DATA_DIR, settings=THROWAWAY_SETTINGS | NO_AUTOVACUUM)
    server.start(keep=True)
    return server


@pytest.fixture(scope="session")
def django_db_setup(
    postgres: EmbeddedPostgres, django_db_blocker: Any, worker_id: str
) -> Iterator[None]:
    name = f"test_{worker_id}"
    with django_db_blocker.unblock():
        _create_template(postgres)
        copy_template(postgres, name)
        use_database(name)
        yield
        for alias in connections:
            connections[alias].close()


def _create_template(postgres: EmbeddedPostgres) -> None:
    with Path(settings.DATA_DIR, "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with psycopg.connect(postgres.dsn("superuser", "postgres"), autocommit=True) as admin:
            if admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone():
                return
        postgres.create_database(TEMPLATE)
        address, kept = postgres.dsn("superuser", TEMPLATE), _find_kept_template()
        if kept.exists():
            _run_program("pg_restore", "--exit-on-error", f"--dbname={address}", str(kept))
            return
        use_database(TEMPLATE)
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        # pytest-django empties tables after transactional tests.
        with connections["owner"].cursor() as cursor:
            cursor.execute("GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO memoryhub_app")
        connections["owner"].close()
        for old in KEPT_TEMPLATES.glob("*"):
            old.unlink()
        KEPT_TEMPLATES.mkdir(parents=True, exist_ok=True)
        draft = kept.with_suffix(".new")
        _run_program("pg_dump", "--format=custom", f"--file={draft}", address)
        draft.rename(kept)


def _find_kept_template() -> Path:
    """Where a database is kept that these very migrations made, or is to be."""
    hashed = hashlib.sha256()
    for path in sorted(path for pattern in MADE_OF for path in ROOT.glob(pattern)):
        hashed.update(path.read_bytes())
    return KEPT_TEMPLATES / f"{hashed.hexdigest()}.dump"


def _run_program(name: str, *arguments: str) -> None:
    subprocess.run([find_program(name), *arguments], check=True)


def copy_template(postgres: EmbeddedPostgres, name: str) -> None:
    """Make this database anew, with tables and without rows."""
    with psycopg.connect(postgres.dsn("superuser", "postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        with Path(settings.DATA_DIR, "template.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER memoryhub_owner")


def use_database(name: str) -> None:
    """From here on, in every thread that connects anew."""
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = name
    os.environ["MEMORYHUB_TEST_DATABASE"] = name


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """The xdist worker, or "main" without xdist."""
    return str(getattr(request.config, "workerinput", {}).get("workerid", "main"))


@pytest.fixture(scope="module")
def kept_for_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Rows made in it are there for every test of the module, each of which is a savepoint.

    Give out copies of what was made: a test may change the objects that it holds.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session", autouse=True)
def fast_passwords() -> Iterator[None]:
    """Slow hashes protect passwords, not tests."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def static_files_found_once() -> Iterator[None]:
    """Each test's client has a chain of middleware of its own; the files that one serves, which are
    some two hundred, are those that the first one found."""
    find_files = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, Any] = {}

    def add_found(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find_files(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_found)
        yield


@pytest.fixture(autouse=True)
def nothing_waiting() -> None:
    """Words that other tests' searches and requests left, of spaces that are gone."""
    for buffer in (reinforcement._buffer, request_log._entry_buffer):
        buffer._waiting.clear()


@pytest.fixture(autouse=True)
def in_no_readers_language() -> Iterator[None]:
    """A page leaves its reader's language active in the thread that made it: the next test's."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def seldom_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of a test's own transaction can't be seen by who watches over it, and would be taken
    for lost where a busy machine lets a step take longer than a beat."""
    monkeypatch.setattr(runner, "compute_beat", lambda: 3600.0)


@pytest.fixture
def acting_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules take an agent's turns in the place of a model, so that there is an answer."""
    monkeypatch.setattr("memoryhub.agents.sessions.AgentSession.check_acts", lambda seat: None)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, db: None) -> Iterator[ScriptedHub]:
    """A space read by a scripted model. Fails when a call was not scripted or a script not used."""
    scripted, embedder = ScriptedModel(), TableEmbedder()
    # Associations follow whatever is said; tests about them count the calls instead.
    scripted.allow("note_build", "link_evolve")

    def made(name: str, settings: EngineSettings) -> LLMEngine:
        return LLMEngine(scripted, prompts=PromptSet(settings.prompts, dict(settings.llm_prompts)))

    # A real reader would know the words that the table embedder has no vectors for.
    real_reranker = registry.get_reranker

    def make_reranker(settings: EngineSettings) -> Reranker:
        return IndifferentReranker() if settings.reranker == "packaged" else real_reranker(settings)

    monkeypatch.setattr(registry, "get_engine", made)
    monkeypatch.setattr(registry, "get_embedder", lambda settings: embedder)
    monkeypatch.setattr(registry, "get_reranker", make_reranker)
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    yield ScriptedHub(create_tenant("Scripted", "scripted"), scripted, embedder)
    assert scripted.unscripted_calls == []
    assert scripted.unused_replies == {}
