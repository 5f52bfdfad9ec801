"""Months in the archive: their events leave the database, and the hashes stay. See sql/0041_archive.sql."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0040_received_at"),
    ]

    operations = [
        migrations.CreateModel(
            name="ArchivedMonth",
            fields=[
                ("month", models.DateField(primary_key=True, serialize=False, verbose_name="month")),
                ("low", models.BigIntegerField()),
                ("high", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("archived", "archived"), ("attached", "attached"), ("destroyed", "destroyed")],
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("file", models.TextField(verbose_name="file")),
                ("digest", models.CharField(max_length=64)),
                ("batches", models.BigIntegerField()),
                ("events", models.BigIntegerField()),
                ("note", models.TextField()),
                ("archived_at", models.DateTimeField(verbose_name="archived")),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
                ("destruction_note", models.TextField(blank=True)),
                ("destroyed_at", models.DateTimeField(null=True, verbose_name="destroyed")),
            ],
            options={
                "verbose_name": "archived month",
                "verbose_name_plural": "archived months",
                "ordering": ["month"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["archived", "attached", "destroyed"])),
                        name="archived_month_state_is_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("low__lt", models.F("high"))), name="archived_month_has_streams"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("destroyed_at__isnull", False), ("state", "destroyed")),
                            models.Q(
                                models.Q(("state", "destroyed"), _negated=True),
                                ("destroyed_at", None),
                                ("destruction_note", ""),
                            ),
                            _connector="OR",
                        ),
                        name="archived_month_destroyed_by_an_act",
                    ),
                ],
            },
        ),
        migrations.RunSQL((SQL / "0041_archive.sql").read_text()),
    ]
