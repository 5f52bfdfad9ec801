"""An index of the claims of each incident: the sums of a queue read nothing else."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0007_third_ledger")]

    operations = [
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                fields=["case"],
                include=["owed"],
                name="finding_claim",
                condition=models.Q(
                    ("difference__isnull", False),
                    ("owed__isnull", False),
                    ("status", "standing"),
                    models.Q(("severity", "info"), _negated=True),
                ),
            ),
        ),
    ]
