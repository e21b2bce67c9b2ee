"""Whose rows are looked at for their age, and that it is told what ended by it."""

from __future__ import annotations

from django.db import migrations, models

from memoryhub.tenants.database.row_security import NO_TENANT, definer_function

_ACTIONS = [
    ("key.made", "Key made"),
    ("key.rotated", "Key rotated"),
    ("key.revoked", "Key revoked"),
    ("person.added", "Person let in"),
    ("person.changed", "Role changed"),
    ("person.removed", "Person removed"),
    ("person.signed_out", "Person signed out"),
    ("webhook.made", "Webhook made"),
    ("webhook.changed", "Webhook changed"),
    ("webhook.rotated", "Webhook's secret changed"),
    ("webhook.deleted", "Webhook deleted"),
    ("tenant.changed", "Tenant changed"),
    ("models.changed", "Models changed"),
    ("data.exported", "Taken out as a file"),
    ("data.redacted", "Words of calls taken out"),
    ("data.aged_out", "Ended by age"),
]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0016_second_factor_required")]

    operations = [
        migrations.AlterField(
            "auditentry", "action", models.CharField(choices=_ACTIONS, max_length=20)
        ),
        # Outside any scope alone. A measurement's own tenant goes as a whole.
        definer_function(
            "memoryhub_ageing_tenants()",
            "TABLE (tenant_id uuid)",
            f"SELECT id FROM tenants_tenant WHERE NOT own_clock AND {NO_TENANT} ORDER BY id",
        ),
    ]
