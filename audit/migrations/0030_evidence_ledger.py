"""The evidence ledger: what sessions give it, what it was fed in which order, its processes and questions; its budget."""

from pathlib import Path

import django.core.validators
import django.db.models.deletion
from decimal import Decimal
from django.db import migrations, models


SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0029_stream_money"),
    ]

    operations = [
        migrations.CreateModel(
            name="LedgerCursor",
            fields=[
                (
                    "casino",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="ledger",
                        serialize=False,
                        to="audit.casino",
                    ),
                ),
                ("next_leaf", models.BigIntegerField(default=0)),
                ("number", models.BigIntegerField(default=0)),
                ("year", models.IntegerField(default=0)),
                ("budget", models.CharField(default="1", max_length=32)),
                ("ranks", models.JSONField(default=dict)),
            ],
        ),
        migrations.AddField(
            model_name="casino",
            name="false_questions",
            field=models.DecimalField(
                db_default=1,
                decimal_places=2,
                default=1,
                help_text="How many statistical questions a year may be chance alone, on average. A change holds from the next year.",
                max_digits=4,
                validators=[
                    django.core.validators.MinValueValidator(Decimal("0.01")),
                    django.core.validators.MaxValueValidator(12),
                ],
                verbose_name="false questions a year",
            ),
        ),
        migrations.CreateModel(
            name="LedgerBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("draws", "draws of a session"),
                            ("payouts", "payouts of a night"),
                            ("count", "count of a session"),
                        ],
                        max_length=16,
                    ),
                ),
                ("gaming_day", models.DateField(verbose_name="gaming day")),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                ("last_seq", models.BigIntegerField(default=0)),
                ("log_index", models.BigIntegerField(null=True)),
                ("year", models.IntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("content", models.BinaryField()),
                ("error", models.CharField(blank=True, default="", max_length=500)),
                ("fed_at", models.DateTimeField(auto_now_add=True)),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="ledger_batches", to="audit.casino"
                    ),
                ),
                (
                    "stream",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="ledger_batches",
                        to="audit.loggedstream",
                    ),
                ),
            ],
            options={
                "verbose_name": "batch of the ledger",
                "verbose_name_plural": "batches of the ledger",
            },
        ),
        migrations.CreateModel(
            name="LedgerProcess",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=300)),
                ("kind", models.CharField(max_length=40, verbose_name="kind")),
                ("subject", models.CharField(max_length=240, verbose_name="subject")),
                ("variant", models.IntegerField(default=0)),
                ("generation", models.IntegerField(default=1)),
                ("null", models.CharField(max_length=200, verbose_name="null hypothesis")),
                ("state", models.BinaryField()),
                ("wealth", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("highest", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("opening", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("year", models.IntegerField(verbose_name="year")),
                ("alpha", models.CharField(max_length=64, verbose_name="level")),
                ("sessions", models.IntegerField(default=0, verbose_name="sessions")),
                ("draws", models.BigIntegerField(default=0, verbose_name="draws")),
                ("first_day", models.DateField(verbose_name="since")),
                ("begun_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("ended_by", models.CharField(blank=True, default="", max_length=200)),
                ("ended_reason", models.TextField(blank=True, default="")),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ledger_processes",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
            ],
            options={
                "verbose_name": "process",
                "verbose_name_plural": "evidence ledger",
                "ordering": ["casino", "kind", "subject"],
            },
        ),
        migrations.CreateModel(
            name="LedgerPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("draws", models.IntegerField()),
                ("wealth", models.DecimalField(decimal_places=0, max_digits=1000)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="points", to="audit.ledgerbatch"
                    ),
                ),
                (
                    "process",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="points", to="audit.ledgerprocess"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LedgerQuestion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("year", models.IntegerField()),
                ("alpha", models.CharField(max_length=64)),
                ("draws", models.BigIntegerField()),
                ("evidence", models.DecimalField(decimal_places=0, max_digits=1000)),
                ("finding_id", models.BigIntegerField()),
                ("raised_at", models.DateTimeField(auto_now_add=True)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="questions", to="audit.ledgerbatch"
                    ),
                ),
                (
                    "process",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="questions", to="audit.ledgerprocess"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StreamEvidence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_seq", models.BigIntegerField()),
                ("engine_version", models.CharField(max_length=32)),
                ("readings", models.CharField(blank=True, default="", max_length=64)),
                ("corrections", models.CharField(blank=True, default="", max_length=64)),
                ("observations", models.BinaryField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                (
                    "stream",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="evidence",
                        to="audit.loggedstream",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="ledgerbatch",
            constraint=models.UniqueConstraint(fields=("casino", "number"), name="one_batch_a_number"),
        ),
        migrations.AddConstraint(
            model_name="ledgerbatch",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stream__isnull", False)), fields=("kind", "stream"), name="fed_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerbatch",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stream__isnull", True)),
                fields=("casino", "kind", "gaming_day", "currency"),
                name="night_fed_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerprocess",
            constraint=models.UniqueConstraint(
                fields=("casino", "name", "generation"), name="one_process_a_generation"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerprocess",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)), fields=("casino", "name"), name="one_process_a_subject_at_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="ledgerpoint",
            constraint=models.UniqueConstraint(fields=("process", "batch"), name="one_point_a_batch"),
        ),
        migrations.AddConstraint(
            model_name="ledgerquestion",
            constraint=models.UniqueConstraint(fields=("process", "year"), name="one_question_a_year"),
        ),
        migrations.AddConstraint(
            model_name="streamevidence",
            constraint=models.UniqueConstraint(
                fields=("stream", "last_seq", "engine_version", "readings", "corrections"),
                name="one_evidence_a_stream_and_readings",
            ),
        ),
        migrations.RunSQL((SQL / "0030_questions.sql").read_text()),
    ]
