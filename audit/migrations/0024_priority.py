"""Information opens no case, a deadline is before the end of the video, and one person's questions are one incident."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0023_calendar_of_all")]

    operations = [migrations.RunSQL((AUDIT / "casework/sql/priority.sql").read_text())]
