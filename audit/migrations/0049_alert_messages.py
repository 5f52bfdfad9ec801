"""Alerts for programs: webhooks that want them, and what is to be sent to each.

And groups of a provider take a role away only where an operator has mapped one: see sql/0049_roles_by_groups.sql.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0048_findings_of_nights"),
    ]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="receives_alerts",
            field=models.BooleanField(db_default=False, default=False, verbose_name="alerts"),
        ),
        migrations.CreateModel(
            name="AlertMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sent_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("given_up_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("is_of_end", models.BooleanField(default=False)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="messages", to="audit.alert"
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.webhook"
                    ),
                ),
            ],
            options={"ordering": ["pk"]},
        ),
        migrations.AddConstraint(
            model_name="alertmessage",
            constraint=models.UniqueConstraint(
                fields=("alert", "webhook", "is_of_end"), name="one_alert_message_a_receiver", nulls_distinct=False
            ),
        ),
        migrations.AddIndex(
            model_name="alertmessage",
            index=models.Index(
                condition=models.Q(("given_up_at", None), ("sent_at", None)),
                fields=["webhook"],
                name="alert_messages_to_send",
            ),
        ),
        migrations.RunSQL((SQL / "0049_roles_by_groups.sql").read_text()),
    ]
