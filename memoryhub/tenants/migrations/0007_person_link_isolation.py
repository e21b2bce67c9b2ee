"""Each tenant's links are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_person_links")]

    operations = isolate("tenants_personlink")
