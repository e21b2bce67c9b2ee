"""Row-level security as migration operations: every tenant table gets the same policy."""

from __future__ import annotations

from django.db.migrations import RunSQL

CURRENT = "NULLIF(current_setting('memoryhub.tenant', true), '')::uuid"
CURRENT_USER = "NULLIF(current_setting('memoryhub.user', true), '')::bigint"


def isolate(*tables: str) -> list[RunSQL]:
    """Only rows of the current tenant can be read or written; without a scope, none."""
    return [policy(table, f"tenant_id = {CURRENT}") for table in tables]


def policy(table: str, using: str, check: str | None = None) -> RunSQL:
    return RunSQL(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f"CREATE POLICY tenant ON {table} USING ({using}) WITH CHECK ({check or using});",
        f"DROP POLICY tenant ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;",
    )


def definer_function(signature: str, returns: str, body: str) -> RunSQL:
    """A function that runs with its owner's rights: the few reads that precede a scope.

    The search path is fixed, so that a caller can't put its own tables in the way.
    """
    name = signature.split("(")[0]
    return RunSQL(
        f"CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE sql STABLE SECURITY DEFINER "
        f"SET search_path = public, pg_temp AS $${body}$$;",
        f"DROP FUNCTION {name};",
    )
