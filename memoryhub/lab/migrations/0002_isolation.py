"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("lab", "0001_runs"), ("tenants", "0002_roles_and_isolation")]

    operations = isolate("lab_labrun", "lab_labderivation", "lab_laboutcome")
