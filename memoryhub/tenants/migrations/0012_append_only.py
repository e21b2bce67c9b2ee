"""Sessions are out of a tenant's reach, and what was done is written down for good.

Nobody changes a row of either audit, and nobody deletes one that is younger than a year: but what
is about a space goes with it, and a measurement's own tenant with all it has.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations
from django.db.migrations import RunSQL
from psycopg import sql

from memoryhub.tenants.database.row_security import CURRENT, NO_TENANT, keep_out_of_scopes

_MEMBERS = f"SELECT user_id FROM tenants_membership WHERE tenant_id = {CURRENT}"
_OLD = "at < now() - interval '365 days'"
_MEASURED = f"EXISTS (SELECT 1 FROM tenants_tenant t WHERE t.id = {CURRENT} AND t.own_clock)"


def replace_policy(table: str, read: str, add: str, drop: str, before: str) -> RunSQL:
    return RunSQL(
        f"DROP POLICY tenant ON {table};"
        f"CREATE POLICY tenant ON {table} FOR SELECT USING ({read});"
        f"CREATE POLICY adding ON {table} FOR INSERT WITH CHECK ({add});"
        f"CREATE POLICY dropping ON {table} FOR DELETE USING ({drop});",
        f"DROP POLICY dropping ON {table}; DROP POLICY adding ON {table};"
        f"DROP POLICY tenant ON {table};"
        f"CREATE POLICY tenant ON {table} USING ({before}) WITH CHECK ({before});",
    )


def revoke_changes(apps: Any, schema_editor: Any) -> None:
    role = settings.DATABASES["default"]["USER"]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        if not role or role == cursor.fetchone()[0]:
            return
        for table in ("tenants_auditentry", "tenants_accountevent"):
            cursor.execute(
                sql.SQL("REVOKE UPDATE ON {table} FROM {role}").format(
                    table=sql.Identifier(table), role=sql.Identifier(role)
                )
            )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0011_accounts")]

    operations = [
        *keep_out_of_scopes("tenants_browsersession", "tenants_accountevent"),
        replace_policy(
            "tenants_accountevent",
            f"{NO_TENANT} OR account_id IN ({_MEMBERS})",
            NO_TENANT,
            f"{NO_TENANT} AND {_OLD}",
            NO_TENANT,
        ),
        replace_policy(
            "tenants_auditentry",
            f"tenant_id = {CURRENT}",
            f"tenant_id = {CURRENT}",
            f"tenant_id = {CURRENT} AND (space_id IS NOT NULL OR {_OLD} OR {_MEASURED})",
            f"tenant_id = {CURRENT}",
        ),
        migrations.RunPython(revoke_changes, migrations.RunPython.noop),
    ]
