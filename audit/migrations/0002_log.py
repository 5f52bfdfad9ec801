"""The log's schema: see sql/. It cannot be reversed, because nothing deletes an event."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.RunSQL((SQL / "0002_log.sql").read_text()),
        migrations.RunSQL((SQL / "0002_roles.sql").read_text()),
        migrations.RunSQL((SQL / "0002_guard.sql").read_text()),
        # This month and the two after it; any other is made when its first stream opens.
        migrations.RunSQL(
            "select log.ensure_month((current_date + make_interval(months => m))::date) from generate_series(0, 2) m"
        ),
    ]
