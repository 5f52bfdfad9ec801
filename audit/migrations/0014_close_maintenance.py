"""Maintenance of the log closes at the end of its transaction, and what migrations left open is closed: see sql/."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0013_standard_names")]

    operations = [migrations.RunSQL((SQL / "0014_close_maintenance.sql").read_text())]
