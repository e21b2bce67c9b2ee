import django.contrib.postgres.fields
import django.db.models.deletion
import memoryhub.tenants.ids
import pgvector.django.halfvec
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('tenants', '0005_own_clock'),
    ]

    operations = [
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('namespace', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None)),
                ('key', models.CharField(max_length=500)),
                ('value', models.JSONField()),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('ttl_minutes', models.FloatField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.space')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['tenant', 'namespace', 'key'], name='item_by_namespace'),
                    models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['tenant', 'expires_at'], name='item_expiry'),
                ],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'space', 'namespace', 'key'), name='one_item_a_key')],
            },
        ),
        migrations.CreateModel(
            name='ItemText',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('place', models.PositiveSmallIntegerField()),
                ('text', models.TextField()),
                ('model', models.CharField(blank=True, max_length=80)),
                ('embedding', pgvector.django.halfvec.HalfVectorField(blank=True, null=True)),
                ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='items.item')),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.space')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'model'], name='item_text_by_model')],
                'constraints': [models.UniqueConstraint(fields=('item', 'place'), name='one_text_a_place')],
            },
        ),
    ]
