"""Row-level security as migration operations: every tenant table gets the same policy.

It is forced, so that it holds for the tables' owner as well: for what the functions below read
inside a scope, and for an application that connects as the owner by mistake. Outside any scope
the owner sees all rows, as migrations and backups have to.
"""

from __future__ import annotations

from django.db.migrations import RunSQL

CURRENT = "NULLIF(current_setting('memoryhub.tenant', true), '')::uuid"
CURRENT_USER = "NULLIF(current_setting('memoryhub.user', true), '')::bigint"
NO_TENANT = f"{CURRENT} IS NULL"
# Read inside a scope by a function of the owner, which compares the tenant itself: under another
# policy than this PostgreSQL would not use the index of words.
_READ_BY_OWNER = {"notes_indexentry": "true"}


def isolate(*tables: str) -> list[RunSQL]:
    """Only rows of the current tenant can be read or written; without a scope, none."""
    return [policy(table, f"tenant_id = {CURRENT}") for table in tables]


def policy(table: str, using: str, check: str | None = None) -> RunSQL:
    return RunSQL(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f"CREATE POLICY tenant ON {table} USING ({using}) WITH CHECK ({check or using});"
        f"{build_force_sql(table)}",
        f"DROP POLICY owner ON {table}; DROP POLICY tenant ON {table};"
        f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;",
    )


def keep_out_of_scopes(*tables: str) -> list[RunSQL]:
    """Rows of the hub: read and written outside every tenant's scope only."""
    return [policy(table, NO_TENANT) for table in tables]


def build_force_sql(table: str) -> str:
    """What binds the owner of a table that has its policy already."""
    using = _READ_BY_OWNER.get(table, NO_TENANT)
    return (
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
        f"CREATE POLICY owner ON {table} TO CURRENT_USER USING ({using});"
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
