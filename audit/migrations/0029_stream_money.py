"""What is kept of each stream's money per person, so that a gaming day is joined and not read again; its thresholds."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0028_priority_and_promotion"),
    ]

    operations = [
        migrations.CreateModel(
            name="StreamMoney",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_seq", models.BigIntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("readings", models.CharField(blank=True, default="", max_length=64)),
                ("corrections", models.CharField(blank=True, default="", max_length=64)),
                ("money", models.BinaryField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                (
                    "stream",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="money",
                        to="audit.loggedstream",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="streammoney",
            constraint=models.UniqueConstraint(
                fields=("stream", "last_seq", "engine_version", "readings", "corrections"),
                name="one_money_a_stream_and_readings",
            ),
        ),
        migrations.RunSQL((SQL / "0029_thresholds.sql").read_text()),
    ]
