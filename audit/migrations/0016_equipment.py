"""Functions write casinos, tables and webhooks, each with its entry: web servers write none in another way."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0015_fifth_ledger")]

    operations = [
        migrations.RunSQL((AUDIT / file).read_text())
        for file in ("access/sql/casinos.sql", "notifications/sql/webhooks.sql")
    ]
