"""The register may hold the shifts of a casino."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0032_levels_of_years"),
    ]

    operations = [
        migrations.RunSQL((SQL / "0033_shifts.sql").read_text()),
    ]
