"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("api", "0007_request_log"), ("tenants", "0002_roles_and_isolation")]

    operations = isolate("api_loggedrequest")
