"""Erasure of persons, what is held of one as a file, and batches that a table system signs."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SQL = Path(__file__).resolve().parent / "sql"

KINDS = ["verify", "what_if", "export", "subject"]


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0041_archive"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="public_key",
            field=models.BinaryField(editable=False, max_length=32, null=True, verbose_name="public key"),
        ),
        migrations.RemoveConstraint(model_name="job", name="job_kind_is_one"),
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("verify", "verification"),
                    ("what_if", "what-if run"),
                    ("export", "export"),
                    ("subject", "what is held of a person"),
                ],
                max_length=16,
                verbose_name="job",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(condition=models.Q(("kind__in", KINDS)), name="job_kind_is_one"),
        ),
        migrations.CreateModel(
            name="ErasedPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=40, verbose_name="id")),
                ("kind", models.CharField(max_length=16, verbose_name="kind")),
                ("reason", models.TextField(verbose_name="reason")),
                ("erased_at", models.DateTimeField(verbose_name="erased")),
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
                    "erased_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="erased by",
                    ),
                ),
            ],
            options={
                "verbose_name": "erased person",
                "verbose_name_plural": "erased persons",
                "indexes": [models.Index(fields=["casino", "code"], name="erased_of_a_casino")],
            },
        ),
        migrations.RunSQL((SQL / "0042_signed_batches.sql").read_text()),
        migrations.RunSQL((SQL / "0042_erasure.sql").read_text()),
    ]
