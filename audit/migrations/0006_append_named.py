"""Appending by a stream's name, in one round trip: see sql/."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_runs")]

    operations = [migrations.RunSQL((SQL / "0006_append_named.sql").read_text())]
