"""The first day of a process is the earliest gaming day of what fed it, and not that of what fed it first."""

from django.db import migrations

EARLIEST = """
update audit_ledgerprocess p set first_day = fed.first_day
  from (select point.process_id, min(batch.gaming_day) as first_day
          from audit_ledgerpoint point join audit_ledgerbatch batch on batch.id = point.batch_id
         group by point.process_id) fed
 where fed.process_id = p.id and fed.first_day < p.first_day;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0055_change_of_memberships"),
    ]

    operations = [
        migrations.RunSQL(EARLIEST, migrations.RunSQL.noop),
    ]
