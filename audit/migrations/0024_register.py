"""The house register: entries that two officers decide, runs that know its version, figures that know its readings."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0023_incidents"),
    ]

    operations = [
        migrations.CreateModel(
            name="RegisterEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ruleset", models.CharField(blank=True, max_length=64, verbose_name="ruleset")),
                ("reading", models.CharField(max_length=64, verbose_name="reading")),
                ("value", models.JSONField(null=True, verbose_name="value")),
                ("first_day", models.DateField(verbose_name="in force from")),
                ("last_day", models.DateField(null=True, verbose_name="in force through")),
                ("reason", models.TextField(verbose_name="reason")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("approved", "approved"),
                            ("declined", "declined"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="waiting",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("version", models.BigIntegerField(null=True, verbose_name="version")),
                ("proposed_at", models.DateTimeField(verbose_name="proposed")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decision_reason", models.TextField(blank=True, verbose_name="reason of the decision")),
            ],
            options={
                "verbose_name": "entry of the register",
                "verbose_name_plural": "house register",
                "ordering": ["casino", "-pk"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="sessionfigures",
            name="one_figures_a_session",
        ),
        migrations.AddField(
            model_name="sessionfigures",
            name="readings",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AlterField(
            model_name="adjudicationrun",
            name="register_version",
            field=models.BigIntegerField(blank=True, null=True, verbose_name="register version"),
        ),
        migrations.AddConstraint(
            model_name="sessionfigures",
            constraint=models.UniqueConstraint(
                fields=("stream", "last_seq", "engine_version", "readings"), name="one_figures_a_session_and_readings"
            ),
        ),
        migrations.AddField(
            model_name="registerentry",
            name="casino",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="register",
                to="audit.casino",
                verbose_name="casino",
            ),
        ),
        migrations.AddField(
            model_name="registerentry",
            name="decided_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="decided by",
            ),
        ),
        migrations.AddField(
            model_name="registerentry",
            name="proposed_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="proposed by",
            ),
        ),
        migrations.AddField(
            model_name="registerentry",
            name="table",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="register",
                to="audit.gamingtable",
                verbose_name="table",
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at", None), ("decided_by", None), ("state", "waiting")),
                    models.Q(
                        ("decided_at__isnull", False),
                        ("decided_by__isnull", False),
                        ("state__in", ["approved", "declined", "withdrawn"]),
                    ),
                    _connector="OR",
                ),
                name="register_entry_decided_by_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "approved"), ("version__isnull", False)),
                    models.Q(models.Q(("state", "approved"), _negated=True), ("version", None)),
                    _connector="OR",
                ),
                name="register_entry_approved_is_numbered",
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "approved"), _negated=True),
                    models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                    _connector="OR",
                ),
                name="register_entry_four_eyes",
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("last_day", None), ("last_day__gte", models.F("first_day")), _connector="OR"),
                name="register_entry_has_days",
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="register_entry_has_a_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.UniqueConstraint(fields=("casino", "version"), name="one_register_entry_a_version"),
        ),
        migrations.AddConstraint(
            model_name="registerentry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "waiting")),
                fields=("casino", "table", "ruleset", "reading"),
                name="one_waiting_register_entry",
                nulls_distinct=False,
            ),
        ),
        migrations.RunSQL((SQL / "0024_register.sql").read_text()),
    ]
