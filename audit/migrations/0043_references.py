"""References of findings: counted for each casino and year."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0042_erasure_and_signatures"),
    ]

    operations = [
        migrations.CreateModel(
            name="FindingCounter",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "casino_id", "year", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "casino",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.casino",
                    ),
                ),
                ("year", models.SmallIntegerField(verbose_name="year")),
                ("last", models.BigIntegerField(verbose_name="last number")),
            ],
            options={
                "verbose_name": "counter of findings",
                "verbose_name_plural": "counters of findings",
            },
        ),
        migrations.AddField(
            model_name="finding",
            name="number",
            field=models.BigIntegerField(editable=False, null=True, verbose_name="number in the year"),
        ),
        migrations.AddField(
            model_name="finding",
            name="year",
            field=models.SmallIntegerField(editable=False, null=True, verbose_name="year of the reference"),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("number__isnull", False)), fields=["number", "year"], name="finding_by_reference"
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("number", None), ("year", None)),
                    models.Q(("number__gt", 0), ("year__isnull", False)),
                    _connector="OR",
                ),
                name="finding_is_numbered",
            ),
        ),
        migrations.RunSQL((SQL / "0043_references.sql").read_text()),
    ]
