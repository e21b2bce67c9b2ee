"""People may have a second factor: an app's codes or passkeys, with recovery codes. Out of every
tenant's reach, as people are."""

import django.db.models.deletion
import memoryhub.tenants.ids
from django.conf import settings
from django.db import migrations, models

from memoryhub.tenants.database.row_security import keep_out_of_scopes


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0014_models'),
    ]

    operations = [
        migrations.AlterField(
            model_name='accountevent',
            name='kind',
            field=models.CharField(choices=[('sign_in.done', 'Signed in'), ('sign_in.failed', 'Wrong password'), ('second.failed', 'Wrong code or passkey'), ('sign_out.done', 'Signed out'), ('reset.asked', 'New password asked for'), ('password.changed', 'Password changed'), ('sessions.ended', 'Sessions ended'), ('second.added', 'Second factor added'), ('second.removed', 'Second factor removed'), ('second.codes', 'Recovery codes made'), ('second.code_used', 'Recovery code used'), ('operator.made', 'Made an operator'), ('operator.dismissed', 'Operator no longer')], max_length=20),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('key.made', 'Key made'), ('key.rotated', 'Key rotated'), ('key.revoked', 'Key revoked'), ('person.added', 'Person let in'), ('person.changed', 'Role changed'), ('person.removed', 'Person removed'), ('person.signed_out', 'Person signed out'), ('webhook.made', 'Webhook made'), ('webhook.changed', 'Webhook changed'), ('webhook.rotated', "Webhook's secret changed"), ('webhook.deleted', 'Webhook deleted'), ('tenant.changed', 'Tenant changed'), ('models.changed', 'Models changed'), ('data.exported', 'Taken out as a file'), ('data.redacted', 'Words of calls taken out')], max_length=20),
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='SecondFactor',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('app', 'App with codes'), ('passkey', 'Passkey')], max_length=10)),
                ('name', models.CharField(max_length=60)),
                ('sealed_secret', models.TextField(blank=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('credential', models.BinaryField(default=b'')),
                ('host', models.CharField(blank=True, max_length=253)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['created_at', 'id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'app')), fields=('account',), name='one_app_per_account')],
            },
        ),
        *keep_out_of_scopes("tenants_secondfactor", "tenants_recoverycode"),
    ]
