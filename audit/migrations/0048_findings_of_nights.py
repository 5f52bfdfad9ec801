"""The errors of the last nights are counted by croupier and kind from an index: the first page of the desk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0047_alerts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("status", "standing"), models.Q(("croupier", ""), _negated=True)),
                fields=["casino", "gaming_day", "croupier", "rule"],
                name="finding_of_nights",
            ),
        ),
    ]
