"""Recovery of a log that was restored to an earlier state: epochs, and what the sequencer saw."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0038_witnesses"),
    ]

    operations = [
        migrations.CreateModel(
            name="LogEpoch",
            fields=[
                ("number", models.IntegerField(primary_key=True, serialize=False)),
                ("origin", models.TextField(unique=True)),
                ("kept", models.BigIntegerField()),
                ("forked_at", models.BigIntegerField()),
                ("signed_size", models.BigIntegerField()),
                ("note", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("number__gte", 2)), name="epochs_from_the_second"),
                    models.CheckConstraint(
                        condition=models.Q(("forked_at__gte", 0), ("kept__gte", models.F("forked_at"))),
                        name="epoch_keeps_its_beginning",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogFork",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("leaves", models.BigIntegerField()),
                ("signed_size", models.BigIntegerField()),
                ("found_at", models.DateTimeField()),
            ],
        ),
        migrations.RunSQL(
            (SQL / "0039_recovery.sql").read_text(), "drop function audit_act_log_recovered(jsonb, bigint, text)"
        ),
    ]
