"""Accounts: links to choose a password, requests that two administrators decide, refused sign-ins: see sql/."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0019_persons"),
    ]

    operations = [
        migrations.AddField(
            model_name="officer",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="SignInRefusal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("starts_at", models.DateTimeField()),
                ("network", models.CharField(max_length=50)),
                ("refusals", models.PositiveIntegerField(default=1)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("starts_at", "network"), name="one_refusal_a_window_and_network")
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_invitation", models.BooleanField()),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("issued_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("is_shown", models.BooleanField()),
                ("used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "issued_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "officer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="access_links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("officer", models.F("issued_by")), _negated=True),
                        name="access_link_for_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("used_at", None), ("revoked_at", None), _connector="OR"),
                        name="access_link_used_or_revoked",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("revoked_at", None), ("used_at", None)),
                        fields=("officer",),
                        name="one_access_link_an_officer",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AccountRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("role", "role"),
                            ("second_factor", "reset of the second factor"),
                            ("email", "new mail address"),
                            ("reactivation", "reactivation"),
                        ],
                        max_length=16,
                        verbose_name="request",
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("officer", "officer"),
                            ("second", "second officer"),
                            ("director", "director"),
                            ("auditor", "auditor"),
                            ("administrator", "administrator"),
                        ],
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="mail address")),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
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
                ("proposed_at", models.DateTimeField(verbose_name="proposed")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("is_first", models.BooleanField(default=False)),
                (
                    "casino",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="account_requests",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="decided by",
                    ),
                ),
                (
                    "officer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="account_requests",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="officer",
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="proposed by",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["role", "second_factor", "email", "reactivation"])),
                        name="account_request_kind_is_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("casino__isnull", False),
                                ("email", ""),
                                ("kind", "role"),
                                ("role__in", ["officer", "second", "director", "auditor", "administrator"]),
                            ),
                            models.Q(
                                ("casino", None),
                                ("kind", "email"),
                                ("role", ""),
                                models.Q(("email", ""), _negated=True),
                            ),
                            models.Q(
                                ("casino", None),
                                ("email", ""),
                                ("kind__in", ["second_factor", "reactivation"]),
                                ("role", ""),
                            ),
                            _connector="OR",
                        ),
                        name="account_request_is_of_its_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at", None), ("decided_by", None), ("state", "waiting")),
                            models.Q(
                                ("decided_at__isnull", False),
                                ("decided_by__isnull", False),
                                ("state__in", ["approved", "declined", "withdrawn"]),
                            ),
                            _connector="OR",
                        ),
                        name="account_request_decided_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "approved"), _negated=True),
                            models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                            models.Q(("is_first", True), ("kind", "role"), ("role", "administrator")),
                            _connector="OR",
                        ),
                        name="account_request_four_eyes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("officer", models.F("proposed_by")), _negated=True),
                            models.Q(
                                ("decided_by", None),
                                models.Q(("officer", models.F("decided_by")), _negated=True),
                                _connector="OR",
                            ),
                        ),
                        name="account_request_not_for_oneself",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")),
                        fields=("officer", "kind", "casino"),
                        name="one_waiting_account_request",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.RunSQL((SQL / "0020_accounts.sql").read_text()),
    ]
