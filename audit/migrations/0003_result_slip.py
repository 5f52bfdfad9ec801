"""The house register takes the reading ``result_slip_s``."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_sql")]

    operations = [migrations.RunSQL((AUDIT / "register/sql/result_slip.sql").read_text())]
