"""People may be known by what an OpenID provider calls them. Out of every tenant's reach, as people
are."""

import django.db.models.deletion
import memoryhub.tenants.ids
from django.conf import settings
from django.db import migrations, models

from memoryhub.tenants.database.row_security import keep_out_of_scopes


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0017_ageing'),
    ]

    operations = [
        migrations.AlterField(
            model_name='accountevent',
            name='kind',
            field=models.CharField(choices=[('sign_in.done', 'Signed in'), ('sign_in.failed', 'Wrong password'), ('sign_on.done', 'Signed in by single sign-on'), ('sign_on.refused', 'Single sign-on refused'), ('sign_on.linked', 'Single sign-on connected'), ('sign_on.removed', 'Single sign-on taken away'), ('second.failed', 'Wrong code or passkey'), ('sign_out.done', 'Signed out'), ('reset.asked', 'New password asked for'), ('password.changed', 'Password changed'), ('sessions.ended', 'Sessions ended'), ('second.added', 'Second factor added'), ('second.removed', 'Second factor removed'), ('second.codes', 'Recovery codes made'), ('second.code_used', 'Recovery code used'), ('operator.made', 'Made an operator'), ('operator.dismissed', 'Operator no longer')], max_length=20),
        ),
        migrations.CreateModel(
            name='SignOnIdentity',
            fields=[
                ('id', models.UUIDField(default=memoryhub.tenants.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('issuer', models.CharField(max_length=300)),
                ('subject', models.CharField(max_length=255)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_account_per_identity'), models.UniqueConstraint(fields=('issuer', 'account'), name='one_identity_per_account')],
            },
        ),
        *keep_out_of_scopes("tenants_signonidentity"),
    ]
