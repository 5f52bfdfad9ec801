"""The house register takes the thresholds of the questions about chips."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0008_finding_claim")]

    operations = [migrations.RunSQL((AUDIT / "register/sql/chips.sql").read_text())]
