"""Which tenant the current work belongs to. No scope, no rows.

The scope lives in two places that must agree: a context variable, which the default
managers filter by, and a transaction-local setting, which PostgreSQL's row-level security
policies compare with. Being local to the transaction, it can't leak through a pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import connection, transaction

from memoryhub.tenants.database.prepared import open_prepared_cursor

_tenant: ContextVar[UUID | None] = ContextVar("tenant", default=None)

# Statements that are kept (statements.py) have one plan: making another is dearer than any gain.
_SETTINGS_SQL = """
SELECT set_config(%s, %s, true), set_config('plan_cache_mode', 'force_generic_plan', true)
"""


def get_current_tenant() -> UUID | None:
    return _tenant.get()


@contextmanager
def tenant_scope(tenant_id: UUID) -> Iterator[None]:
    """Run a transaction that sees and writes rows of this tenant only."""
    outer = _tenant.get()
    if outer == tenant_id and connection.in_atomic_block:
        yield  # already there, in the transaction that set it
        return
    is_within = connection.in_atomic_block
    with transaction.atomic():
        _write_setting("memoryhub.tenant", tenant_id)
        token = _tenant.set(tenant_id)
        try:
            yield
        finally:
            _tenant.reset(token)
        # The setting ends with its transaction, and a savepoint's rollback restores it by itself.
        if is_within:
            _write_setting("memoryhub.tenant", outer)


@contextmanager
def hub_scope() -> Iterator[None]:
    """Step out of the tenant's scope, if there is one: people and their sessions are the hub's,
    and out of a tenant's reach."""
    outer = _tenant.get()
    if outer is None:
        yield
        return
    with transaction.atomic():
        _write_setting("memoryhub.tenant", None)
        token = _tenant.set(None)
        try:
            yield
        finally:
            _tenant.reset(token)
        _write_setting("memoryhub.tenant", outer)


@contextmanager
def user_scope(user_id: int) -> Iterator[None]:
    """Run a transaction in which a person's own memberships and tenants can be read."""
    is_within = connection.in_atomic_block
    with transaction.atomic():
        _write_setting("memoryhub.user", user_id)
        yield
        if is_within:
            _write_setting("memoryhub.user", None)


def _write_setting(name: str, value: object) -> None:
    with open_prepared_cursor() as cursor:
        cursor.execute(_SETTINGS_SQL, [name, str(value or "")])
