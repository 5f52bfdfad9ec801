"""Corrections that wait: decisions of two officers, runs that know what was approved, figures that know what waits."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0024_register"),
    ]

    operations = [
        migrations.CreateModel(
            name="CorrectionDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.BigIntegerField(verbose_name="correction")),
                ("number", models.SmallIntegerField()),
                (
                    "verdict",
                    models.CharField(
                        choices=[("countersigned", "countersigned"), ("refused", "refused")],
                        max_length=16,
                        verbose_name="decision",
                    ),
                ),
                ("reason", models.TextField(verbose_name="reason")),
                ("decided_at", models.DateTimeField(verbose_name="decided")),
                ("entry_stream", models.CharField(max_length=200)),
                ("entry_seq", models.BigIntegerField()),
            ],
            options={
                "verbose_name": "decision on a correction",
                "verbose_name_plural": "decisions on corrections",
                "ordering": ["stream", "seq", "number"],
            },
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[],
            options={
                "verbose_name": "correction",
                "verbose_name_plural": "corrections",
                "ordering": ["-pk"],
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("audit.finding",),
        ),
        migrations.RemoveConstraint(
            model_name="adjudicationrun",
            name="run_cause_is_one",
        ),
        migrations.RemoveConstraint(
            model_name="sessionfigures",
            name="one_figures_a_session_and_readings",
        ),
        migrations.AddField(
            model_name="adjudicationrun",
            name="approved",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(), default=list, null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="sessionfigures",
            name="corrections",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddField(
            model_name="sessionfigures",
            name="waiting",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AlterField(
            model_name="adjudicationrun",
            name="cause",
            field=models.CharField(
                choices=[
                    ("first", "first reading"),
                    ("correction", "correction"),
                    ("engine", "other engine version"),
                    ("register", "change of the register"),
                    ("approval", "approval of a correction"),
                    ("manual", "by hand"),
                ],
                default="first",
                max_length=16,
                verbose_name="cause",
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudicationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("cause__in", ["first", "correction", "engine", "register", "approval", "manual"])),
                name="run_cause_is_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="sessionfigures",
            constraint=models.UniqueConstraint(
                fields=("stream", "last_seq", "engine_version", "readings", "corrections"),
                name="one_figures_a_session_and_decisions",
            ),
        ),
        migrations.AddField(
            model_name="correctiondecision",
            name="casino",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino", verbose_name="casino"
            ),
        ),
        migrations.AddField(
            model_name="correctiondecision",
            name="officer",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="officer",
            ),
        ),
        migrations.AddField(
            model_name="correctiondecision",
            name="stream",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="audit.loggedstream",
                verbose_name="stream",
            ),
        ),
        migrations.AddConstraint(
            model_name="correctiondecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__in", [1, 2])), name="correction_decided_by_two_at_most"
            ),
        ),
        migrations.AddConstraint(
            model_name="correctiondecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", ["countersigned", "refused"])), name="correction_verdict_is_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="correctiondecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="correction_decision_has_a_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="correctiondecision",
            constraint=models.UniqueConstraint(
                fields=("stream", "seq", "number"), name="one_correction_decision_a_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="correctiondecision",
            constraint=models.UniqueConstraint(
                fields=("stream", "seq", "officer"), name="one_correction_decision_an_officer"
            ),
        ),
        migrations.RunSQL((SQL / "0025_corrections.sql").read_text()),
    ]
