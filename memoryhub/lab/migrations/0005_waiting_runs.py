"""Which runs a worker is to carry out, over all tenants."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import definer_function


class Migration(migrations.Migration):
    dependencies = [("lab", "0004_background_runs")]

    operations = [
        definer_function(
            "memoryhub_waiting_lab_runs()",
            "TABLE (tenant_id uuid, run_id uuid)",
            "SELECT tenant_id, id FROM lab_labrun "
            "WHERE file <> '' AND state IN ('queued', 'running') ORDER BY created_at, id",
        ),
    ]
