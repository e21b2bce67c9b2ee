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

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext as _

from memoryhub.errors import NotFound, TenantMoved
from memoryhub.tenants.database.contention import names_lost_space
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.database.replica import use_replica

_tenant: ContextVar[UUID | None] = ContextVar("tenant", default=None)

# Statements that are kept (database/prepared.py) have one plan: another is dearer than any gain.
_SETTINGS_SQL = """
SELECT set_config(%s, %s, true), set_config('plan_cache_mode', 'force_generic_plan', true)
"""
# The function waits while the tenant is being moved, and knows nothing of one that was. It reads as
# the hub, outside every scope.
_ENTER_SQL = """
SELECT set_config('memoryhub.tenant', '', true),
  set_config('memoryhub.tenant', memoryhub_enter(%s::uuid)::text, true),
  set_config('plan_cache_mode', 'force_generic_plan', true)
"""


def get_current_tenant() -> UUID | None:
    return _tenant.get()


@contextmanager
def tenant_scope(tenant_id: UUID) -> Iterator[None]:
    """Run a transaction that sees and writes rows of this tenant only. Raises TenantMoved, and
    NotFound where what was written is of a space that was erased meanwhile."""
    outer = _tenant.get()
    if outer == tenant_id and connection.in_atomic_block:
        yield  # already there, in the transaction that set it
        return
    is_within = connection.in_atomic_block
    with _refuse_lost_spaces(), transaction.atomic():
        _enter(tenant_id)
        token = _tenant.set(tenant_id)
        try:
            yield
        finally:
            _tenant.reset(token)
        # The setting ends with its transaction, and a savepoint's rollback restores it by itself.
        if is_within:
            _write_setting("memoryhub.tenant", outer)


@contextmanager
def _refuse_lost_spaces() -> Iterator[None]:
    """What names a space is checked when the transaction ends, behind an erasure that holds it."""
    try:
        yield
    except IntegrityError as error:
        if names_lost_space(error):
            raise NotFound(_("there is no space with this subject")) from error
        raise


@contextmanager
def reading_scope(tenant_id: UUID) -> Iterator[None]:
    """A tenant's scope in which nothing is written: a copy of the database may serve it, with all
    that was written before. Raises TenantMoved."""
    if connection.in_atomic_block:
        with tenant_scope(tenant_id):
            yield
        return
    with use_replica(), tenant_scope(tenant_id):
        yield


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


def _enter(tenant_id: UUID) -> None:
    with open_prepared_cursor() as cursor:
        cursor.execute(_ENTER_SQL, [tenant_id])
        entered = cursor.fetchone()[1]
    if not entered:
        raise TenantMoved(_("this tenant is served elsewhere now; try again"))


def _write_setting(name: str, value: object) -> None:
    with open_prepared_cursor() as cursor:
        cursor.execute(_SETTINGS_SQL, [name, str(value or "")])
