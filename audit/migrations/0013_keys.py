"""Functions write API keys, each with its entry: web servers write none in another way."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0012_active")]

    operations = [migrations.RunSQL((AUDIT / "access/sql/key_entries.sql").read_text())]
