"""System checks: what is missing or unsafe, with an id and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError, connection
from django.db.models import BinaryField, CharField, Field, JSONField, Model, TextField

from memoryhub.declarations import AppDeclaration, load_declarations
from memoryhub.engines.llm.own_prompts import find_prompt_faults
from memoryhub.observability.tracing import is_tracing_installed
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import TenantModel
from memoryhub.tenants.sign_in.openid_provider import is_sign_on_installed

_ROLE_SQL = """
SELECT current_user, rolsuper, rolbypassrls,
       EXISTS (SELECT 1 FROM pg_class WHERE relname = 'tenants_space' AND relowner = r.oid)
FROM pg_roles r WHERE rolname = current_user
"""
LONG_NAME = 200  # characters: shorter columns hold names and codes
_REQUIRED_EXTENSIONS = {"vector", "btree_gin"}


@register
def check_model_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return list(_check_model_settings())


def _check_model_settings() -> Iterator[CheckMessage]:
    if settings.EMBEDDER == "openai" and not settings.OPENAI_BASE_URL:
        yield Error(
            "MEMORYHUB_EMBEDDER=openai needs an endpoint.",
            hint="Set OPENAI_BASE_URL (and OPENAI_API_KEY), or MEMORYHUB_EMBEDDER=onnx.",
            id="memoryhub.E001",
        )
    if settings.EMBEDDER == "openai" and not settings.EMBEDDING_MODEL:
        yield Error(
            "MEMORYHUB_EMBEDDER=openai needs a model.",
            hint="Set MEMORYHUB_EMBEDDING_MODEL to its name.",
            id="memoryhub.E002",
        )
    missing = {"endpoint": "RERANKER_URL", "cross-encoder": "RERANKER_MODEL"}.get(settings.RERANKER)
    if missing and not getattr(settings, missing):
        yield Error(
            f"MEMORYHUB_RERANKER={settings.RERANKER} needs MEMORYHUB_{missing}.",
            hint=f"Set MEMORYHUB_{missing}, or MEMORYHUB_RERANKER=off.",
            id="memoryhub.E011",
        )
    if settings.OPENAI_BASE_URL and not settings.LLM_MODEL:
        yield Caution(
            "OPENAI_BASE_URL is set, but no model to talk to.",
            hint='Set MEMORYHUB_LLM_MODEL; until then jobs of tenants with engine "llm" fail.',
            id="memoryhub.W001",
        )


@register
def check_single_sign_on(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.OIDC_ISSUER and not settings.OIDC_CLIENT_ID:
        return [
            Error(
                "MEMORYHUB_OIDC_ISSUER needs MEMORYHUB_OIDC_CLIENT_ID.",
                hint="Set it to what the provider calls the hub, or unset the issuer.",
                id="memoryhub.E012",
            )
        ]
    if settings.OIDC_ISSUER and not is_sign_on_installed():
        return [
            Error(
                "MEMORYHUB_OIDC_ISSUER is set, but what signs in there is not installed.",
                hint="pip install --no-deps -r requirements/oidc.txt",
                id="memoryhub.E013",
            )
        ]
    return []


@register
def check_pooler(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if not settings.DATABASE_POOLED or not settings.CELERY_BROKER_URL.startswith("pgmq:"):
        return []
    return [
        Error(
            "The queue in PostgreSQL listens on connections of its own, which no pooler gives it.",
            hint="Set CELERY_BROKER_URL to a Redis or Valkey, or unset MEMORYHUB_DATABASE_POOLED.",
            id="memoryhub.E015",
        )
    ]


@register
def check_tracing(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if not settings.OTLP_ENDPOINT or is_tracing_installed():
        return []
    return [
        Caution(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but what sends traces is not installed.",
            hint="pip install --no-deps -r requirements/otel.txt",
            id="memoryhub.W003",
        )
    ]


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


@register
def check_app_declarations(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return find_declaration_gaps(load_declarations(), apps.get_models(), set(Job.Step))


def find_declaration_gaps(
    declared: Mapping[str, AppDeclaration], models: Iterable[type[Model]], steps: Collection[str]
) -> list[CheckMessage]:
    """What the apps (by label) leave out or say twice of these tables and steps."""
    ours = {m._meta.label_lower: m for m in models if m._meta.app_label in declared}
    return [
        *_check_steps(declared.values(), steps),
        *_check_tables(declared, ours),
        *_check_memory_kinds(declared.values()),
    ]


def _check_steps(
    declared: Iterable[AppDeclaration], steps: Collection[str]
) -> Iterator[CheckMessage]:
    counts = Counter(str(step.name) for app in declared for step in app.steps)
    for name in sorted({*map(str, steps)} | counts.keys()):
        if counts[name] != 1:
            yield Error(
                f"The step {name} is declared {counts[name]} times.",
                hint="Declare one class for it, in the `steps` of one app's memory_app.py.",
                id="memoryhub.E007",
            )


def _check_tables(
    declared: Mapping[str, AppDeclaration], ours: Mapping[str, type[Model]]
) -> Iterator[CheckMessage]:
    erasable = _list_labels(declared, "erasable_texts")
    exported = _list_labels(declared, "export_kinds")
    histories = {
        kind.model._meta.label_lower for app in declared.values() for kind in app.memory_kinds
    }
    wordy = {label for label, model in ours.items() if _holds_tenant_text(model)}
    for label in sorted(wordy - erasable - histories):
        yield Error(
            f"Nobody says what an erasure does with the words of {label}.",
            hint="Name what clears them in `erasable_texts` of its app's memory_app.py, or say "
            "why they may stay.",
            id="memoryhub.E008",
        )
    for label in sorted(ours.keys() - exported):
        yield Error(
            f"Nobody says whether {label} goes into an exported file.",
            hint="Give it an ExportKind in `export_kinds` of its app's memory_app.py, or say why "
            "it stays.",
            id="memoryhub.E009",
        )
    growing = _list_labels(declared, "growth")
    tenants = {label for label, model in ours.items() if issubclass(model, TenantModel)}
    for label in sorted(tenants - growing - histories):
        yield Error(
            f"Nobody says what ends the rows of {label}.",
            hint="Give it a Growth in `growth` of its app's memory_app.py.",
            id="memoryhub.E014",
        )
    named = erasable | exported | growing
    for label in sorted((erasable & histories) | (named - ours.keys())):
        yield Error(
            f"{label} is declared twice, or is no table of the app that declares it.",
            hint="A memory kind is none of the `erasable_texts`; an app declares its own tables.",
            id="memoryhub.E010",
        )


def _check_memory_kinds(declared: Iterable[AppDeclaration]) -> Iterator[CheckMessage]:
    counts = Counter(kind.name for app in declared for kind in app.memory_kinds)
    for name in sorted(name for name, count in counts.items() if count > 1):
        yield Error(
            f"Two memory kinds are called {name}.",
            hint="History, undo and erasure know a kind by this name: declare it once.",
            id="memoryhub.E010",
        )


def _list_labels(declared: Mapping[str, AppDeclaration], column: str) -> set[str]:
    return {f"{label}.{name}" for label, app in declared.items() for name in getattr(app, column)}


def _holds_tenant_text(model: type[Model]) -> bool:
    """A tenant's table with a column that has room for a sentence."""
    columns = {column.name: column for column in model._meta.concrete_fields}
    return "tenant" in columns and any(_has_room_for_words(each) for each in columns.values())


def _has_room_for_words(column: Field[Any, Any]) -> bool:
    if isinstance(column, CharField):
        return not column.choices and (column.max_length or LONG_NAME) >= LONG_NAME
    if isinstance(column, ArrayField):
        return isinstance(column.base_field, (CharField, TextField))
    return isinstance(column, (TextField, JSONField, BinaryField, SearchVectorField))


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
    words = ("a superuser", "BYPASSRLS", "the tables' owner")
    why = list(compress(words, (is_super, bypasses, owns)))
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
