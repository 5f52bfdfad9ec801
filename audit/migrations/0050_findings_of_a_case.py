"""Of how many findings the open incidents consist is counted from an index: the queue of the desk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0049_alert_messages"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(condition=models.Q(("status", "standing")), fields=["case"], name="finding_of_case"),
        ),
    ]
