"""A tenant may ask its people for a second factor."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0015_second_factor'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='second_factor_required',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
