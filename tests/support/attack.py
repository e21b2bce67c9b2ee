"""What the attack suite shares: the application without its own filters, and what tells a leak."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, models

from memoryhub.tenants.models import TenantManager
from memoryhub.tenants.scope import tenant_scope

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
# What differs from one answer to the next whatever was asked.
_FLEETING = re.compile(
    r'name="csrfmiddlewaretoken" value="\w+"|"request_id": ?"[^"]*"|\d+(?:\.\d+)? ms'
)
_OWN_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p')
  AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname
"""


@contextmanager
def without_own_filters() -> Iterator[None]:
    """Managers give rows of whatever tenant: only row-level security stands."""

    def list_everything(manager: models.Manager[Any]) -> models.QuerySet[Any]:
        return models.Manager.get_queryset(manager)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TenantManager, "get_queryset", list_everything)
        yield


def list_tenant_tables() -> list[str]:
    """By the database's own account: every table with a tenant's rows."""
    with connection.cursor() as cursor:
        cursor.execute(_OWN_TABLES)
        return [name for (name,) in cursor.fetchall()]


def take_fingerprints(tenant_id: UUID) -> dict[str, tuple[int, str]]:
    """By table how many rows the tenant has, and a digest of what they say."""
    found = {}
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        for table in list_tenant_tables():
            cursor.execute(
                f"SELECT count(*), COALESCE(md5(string_agg(r::text, '|' ORDER BY r::text)), '') "
                f"FROM {table} r WHERE tenant_id = %s",
                [tenant_id],
            )
            found[table] = cursor.fetchone()
    return found


def read_answer(answer: Any) -> tuple[int, str]:
    """Its status and words, streamed or not, with ids and what passes left out."""
    words = b"".join(answer).decode(errors="replace")
    return answer.status_code, _FLEETING.sub("…", _UUID.sub("ID", words))
