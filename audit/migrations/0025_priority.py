"""Information opens no case, a deadline is before the end of the video, and one person's questions are one incident."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0024_calendar_of_all")]

    operations = [
        migrations.CreateModel(
            name="InformationSigning",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("findings", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None, verbose_name="findings")),
                ("digest", models.CharField(max_length=64)),
                ("signed_at", models.DateTimeField(verbose_name="signed")),
                ("casino", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("signed_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="signed by")),
            ],
            options={
                "verbose_name": "list of information",
                "verbose_name_plural": "lists of information",
                "ordering": ["-gaming_day", "-pk"],
                "indexes": [models.Index(fields=["casino", "gaming_day"], name="information_by_night")],
                "constraints": [models.CheckConstraint(condition=models.Q(("findings__len__gt", 0)), name="information_signing_of_something")],
            },
        ),
        migrations.RunSQL(
            "alter table audit_informationsigning add constraint audit_informationsigning_calendar check ("
            "gaming_day between '0001-01-03T00:00Z' and '9999-12-29T00:00Z'"
            " and signed_at between '0001-01-03T00:00Z' and '9999-12-29T00:00Z')"
        ),
        migrations.RunSQL((AUDIT / "casework/sql/priority.sql").read_text()),
    ]
