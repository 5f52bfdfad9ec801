"""Information opens no case, whatever its money."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0034_sighting_dismissals")]

    operations = [migrations.RunSQL((AUDIT / "casework/sql/information.sql").read_text())]
