"""The tree over batches, its keys and checkpoints, and streams for the desk's own acts: see sql/."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_keys_and_quarantine")]

    operations = [migrations.RunSQL((SQL / "0004_tree.sql").read_text())]
