"""References of findings, counted for each casino and year; single sign-on."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0042_erasure_and_signatures"),
    ]

    operations = [
        migrations.AlterField(
            model_name="complaint",
            name="came",
            field=models.CharField(
                choices=[
                    ("table", "at the table"),
                    ("cage", "at the cage"),
                    ("letter", "by letter"),
                    ("mail", "by e-mail"),
                ],
                max_length=16,
                verbose_name="how it came",
            ),
        ),
        migrations.AlterField(
            model_name="complaintanswer",
            name="outcome",
            field=models.CharField(
                choices=[("founded", "upheld"), ("unfounded", "not upheld"), ("withdrawn", "withdrawn")],
                max_length=16,
                verbose_name="outcome",
            ),
        ),
        migrations.CreateModel(
            name="FindingCounter",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "casino_id", "year", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "casino",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.casino",
                    ),
                ),
                ("year", models.SmallIntegerField(verbose_name="year")),
                ("last", models.BigIntegerField(verbose_name="last number")),
            ],
            options={
                "verbose_name": "counter of findings",
                "verbose_name_plural": "counters of findings",
            },
        ),
        migrations.AddField(
            model_name="finding",
            name="number",
            field=models.BigIntegerField(editable=False, null=True, verbose_name="number in the year"),
        ),
        migrations.AddField(
            model_name="finding",
            name="year",
            field=models.SmallIntegerField(editable=False, null=True, verbose_name="year of the reference"),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                condition=models.Q(("number__isnull", False)), fields=["number", "year"], name="finding_by_reference"
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("number", None), ("year", None)),
                    models.Q(("number__gt", 0), ("year__isnull", False)),
                    _connector="OR",
                ),
                name="finding_is_numbered",
            ),
        ),
        migrations.RunSQL((SQL / "0043_references.sql").read_text()),
        migrations.CreateModel(
            name="ProviderAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("linked_at", models.DateTimeField()),
                (
                    "officer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="provider_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "account at the provider",
                "verbose_name_plural": "accounts at the provider",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("issuer", "subject"), name="one_officer_an_account_at_the_provider"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GroupRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
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
                ("group", models.CharField(max_length=255, verbose_name="group")),
                (
                    "casino",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="audit.casino",
                        verbose_name="casino",
                    ),
                ),
            ],
            options={
                "verbose_name": "role of a group",
                "verbose_name_plural": "roles of groups",
                "constraints": [
                    models.UniqueConstraint(fields=("casino", "role", "group"), name="one_role_of_a_group"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("role__in", ["officer", "second", "director", "auditor", "administrator"])
                        ),
                        name="group_role_is_one",
                    ),
                ],
            },
        ),
        migrations.RunSQL((SQL / "0043_single_sign_on.sql").read_text()),
    ]
