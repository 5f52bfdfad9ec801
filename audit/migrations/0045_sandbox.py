"""Sandboxes: casinos for trying a table system, whose record is apart and can be emptied. See sql/0045_sandbox.sql."""

from pathlib import Path

from django.db import migrations, models
from django.db.models import Q

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0044_feed_and_webhooks")]

    operations = [
        migrations.AddField(
            model_name="casino",
            name="is_sandbox",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="For trying a table system: no night, no proof, no case, and it can be emptied. It never changes.",
                verbose_name="sandbox",
            ),
        ),
        migrations.RemoveConstraint(model_name="finding", name="finding_stands_with_case"),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=~Q(status="standing")
                | (
                    Q(stood_at__isnull=False)
                    & (Q(severity="info") | Q(case__isnull=False) | Q(stream__gte=1 << 51))
                ),
                name="finding_stands_with_case",
            ),
        ),
        migrations.RunSQL((SQL / "0045_sandbox.sql").read_text()),
    ]
