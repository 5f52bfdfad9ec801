"""No row of any table has an instant or a day that PostgreSQL has and no page can show."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0023_payment_orders")]

    operations = [migrations.RunSQL((AUDIT / "event_store/sql/calendar.sql").read_text())]
