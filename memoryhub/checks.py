"""System checks: what is missing or unsafe, with an id and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError, connection

from memoryhub.engines.llm.own_prompts import find_prompt_faults

_ROLE_SQL = """
SELECT current_user, rolsuper, rolbypassrls,
       EXISTS (SELECT 1 FROM pg_class WHERE relname = 'tenants_space' AND relowner = r.oid)
FROM pg_roles r WHERE rolname = current_user
"""
_REQUIRED_EXTENSIONS = {"vector", "btree_gin"}


@register
def check_model_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.EMBEDDER == "openai" and not settings.OPENAI_BASE_URL:
        found.append(
            Error(
                "MEMORYHUB_EMBEDDER=openai needs an endpoint.",
                hint="Set OPENAI_BASE_URL (and OPENAI_API_KEY), or MEMORYHUB_EMBEDDER=onnx.",
                id="memoryhub.E001",
            )
        )
    if settings.EMBEDDER == "openai" and not settings.EMBEDDING_MODEL:
        found.append(
            Error(
                "MEMORYHUB_EMBEDDER=openai needs a model.",
                hint="Set MEMORYHUB_EMBEDDING_MODEL to its name.",
                id="memoryhub.E002",
            )
        )
    if settings.OPENAI_BASE_URL and not settings.LLM_MODEL:
        found.append(
            Caution(
                "OPENAI_BASE_URL is set, but no model to talk to.",
                hint='Set MEMORYHUB_LLM_MODEL; until then jobs of tenants with engine "llm" fail.',
                id="memoryhub.W001",
            )
        )
    return found


@register
def check_prompts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return [
        Error(
            f"The prompt {name} can't be used: {fault}.",
            hint=f"Mend it or take it out of {settings.PROMPTS}.",
            id="memoryhub.E006",
        )
        for name, fault in find_prompt_faults(settings.PROMPTS).items()
    ]


@register(Tags.security, deploy=True)
def check_deployment(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.HTTPS:
        return []
    return [
        Caution(
            "Pages and keys travel unencrypted.",
            hint="Serve behind TLS and set MEMORYHUB_HTTPS=true.",
            id="memoryhub.W002",
        )
    ]


@register(Tags.database)
def check_database(
    app_configs: Any, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    if not databases or "default" not in databases:
        return []
    try:
        return [*_check_role(), *_check_extensions()]
    except DatabaseError as error:
        return [
            Error(
                f"The database can't be reached: {error}",
                hint="Check DATABASE_URL, or unset it to use the embedded PostgreSQL.",
                id="memoryhub.E003",
            )
        ]


def _check_role() -> list[CheckMessage]:
    """Row-level security does not hold for superusers, BYPASSRLS roles and table owners."""
    with connection.cursor() as cursor:
        cursor.execute(_ROLE_SQL)
        name, is_super, bypasses, owns = cursor.fetchone()
    why = [
        word
        for word, true in (
            ("a superuser", is_super),
            ("BYPASSRLS", bypasses),
            ("the tables' owner", owns),
        )
        if true
    ]
    if not why:
        return []
    return [
        Error(
            f"The application's database role {name} is {' and '.join(why)}: "
            "row-level security would not hold.",
            hint="Use an own role in DATABASE_URL and the owner in DATABASE_OWNER_URL "
            "(docs/how-to/external-postgres.md).",
            id="memoryhub.E004",
        )
    ]


def _check_extensions() -> list[CheckMessage]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        missing = _REQUIRED_EXTENSIONS - {name for (name,) in cursor.fetchall()}
    return [
        Error(
            f"The PostgreSQL extension {name} is missing.",
            hint=f"As a superuser: CREATE EXTENSION {name};",
            id="memoryhub.E005",
        )
        for name in sorted(missing)
    ]
