"""What the application's database role may do. Run by migrations, as the owner."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from psycopg import sql

_STATEMENTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} "
    "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role}",
)


def grant_application(apps: Any, schema_editor: Any) -> None:
    """Give the role of DATABASE_URL its rights on this schema and on tables yet to come."""
    grant(schema_editor, "public")


def grant(schema_editor: Any, schema: str, *more: str) -> None:
    role = settings.DATABASES["default"]["USER"]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        if not role or role == cursor.fetchone()[0]:
            return  # one role for everything: the system check E004 says what that means
        for statement in (*_STATEMENTS, *more):
            cursor.execute(
                sql.SQL(statement).format(schema=sql.Identifier(schema), role=sql.Identifier(role))
            )
