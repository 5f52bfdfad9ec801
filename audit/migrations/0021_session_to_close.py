"""Two officers close a session in which somebody has stored what the database cannot read."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0020_officer_names")]

    operations = [migrations.RunSQL((AUDIT / "casework/sql/session_to_close.sql").read_text())]
