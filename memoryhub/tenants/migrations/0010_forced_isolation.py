"""Row-level security holds for the tables' owner, and people and sessions are out of a tenant's
reach."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations
from django.db.migrations import RunSQL

from memoryhub.tenants.database.row_security import CURRENT, build_force_sql, keep_out_of_scopes

_UNFORCED_SQL = """
SELECT c.relname FROM pg_class c
WHERE c.relrowsecurity AND NOT c.relforcerowsecurity AND c.relkind = 'r'
  AND c.relnamespace = 'public'::regnamespace
ORDER BY c.relname
"""
_MEMBERS = f"SELECT user_id FROM tenants_membership WHERE tenant_id = {CURRENT}"
# The first operator stays one. Others who are admins of a tenant were made with it; whoever
# belongs to none was made an operator on purpose.
_TAKE_BACK_SQL = """
UPDATE tenants_user SET is_superuser = false, is_staff = false
WHERE is_superuser AND id <> (SELECT min(id) FROM tenants_user WHERE is_superuser)
  AND id IN (SELECT user_id FROM tenants_membership WHERE role = 'admin')
"""


def force_isolation(apps: Any, schema_editor: Any) -> None:
    """On a hub of an earlier version; a new one's tables get it with their policy."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_UNFORCED_SQL)
        for (table,) in cursor.fetchall():
            cursor.execute(build_force_sql(table))


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0009_audit_isolation"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        RunSQL(_TAKE_BACK_SQL, RunSQL.noop),
        migrations.RunPython(force_isolation, migrations.RunPython.noop),
        *keep_out_of_scopes(
            "tenants_user",
            "tenants_user_groups",
            "tenants_user_user_permissions",
            "django_admin_log",
            "django_session",
        ),
        # A tenant sees who its people are. Written they are outside of its scope.
        RunSQL(
            f"CREATE POLICY members ON tenants_user FOR SELECT USING (id IN ({_MEMBERS}))",
            "DROP POLICY members ON tenants_user",
        ),
    ]
