"""The oldest answers are found by their age."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("api", "0008_request_log_isolation")]

    operations = [
        migrations.AddIndex(
            "idempotentrequest",
            models.Index(fields=["tenant", "created_at"], name="answer_age"),
        )
    ]
