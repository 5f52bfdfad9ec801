"""Cosignatures of witnesses on the checkpoints of the log, and how each witness answered last."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0037_mail_failures"),
    ]

    operations = [
        migrations.CreateModel(
            name="Cosignature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField()),
                ("witness", models.TextField()),
                ("vkey", models.TextField()),
                ("line", models.TextField()),
                ("cosigned_at", models.DateTimeField()),
                ("received_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("size", "vkey"), name="one_cosignature_a_witness"),
                    models.CheckConstraint(condition=models.Q(("size__gt", 0)), name="cosigned_trees_have_leaves"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WitnessState",
            fields=[
                ("vkey", models.TextField(primary_key=True, serialize=False)),
                ("size", models.BigIntegerField(default=0)),
                ("cosigned_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField()),
                ("error", models.TextField(blank=True)),
                ("refused_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
