"""What the operator sets in the console for all tenants, out of every tenant's reach."""

from __future__ import annotations

from django.db import migrations, models

from memoryhub.tenants.database.row_security import keep_out_of_scopes


class Migration(migrations.Migration):
    dependencies = [("inference", "0002_isolation")]

    operations = [
        migrations.CreateModel(
            name="HubModels",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("endpoint", models.CharField(blank=True, max_length=500)),
                ("model", models.CharField(blank=True, max_length=120)),
                ("sealed_key", models.TextField(blank=True)),
                ("prices", models.JSONField(blank=True, default=dict)),
                ("changed_by", models.CharField(max_length=120)),
                ("changed_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="hub_models_once")
                ],
            },
        ),
        *keep_out_of_scopes("inference_hubmodels"),
    ]
