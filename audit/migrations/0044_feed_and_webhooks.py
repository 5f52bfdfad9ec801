"""The feed of findings, and webhooks, whose outbox it is. See sql/0044_feed.sql."""

from pathlib import Path

import audit.models.webhooks
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0043_references"),
    ]

    operations = [
        migrations.CreateModel(
            name="PublishedFeed",
            fields=[
                (
                    "casino",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="audit.casino",
                    ),
                ),
                ("position", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="FindingChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("opened", "opened"),
                            ("amended", "amended"),
                            ("superseded", "superseded"),
                            ("reinstated", "reinstated"),
                            ("closed", "closed"),
                            ("reopened", "reopened"),
                        ],
                        max_length=16,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("position", models.BigIntegerField(null=True)),
                (
                    "casino",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.casino"),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.finding"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.gamingtable"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("url", models.CharField(max_length=500, verbose_name="address")),
                (
                    "severities",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("critical", "critical"),
                                ("major", "major"),
                                ("minor", "minor"),
                                ("info", "information"),
                            ],
                            max_length=16,
                        ),
                        default=audit.models.webhooks.every_severity,
                        size=None,
                        verbose_name="severities",
                    ),
                ),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("position", models.BigIntegerField(default=0)),
                ("failures", models.IntegerField(default=0, verbose_name="failed attempts")),
                ("failing_since", models.DateTimeField(null=True, verbose_name="failing since")),
                ("next_try_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("error", models.CharField(blank=True, default="", max_length=300, verbose_name="error")),
                ("delivered_at", models.DateTimeField(null=True, verbose_name="last delivered")),
                ("leased_until", models.DateTimeField(null=True)),
                ("test_requested_at", models.DateTimeField(null=True)),
                ("tested_at", models.DateTimeField(null=True, verbose_name="tested")),
                (
                    "test_result",
                    models.CharField(blank=True, default="", max_length=300, verbose_name="result of the test"),
                ),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhooks",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "ordering": ["casino", "name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("error", models.CharField(blank=True, default="", max_length=300, verbose_name="error")),
                ("given_up_at", models.DateTimeField(verbose_name="given up")),
                ("again_at", models.DateTimeField(null=True)),
                ("sent_at", models.DateTimeField(null=True, verbose_name="sent")),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.findingchange"
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="dead_letters",
                        to="audit.webhook",
                        verbose_name="webhook",
                    ),
                ),
            ],
            options={
                "verbose_name": "dead letter",
                "verbose_name_plural": "dead letters",
                "ordering": ["-given_up_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="WebhookSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("secret", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(null=True)),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="secrets", to="audit.webhook"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="findingchange",
            index=models.Index(
                condition=models.Q(("position", None)), fields=["casino", "id"], name="changes_without_position"
            ),
        ),
        migrations.AddConstraint(
            model_name="findingchange",
            constraint=models.UniqueConstraint(fields=("casino", "position"), name="one_change_a_position"),
        ),
        migrations.AddConstraint(
            model_name="findingchange",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["opened", "amended", "superseded", "reinstated", "closed", "reopened"])
                ),
                name="finding_change_kind_is_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="deadletter",
            constraint=models.UniqueConstraint(fields=("webhook", "change"), name="one_dead_letter_a_change"),
        ),
        migrations.RunSQL((SQL / "0044_feed.sql").read_text()),
    ]
