"""The win of a session through its night is kept with its figures: the page of a night reads no session for it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0051_indexes_of_queues"),
    ]

    operations = [
        migrations.AddField(model_name="sessionfigures", name="win_line", field=models.JSONField(null=True)),
    ]
