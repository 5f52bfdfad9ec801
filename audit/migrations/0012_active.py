"""Which accounts and roles are active is one definition each; functions write deadlines, each with its entry."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0011_levels_of_equals")]

    operations = [
        migrations.RunSQL((AUDIT / file).read_text())
        for file in ("access/sql/active_accounts.sql", "casework/sql/deadlines.sql")
    ]
