from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage

from memoryhub import checks
from memoryhub.embedded import EmbeddedPostgres
from tests.support.processes import build_environment


def list_ids(found: list[CheckMessage]) -> set[str | None]:
    return {message.id for message in found}


def test_a_good_installation_has_nothing_to_say(db: None) -> None:
    assert checks.check_model_settings(None) == []
    assert checks.check_database(None, ["default"]) == []


def test_an_embedder_without_its_endpoint_or_model(settings: Any) -> None:
    settings.EMBEDDER = "openai"
    assert list_ids(checks.check_model_settings(None)) == {"memoryhub.E001", "memoryhub.E002"}


def test_an_endpoint_without_a_model(settings: Any) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:1/v1"
    assert list_ids(checks.check_model_settings(None)) == {"memoryhub.W001"}


@pytest.mark.parametrize(
    ("way", "needed"), [("endpoint", "RERANKER_URL"), ("cross-encoder", "RERANKER_MODEL")]
)
def test_a_reranker_without_what_it_needs(settings: Any, way: str, needed: str) -> None:
    settings.RERANKER = way
    (found,) = checks.check_model_settings(None)
    assert found.id == "memoryhub.E011"
    assert needed in found.msg
    setattr(settings, needed, "there")
    assert checks.check_model_settings(None) == []


def test_prompts_that_can_not_be_used(settings: Any, tmp_path: Path) -> None:
    settings.PROMPTS = tmp_path
    assert checks.check_prompts(None) == []
    (tmp_path / "judge.short.md").write_text("Judge.")
    (found,) = checks.check_prompts(None)
    assert found.id == "memoryhub.E006"
    assert "judge.short.md" in found.msg
    assert found.hint


def test_every_message_has_a_hint(settings: Any) -> None:
    settings.EMBEDDER, settings.OPENAI_BASE_URL, settings.HTTPS = "openai", "", False
    found = [*checks.check_model_settings(None), *checks.check_deployment(None)]
    assert "memoryhub.W002" in list_ids(found)
    assert all(message.hint for message in found)


@pytest.mark.django_db
def test_behind_tls_there_is_nothing_left_to_do() -> None:
    env = build_environment(MEMORYHUB_HTTPS="true", MEMORYHUB_SECRET_KEY="k-9_" * 5 + "abcdef" * 6)
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("role", "why"), [("superuser", "a superuser"), ("owner", "the tables' owner")]
)
def test_a_role_that_row_level_security_does_not_hold_is_refused(
    db: None, postgres: EmbeddedPostgres, role: Any, why: str
) -> None:
    name = build_environment()["DATABASE_URL"].partition("@/")[2].partition("?")[0]
    env = build_environment(DATABASE_URL=postgres.dsn(role, name))
    command = [sys.executable, "manage.py", "check", "--database", "default"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "memoryhub.E004" in ran.stderr
    assert why in ran.stderr
    assert ran.returncode != 0


def test_a_database_that_is_not_there_is_named(db: None) -> None:
    env = build_environment(DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    command = [sys.executable, "manage.py", "check", "--database", "default"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "memoryhub.E003" in ran.stderr
