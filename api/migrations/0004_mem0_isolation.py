"""Each tenant's project is its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("api", "0003_mem0_project")]

    operations = isolate("api_mem0project")
