"""Findings for information open no case, but for those that put a question to the house. Cases already open stay."""

from pathlib import Path

from django.db import migrations, models
from django.db.models import Q

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0025_corrections")]

    operations = [
        migrations.RemoveConstraint("finding", "finding_stands_with_case"),
        migrations.AddConstraint(
            "finding",
            models.CheckConstraint(
                condition=~Q(status="standing") | (Q(stood_at__isnull=False) & (Q(severity="info") | Q(case__isnull=False))),
                name="finding_stands_with_case",
            ),
        ),
        migrations.RunSQL((SQL / "0026_information.sql").read_text()),
    ]
