"""A tenant may have its own endpoint, with the key that goes there under seal."""

from __future__ import annotations

from django.db import migrations, models

from memoryhub.tenants.database.row_security import definer_function

_ACTIONS = [
    ("key.made", "Key made"),
    ("key.rotated", "Key rotated"),
    ("key.revoked", "Key revoked"),
    ("person.added", "Person let in"),
    ("person.changed", "Role changed"),
    ("person.removed", "Person removed"),
    ("webhook.made", "Webhook made"),
    ("webhook.changed", "Webhook changed"),
    ("webhook.rotated", "Webhook's secret changed"),
    ("webhook.deleted", "Webhook deleted"),
    ("tenant.changed", "Tenant changed"),
    ("models.changed", "Models changed"),
    ("data.exported", "Taken out as a file"),
    ("data.redacted", "Words of calls taken out"),
]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0013_names")]

    operations = [
        migrations.AddField("tenant", "endpoint", models.CharField(blank=True, max_length=500)),
        migrations.AddField("tenant", "model", models.CharField(blank=True, max_length=120)),
        migrations.AddField("tenant", "sealed_key", models.TextField(blank=True)),
        migrations.AlterField(
            "auditentry", "action", models.CharField(choices=_ACTIONS, max_length=20)
        ),
        # Before any scope: whose keys are to be sealed anew.
        definer_function(
            "memoryhub_sealed_tenants()",
            "TABLE (id uuid)",
            "SELECT id FROM tenants_tenant WHERE sealed_key <> ''",
        ),
    ]
