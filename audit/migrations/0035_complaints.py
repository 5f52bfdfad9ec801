"""Complaints that officers enter at the desk, and their answers."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0034_video_requests"),
    ]

    operations = [
        migrations.CreateModel(
            name="Complaint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.BigIntegerField()),
                ("clock", models.TimeField(verbose_name="clock time")),
                ("wager", models.CharField(blank=True, max_length=200, verbose_name="wager")),
                ("player", models.CharField(blank=True, max_length=200, verbose_name="player")),
                (
                    "came",
                    models.CharField(
                        choices=[
                            ("table", "at the table"),
                            ("cage", "at the cage"),
                            ("letter", "by letter"),
                            ("mail", "by mail"),
                        ],
                        max_length=16,
                        verbose_name="how it came",
                    ),
                ),
                ("words", models.TextField(verbose_name="what they say")),
                ("entered_at", models.DateTimeField(verbose_name="entered")),
                ("deadline", models.DateTimeField(verbose_name="deadline")),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
                (
                    "entered_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="entered by",
                    ),
                ),
                (
                    "stream",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="audit.loggedstream",
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.gamingtable",
                        verbose_name="table",
                    ),
                ),
            ],
            options={
                "verbose_name": "complaint",
                "verbose_name_plural": "complaints",
            },
        ),
        migrations.CreateModel(
            name="ComplaintAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("founded", "founded"), ("unfounded", "unfounded"), ("withdrawn", "withdrawn")],
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("amount", models.BigIntegerField(null=True, verbose_name="amount")),
                ("paid_seq", models.BigIntegerField(null=True)),
                ("words", models.TextField(verbose_name="answer")),
                ("answered_at", models.DateTimeField(verbose_name="answered")),
                (
                    "answered_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="answered by",
                    ),
                ),
                (
                    "complaint",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="answer", to="audit.complaint"
                    ),
                ),
            ],
            options={
                "verbose_name": "answer to a complaint",
                "verbose_name_plural": "answers to complaints",
            },
        ),
        migrations.AddIndex(
            model_name="complaint",
            index=models.Index(fields=["stream", "seq"], name="complaints_of_a_stream"),
        ),
        migrations.AddIndex(
            model_name="complaint",
            index=models.Index(fields=["casino", "deadline"], name="complaints_by_deadline"),
        ),
        migrations.AddConstraint(
            model_name="complaint",
            constraint=models.CheckConstraint(
                condition=models.Q(("came__in", ["table", "cage", "letter", "mail"])), name="complaint_came_somehow"
            ),
        ),
        migrations.AddConstraint(
            model_name="complaintanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount__gte", 0), ("outcome", "founded")),
                    models.Q(("amount", None), ("outcome__in", ["unfounded", "withdrawn"]), ("paid_seq", None)),
                    _connector="OR",
                ),
                name="complaint_answer_of_a_kind",
            ),
        ),
    ]
