"""``verify`` holds the files of cases."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [
        ('audit', '0029_heartbeats'),
    ]

    operations = [
        migrations.RunSQL((AUDIT / "casework/sql/hashed_files.sql").read_text()),
    ]
