from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.tenants.ids


class Migration(migrations.Migration):

    dependencies = [
        ('pipeline', '0009_own_clocks'),
        ('tenants', '0003_embedding_model'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='step',
            field=models.CharField(choices=[('derive', 'Derive memories'), ('associate', 'Describe and link notes'), ('place', 'Chain and place pages'), ('episode', 'Close an episode'), ('promote', 'Promote what is warm'), ('fold', 'Renew the summary so far'), ('digest', 'Write digests'), ('rederive', 'Derive again after an erasure'), ('embed', 'Embed what has no vector yet'), ('sweep', 'Let fade, warm up, tidy'), ('replay', 'Replay golden questions'), ('map', 'Draw the map of memories')], default='derive', max_length=20),
        ),
        migrations.CreateModel(
            name='SpaceMap',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('points', models.JSONField(blank=True, default=list)),
                ('embedder', models.CharField(blank=True, max_length=80)),
                ('mark', models.CharField(blank=True, max_length=200)),
                ('done', models.IntegerField(default=0)),
                ('total', models.IntegerField(default=0)),
                ('actor', models.CharField(blank=True, max_length=120)),
                ('asked_at', models.DateTimeField()),
                ('drawn_at', models.DateTimeField(blank=True, null=True)),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.space')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('space',), name='one_map_a_space')],
            },
        ),
    ]
