"""Each tenant's maps are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0010_space_map"),
        ("tenants", "0002_roles_and_isolation"),
    ]

    operations = isolate("pipeline_spacemap")
