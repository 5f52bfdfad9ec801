"""Two officers close a session whose table system is gone."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0016_equipment")]

    operations = [
        migrations.CreateModel(
            name="SessionClosing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("next_seq", models.BigIntegerField()),
                ("float_minor", models.BigIntegerField(verbose_name="float counted")),
                ("reason", models.TextField(verbose_name="reason")),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("approved", "approved"), ("declined", "declined"), ("withdrawn", "withdrawn")], default="waiting", max_length=16, verbose_name="state")),
                ("proposed_at", models.DateTimeField(verbose_name="proposed")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decision_reason", models.TextField(blank=True, verbose_name="reason for the decision")),
                ("casino", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino", verbose_name="casino")),
                ("decided_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="decided by")),
                ("proposed_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="proposed by")),
                ("stream", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="audit.loggedstream", verbose_name="session")),
            ],
            options={
                "verbose_name": "closing of a session",
                "verbose_name_plural": "closings of sessions",
                "ordering": ["stream", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("decided_at", None), ("decided_by", None), ("state", "waiting")), models.Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("state__in", ["approved", "declined", "withdrawn"])), _connector="OR"), name="session_closing_decided_by_somebody"
                    ),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "approved"), _negated=True), models.Q(("decided_by", models.F("proposed_by")), _negated=True), _connector="OR"), name="session_closing_four_eyes"),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="session_closing_has_a_reason"),
                    models.CheckConstraint(condition=models.Q(("float_minor__gte", 0), ("float_minor__lte", 9007199254740991)), name="session_closing_float_is_an_amount"),
                    models.UniqueConstraint(condition=models.Q(("state__in", ["waiting", "approved"])), fields=("stream",), name="one_session_closing"),
                ],
            },
        ),
        migrations.RunSQL((AUDIT / "casework/sql/session_closing.sql").read_text()),
    ]
