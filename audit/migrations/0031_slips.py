"""The slips of fills and credits, so that a night finds those that earlier gaming days used."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0030_evidence_ledger"),
    ]

    operations = [
        migrations.CreateModel(
            name="SlipUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("currency", models.CharField(max_length=3)),
                ("gaming_day", models.DateField()),
                ("seq", models.BigIntegerField()),
                ("slip", models.TextField()),
                ("series", models.TextField()),
                ("number", models.BigIntegerField(null=True)),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino"
                    ),
                ),
                (
                    "stream",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="slips",
                        to="audit.loggedstream",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["casino", "currency", "slip"], name="slip_uses_by_slip"),
                    models.Index(fields=["casino", "currency", "series", "number"], name="slip_uses_by_series"),
                ],
                "constraints": [models.UniqueConstraint(fields=("stream", "seq"), name="one_slip_use_an_event")],
            },
        ),
    ]
