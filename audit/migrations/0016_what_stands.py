"""Runs of adjudication as rows, and findings that are pending, standing or superseded by one of them: see sql/.

A finding that was superseded before this migration is taken to have stood: whether it did was not stored.
"""

from pathlib import Path

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models import Func, Q

SQL = Path(__file__).resolve().parent / "sql"

IDENTITY = ["stream", "seq", "rule", "wager", "ruleset", "engine_version", "readings_digest"]


class Migration(migrations.Migration):
    dependencies = [("audit", "0015_policy")]

    operations = [
        migrations.RunSQL((SQL / "0016_content.sql").read_text()),
        migrations.CreateModel(
            name="AdjudicationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(default=1, verbose_name="run")),
                ("cause", models.CharField(choices=[("first", "first reading"), ("correction", "correction"), ("engine", "other engine version"), ("register", "change of the register"), ("manual", "by hand")], default="first", max_length=16, verbose_name="cause")),
                ("engine_version", models.CharField(max_length=32, verbose_name="engine version")),
                ("register_version", models.CharField(blank=True, max_length=32, null=True, verbose_name="register version")),
                ("corrections_through", models.BigIntegerField(default=0)),
                ("state", models.CharField(choices=[("running", "running"), ("complete", "complete"), ("failed", "failed"), ("superseded", "superseded")], default="running", max_length=16, verbose_name="state")),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="began")),
                ("completed_at", models.DateTimeField(null=True, verbose_name="complete since")),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                ("tries", models.IntegerField(default=0, verbose_name="tries")),
                ("failed_at", models.DateTimeField(null=True, verbose_name="failed since")),
                ("next_try_at", models.DateTimeField(null=True, verbose_name="next try")),
                ("error_type", models.CharField(blank=True, max_length=100, verbose_name="error")),
                ("error", models.TextField(blank=True, verbose_name="reason")),
                ("casino", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="runs", to="audit.loggedstream", verbose_name="stream")),
                ("what_if", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="audit.whatif")),
                ("replaces", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="audit.adjudicationrun")),
                ("superseded_by", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="audit.adjudicationrun", verbose_name="superseded by")),
            ],
            options={"verbose_name": "run", "verbose_name_plural": "runs", "ordering": ["-pk"]},
        ),
        migrations.CreateModel(
            name="FailedRun",
            fields=[],
            options={"verbose_name": "failed run", "verbose_name_plural": "failed runs", "ordering": ["failed_at"], "proxy": True, "indexes": [], "constraints": []},
            bases=("audit.adjudicationrun",),
        ),
        migrations.AddField("adjudication", "current_run", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="audit.adjudicationrun")),
        migrations.AddField("finding", "found_by", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.adjudicationrun", verbose_name="run")),
        migrations.AddField("finding", "status", models.CharField(choices=[("pending", "pending"), ("standing", "standing"), ("superseded", "superseded")], default="standing", max_length=16, verbose_name="status")),
        migrations.AddField("finding", "stood_at", models.DateTimeField(default=django.utils.timezone.now, null=True, verbose_name="standing since")),
        migrations.AddField("finding", "superseded_by_run", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.adjudicationrun", verbose_name="superseded by")),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL((SQL / "0016_runs.sql").read_text())],
            state_operations=[
                migrations.DeleteModel("RetiredWagers"),
                migrations.CreateModel(
                    name="RetiredWagers",
                    fields=[
                        ("pk", models.CompositePrimaryKey("run_id", "through", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("run", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="retired", to="audit.adjudicationrun")),
                        ("through", models.BigIntegerField()),
                        ("digests", models.BinaryField()),
                        ("saved", models.BinaryField()),
                    ],
                    options={"verbose_name": "retired wagers", "verbose_name_plural": "retired wagers"},
                ),
            ],
        ),
        migrations.RemoveField("adjudication", "run"),
        migrations.RemoveField("adjudication", "completed_run"),
        migrations.RemoveField("adjudication", "corrected_through"),
        migrations.RemoveField("adjudication", "replaces"),
        migrations.RenameField("adjudication", "current_run", "run"),
        migrations.RemoveField("whatiffinding", "run"),
        migrations.RemoveConstraint("finding", "one_finding_an_identity"),
        migrations.RemoveField("finding", "run"),
        migrations.RenameField("finding", "found_by", "run"),
        migrations.AddField(
            "finding",
            "content",
            models.GeneratedField(
                db_persist=True,
                expression=Func("run", "severity", "evidence", "expected", "recorded", "provision", "facts", "after_loss", "occurred_at", function="audit_finding_content"),
                output_field=models.UUIDField(null=True),
            ),
        ),
        migrations.AddConstraint("finding", models.UniqueConstraint(fields=[*IDENTITY, "content"], nulls_distinct=False, name="one_finding_an_identity")),
        migrations.AddConstraint("finding", models.CheckConstraint(condition=Q(status__in=["pending", "standing", "superseded"]), name="finding_status_is_one")),
        migrations.AddConstraint("finding", models.CheckConstraint(condition=Q(status="superseded", superseded_at__isnull=False) | Q(~Q(status="superseded"), superseded_at=None, superseded_by_run=None), name="finding_superseded_at")),
        migrations.AddConstraint("finding", models.CheckConstraint(condition=~Q(status="standing") | Q(stood_at__isnull=False, case__isnull=False), name="finding_stands_with_case")),
        migrations.AddConstraint("finding", models.CheckConstraint(condition=Q(stood_at__isnull=False) | Q(case=None, run__isnull=False), name="finding_stood_or_has_none")),
        migrations.AddIndex("adjudicationrun", models.Index(condition=Q(state="failed"), fields=["casino", "next_try_at"], name="run_failed")),
        migrations.AddConstraint("adjudicationrun", models.UniqueConstraint(condition=Q(state__in=["running", "failed"]), fields=["stream", "what_if"], name="one_run_under_way", nulls_distinct=False)),
        migrations.AddConstraint("adjudicationrun", models.UniqueConstraint(condition=Q(state="complete"), fields=["stream", "what_if"], name="one_complete_run", nulls_distinct=False)),
        migrations.AddConstraint("adjudicationrun", models.CheckConstraint(condition=Q(state__in=["running", "complete", "failed", "superseded"]), name="run_state_is_one")),
        migrations.AddConstraint("adjudicationrun", models.CheckConstraint(condition=Q(cause__in=["first", "correction", "engine", "register", "manual"]), name="run_cause_is_one")),
        migrations.AddConstraint("adjudicationrun", models.CheckConstraint(condition=~Q(state="complete") | Q(completed_at__isnull=False), name="run_complete_since")),
        migrations.AddConstraint("adjudicationrun", models.CheckConstraint(condition=Q(state="superseded") | Q(superseded_by=None, ended_at=None), name="run_superseded_by_a_run")),
        migrations.AddConstraint("adjudicationrun", models.CheckConstraint(condition=Q(state="failed", failed_at__isnull=False, next_try_at__isnull=False) | (~Q(state="failed") & Q(next_try_at=None)), name="run_failed_is_tried_again")),
        migrations.RunSQL((SQL / "0016_what_stands.sql").read_text()),
    ]
