"""The finding that a case is of is marked as that, for the queues; and the rules that have findings are in an index."""

from pathlib import Path

import django.db.models.functions
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0045_sandbox"),
    ]

    operations = [
        migrations.AddField(
            model_name="finding",
            name="heads_case",
            field=models.BooleanField(default=False, editable=False, db_default=False),
        ),
        migrations.RunSQL((SQL / "0046_heads_of_cases.sql").read_text()),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("heads_case", True), ("status", "standing")),
                fields=["case"],
                name="finding_heads_case",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("case"),
                models.OrderBy(django.db.models.functions.Abs("difference"), descending=True),
                condition=models.Q(("difference__isnull", False), ("status", "standing")),
                name="finding_by_size",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(fields=["casino", "rule"], name="finding_by_rule"),
        ),
    ]
