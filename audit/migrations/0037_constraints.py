"""A database has the same constraints, whether it ran 0002 to 0036 one by one or at once."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0036_seen_again")]

    operations = [migrations.RunSQL((AUDIT / "casework/sql/constraints.sql").read_text())]
