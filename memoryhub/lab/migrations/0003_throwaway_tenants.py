"""What a killed measurement left behind, whoever sweeps it away."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import definer_function


class Migration(migrations.Migration):
    dependencies = [("lab", "0002_isolation")]

    operations = [
        definer_function(
            "memoryhub_lab_tenants()",
            "TABLE (id uuid, slug varchar)",
            "SELECT id, slug FROM tenants_tenant "
            "WHERE slug ~ '^lab--[0-9a-f]{12}$' AND name = slug",
        ),
    ]
