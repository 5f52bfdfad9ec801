"""What the desk counts of incidents is counted from indexes alone; what comes back is found by its table."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0050_findings_of_a_case"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="finding", name="finding_heads_case"),
        migrations.RemoveIndex(model_name="finding", name="finding_of_case"),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=Q(("heads_case", True), ("status", "standing")),
                fields=["case", "casino"],
                name="finding_heads_incident",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=Q(("status", "standing")), fields=["case", "casino"], name="finding_of_incident"
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=Q(("status", "standing"), ("table__isnull", False)),
                fields=["table", "rule"],
                name="finding_at_table",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(condition=Q(("state", "closed")), fields=["casino", "closed_at"], name="case_closed"),
        ),
    ]
