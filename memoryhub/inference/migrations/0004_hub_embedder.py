"""Which embedder the operator chose in the console, with the endpoint that it is asked at."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inference", "0003_hub_models")]

    operations = [
        migrations.AddField(
            model_name="hubmodels",
            name="embedder",
            field=models.CharField(blank=True, db_default="", default="", max_length=80),
        ),
        migrations.AddField(
            model_name="hubmodels",
            name="embedder_endpoint",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
        migrations.AddField(
            model_name="hubmodels",
            name="sealed_embedder_key",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
