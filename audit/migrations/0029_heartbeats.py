"""A process writes its own heartbeat alone; a run of a night begins before it ends; one function gives ids out."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0028_words")]

    operations = [
        migrations.RunSQL((AUDIT / "access/sql/heartbeats.sql").read_text()),
        migrations.RunSQL((AUDIT / "access/sql/next_ids.sql").read_text()),
    ]
