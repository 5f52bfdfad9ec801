"""The walls inside the database: signatures, roles and passwords are written by functions of the owner's. See sql/."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0017_backfill_scope")]

    operations = [migrations.RunSQL((SQL / "0018_walls.sql").read_text())]
