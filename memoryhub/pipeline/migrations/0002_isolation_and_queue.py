"""Jobs are the tenant's own; a worker may ask which spaces wait; the default broker's tables."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from pgmq.install import get_embedded_install_sql

from memoryhub.tenants.database.grants import grant
from memoryhub.tenants.database.row_security import definer_function, isolate


def install_queue(apps: Any, schema_editor: Any) -> None:
    """kombu's `pgmq://` in this database: plain SQL, no extension. Harmless beside a real broker."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(get_embedded_install_sql())
    # The transport declares its queue, which is a table, when a worker or sender connects.
    grant(
        schema_editor,
        "pgmq",
        "GRANT CREATE ON SCHEMA {schema} TO {role}",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}",
    )


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0001_initial"), ("tenants", "0002_roles_and_isolation")]

    operations = [
        *isolate("pipeline_job"),
        definer_function(
            "memoryhub_due_spaces(at timestamptz, most integer)",
            "TABLE (tenant_id uuid, space_id uuid)",
            "SELECT tenant_id, space_id FROM pipeline_job "
            "WHERE run_after <= at AND (state IN ('queued', 'retry') "
            "OR (state = 'running' AND lease_until < at)) "
            "GROUP BY tenant_id, space_id ORDER BY min(run_after) LIMIT most",
        ),
        migrations.RunPython(install_queue, migrations.RunPython.noop),
    ]
