"""Appending by a stream's name, in one round trip: see audit/log/sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "log" / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_runs")]

    operations = [migrations.RunSQL((SQL / "append_named.sql").read_text())]
