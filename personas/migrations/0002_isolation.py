"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("personas", "0001_initial")]

    operations = isolate(
        "personas_trait",
        "personas_profileattribute",
        "personas_coreblock",
        "personas_blockversion",
        "personas_blockattachment",
        "personas_window",
    )
