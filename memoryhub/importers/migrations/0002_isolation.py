"""Each tenant's rows are its own; a sweep sees whose imports wait."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import definer_function, isolate


class Migration(migrations.Migration):
    dependencies = [("importers", "0001_imports"), ("tenants", "0002_roles_and_isolation")]

    operations = [
        *isolate("importers_importfile", "importers_importpart", "importers_importrun"),
        definer_function(
            "memoryhub_waiting_imports(before timestamptz)",
            "TABLE (tenant_id uuid, run_id uuid)",
            "SELECT tenant_id, id FROM importers_importrun "
            "WHERE state = 'queued' OR (state = 'running' AND lease_until < before) "
            "ORDER BY created_at, id",
        ),
    ]
