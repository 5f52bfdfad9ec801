"""Officers decide about a result that an event type of a ruleset's own voids."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_no_changes")]

    operations = [migrations.RunSQL((AUDIT / "corrections/sql/own_voiding.sql").read_text())]
