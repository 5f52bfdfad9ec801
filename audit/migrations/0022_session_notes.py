"""Replay notes a session while it folds it, so that nothing is read again for its figures."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0021_session_to_close"),
    ]

    operations = [
        migrations.AddField(
            model_name="adjudication",
            name="memory",
            field=models.BinaryField(db_default=b"", default=b"", editable=False),
        ),
        migrations.AddField(
            model_name="retiredwagers",
            name="notes",
            field=models.BinaryField(db_default=b"", default=b""),
        ),
    ]
