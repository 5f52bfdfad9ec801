"""A scope of API keys: ``events:backfill``. Keys that exist do not get it."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0016_what_stands")]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("events:write", "record events"),
                        ("events:backfill", "record events of any past gaming day"),
                        ("streams:read", "read streams"),
                        ("findings:read", "read findings"),
                        ("reports:read", "read reports"),
                    ],
                    max_length=32,
                ),
                size=None,
                verbose_name="scopes",
            ),
        )
    ]
