"""Standard names: what-if runs, jobs, case actions, sign-off exceptions. Nothing else of the record changes."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
import django.db.models.deletion

# A table whose deferred triggers wait takes no constraint: they run at once.
JOB_NAMES = """
update audit_job set kind = 'what_if' where kind = 'beside';
set constraints all immediate;
"""

JOB_NAMES_BACK = """
update audit_job set kind = 'beside' where kind = 'what_if';
set constraints all immediate;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0012_works")]

    operations = [
        # A what-if run was called a replay beside.
        migrations.RemoveConstraint("adjudication", "one_cursor_a_stream"),
        migrations.RemoveConstraint("besidefinding", "one_finding_beside"),
        migrations.RenameModel("Beside", "WhatIf"),
        migrations.RenameModel("BesideFinding", "WhatIfFinding"),
        migrations.RenameField("adjudication", "beside", "what_if"),
        migrations.RenameField("whatiffinding", "beside", "what_if"),
        migrations.AddConstraint(
            "adjudication",
            models.UniqueConstraint(
                fields=["stream", "engine_version", "what_if"], nulls_distinct=False, name="one_cursor_a_stream"
            ),
        ),
        migrations.AddConstraint(
            "whatiffinding",
            models.UniqueConstraint(fields=["what_if", "stream", "seq", "rule", "wager"], name="one_what_if_finding"),
        ),
        # A job was called long work.
        migrations.RemoveConstraint("work", "work_kind_is_one"),
        migrations.RemoveConstraint("work", "work_state_is_one"),
        migrations.RenameModel("Work", "Job"),
        migrations.RenameField("job", "asked", "params"),
        migrations.RenameField("job", "asked_at", "requested_at"),
        migrations.RenameField("job", "begun_at", "started_at"),
        migrations.RenameField("job", "seen_at", "heartbeat_at"),
        migrations.RenameField("job", "outcome", "result"),
        migrations.RenameField("job", "trouble", "error"),
        migrations.RunSQL(JOB_NAMES, JOB_NAMES_BACK),
        migrations.AddConstraint(
            "job",
            models.CheckConstraint(condition=Q(kind__in=["verify", "what_if", "export"]), name="job_kind_is_one"),
        ),
        migrations.AddConstraint(
            "job",
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "stopped"]), name="job_state_is_one"
            ),
        ),
        migrations.RenameField("nightrun", "trouble", "error"),
        # A case action was called an act, a sign-off exception a reservation.
        migrations.RenameModel("CaseAct", "CaseAction"),
        migrations.RemoveConstraint("reservation", "one_reservation_a_code"),
        migrations.RemoveConstraint("reservation", "reservation_has_words"),
        migrations.RenameModel("Reservation", "SignoffException"),
        migrations.RenameField("signoffexception", "words", "reason"),
        migrations.AddConstraint(
            "signoffexception",
            models.UniqueConstraint(fields=["report", "code"], name="one_signoff_exception_a_code"),
        ),
        migrations.AddConstraint(
            "signoffexception",
            models.CheckConstraint(condition=~Q(reason=""), name="signoff_exception_has_reason"),
        ),
        # What Django keeps in its own state alone.
        migrations.AlterModelOptions(
            "caseaction", {"ordering": ["at", "pk"], "verbose_name": "action", "verbose_name_plural": "actions"}
        ),
        migrations.AlterModelOptions(
            "job",
            {"ordering": ["-requested_at"], "verbose_name": "background job", "verbose_name_plural": "background jobs"},
        ),
        migrations.AlterModelOptions(
            "signoffexception",
            {
                "ordering": ["code"],
                "verbose_name": "sign-off exception",
                "verbose_name_plural": "sign-off exceptions",
            },
        ),
        migrations.AlterModelOptions(
            "whatif",
            {"ordering": ["-started_at"], "verbose_name": "what-if run", "verbose_name_plural": "what-if runs"},
        ),
        migrations.AlterModelOptions(
            "whatiffinding",
            {
                "ordering": ["stream_id", "seq", "rule", "wager"],
                "verbose_name": "finding of a what-if run",
                "verbose_name_plural": "findings of what-if runs",
            },
        ),
        migrations.AlterField(
            "caseaction",
            "case",
            models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="actions", to="audit.case"),
        ),
        migrations.AlterField(
            "job",
            "casino",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="jobs",
                to="audit.casino",
                verbose_name="casino",
            ),
        ),
        migrations.AlterField(
            "job",
            "kind",
            models.CharField(
                choices=[("verify", "verification"), ("what_if", "what-if run"), ("export", "export")],
                max_length=16,
                verbose_name="job",
            ),
        ),
        migrations.AlterField(
            "job",
            "officer",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="jobs",
                to=settings.AUTH_USER_MODEL,
                verbose_name="officer",
            ),
        ),
        migrations.AlterField(
            "job", "requested_at", models.DateTimeField(auto_now_add=True, verbose_name="requested")
        ),
        migrations.AlterField("job", "started_at", models.DateTimeField(null=True, verbose_name="started")),
        migrations.AlterField(
            "quarantined",
            "purged_at",
            models.DateTimeField(blank=True, null=True, verbose_name="bytes deleted"),
        ),
        migrations.AlterField(
            "nightreport", "made_at", models.DateTimeField(auto_now_add=True, verbose_name="issued")
        ),
        migrations.AlterField("nightreport", "made_by", models.CharField(max_length=200, verbose_name="issued by")),
        migrations.AlterField(
            "signoffexception", "made_at", models.DateTimeField(auto_now_add=True, verbose_name="signed")
        ),
        migrations.AlterField("nightrun", "error", models.TextField(blank=True, verbose_name="error")),
        migrations.AlterField(
            "signoffexception",
            "report",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="signoff_exceptions", to="audit.nightreport"
            ),
        ),
    ]
