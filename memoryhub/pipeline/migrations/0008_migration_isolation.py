"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0007_embedding_migration"),
        ("tenants", "0002_roles_and_isolation"),
    ]

    operations = isolate("pipeline_embeddingmigration")
