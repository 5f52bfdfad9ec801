"""Transactions that change what the desk counts are noted: a page counts again only what has changed."""

from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0053_words"),
    ]

    operations = [
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey("xid", "relation", blank=True, editable=False, primary_key=True, serialize=False),
                ),
                ("xid", models.BigIntegerField()),
                ("relation", models.CharField(max_length=63)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "audit_change"},
        ),
        migrations.RunSQL((SQL / "0054_changes.sql").read_text()),
    ]
