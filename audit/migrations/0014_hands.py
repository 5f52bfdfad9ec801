"""An account is in the hands of whoever could choose its password, until another administrator says whose it is."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0013_keys")]

    operations = [
        migrations.AddField("accesslink", "confirmed_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "accesslink",
            "confirmed_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunSQL((AUDIT / "access/sql/hands_at.sql").read_text()),
    ]
