"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_initial")]

    operations = isolate(
        "policies_policyversion",
    )
