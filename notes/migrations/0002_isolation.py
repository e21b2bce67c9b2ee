"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("notes", "0001_initial"), ("tenants", "0002_roles_and_isolation")]

    operations = isolate(
        "notes_page",
        "notes_fact",
        "notes_entity",
        "notes_relation",
        "notes_note",
        "notes_segment",
        "notes_segmentpage",
        "notes_evolutionevent",
        "notes_revision",
        "notes_derivation",
        "notes_indexentry",
    )
