"""Each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate


class Migration(migrations.Migration):
    dependencies = [("notes", "0004_whole_model")]

    operations = isolate(
        "notes_chain",
        "notes_episode",
        "notes_link",
        "notes_tombstone",
        "notes_receipt",
        "notes_proposal",
        "notes_fingerprint",
    )
