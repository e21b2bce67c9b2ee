from __future__ import annotations

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import memoryhub.tenants.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [("tenants", "0005_own_clock")]

    operations = [
        migrations.CreateModel(
            name="ImportFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.tenants.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("size", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="ImportPart",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.tenants.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("number", models.IntegerField()),
                ("data", models.BinaryField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="importers.importfile",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.tenants.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("source", models.CharField(max_length=20)),
                ("file_name", models.CharField(blank=True, max_length=200)),
                ("size", models.BigIntegerField(default=0)),
                ("subject", models.CharField(blank=True, max_length=200)),
                (
                    "only",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=10),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("dry_run", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempts", models.IntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("total", models.IntegerField(default=0)),
                ("done", models.IntegerField(default=0)),
                ("report", models.JSONField(blank=True, default=dict)),
                ("error", models.TextField(blank=True)),
                ("actor", models.CharField(max_length=120)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "file",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="importers.importfile",
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.space",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={"ordering": ["-created_at", "-id"]},
        ),
        migrations.AddConstraint(
            model_name="importpart",
            constraint=models.UniqueConstraint(
                fields=("file", "number"), name="one_import_part"
            ),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(fields=["tenant", "-created_at"], name="import_recent"),
        ),
    ]
