"""When a batch was received never goes back, and the batches that the sequencer leaves. See sql/."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("audit", "0039_recovery")]

    operations = [
        migrations.CreateModel(
            name="LeftBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stream_id", models.BigIntegerField()),
                ("first_seq", models.BigIntegerField()),
                ("last_seq", models.BigIntegerField(null=True)),
                ("stream", models.TextField()),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("altered", "the stored events are not those that were accepted"),
                            ("no-envelope", "a body is no envelope of its event"),
                            ("back-dated", "it says that it was received before what is sealed"),
                            ("unreadable", "the database cannot read it"),
                            ("missing", "there is no such batch"),
                        ],
                        max_length=20,
                    ),
                ),
                ("found_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["found_at", "stream_id", "first_seq"],
                "constraints": [
                    models.UniqueConstraint(fields=("stream_id", "first_seq"), name="batch_is_left_once"),
                ],
            },
        ),
        migrations.RunSQL((SQL / "0040_received_at.sql").read_text()),
    ]
