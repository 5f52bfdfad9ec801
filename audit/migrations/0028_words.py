"""Models are called by the words of the desk; no column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0027_attachments"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="deadletter",
            options={
                "ordering": ["-given_up_at", "-pk"],
                "verbose_name": "failed delivery",
                "verbose_name_plural": "failed deliveries",
            },
        ),
        migrations.AlterModelOptions(
            name="ledgerprocess",
            options={
                "ordering": ["casino", "kind", "subject"],
                "verbose_name": "test",
                "verbose_name_plural": "evidence ledger",
            },
        ),
        migrations.AlterField(
            model_name="ledgerprocess",
            name="alpha",
            field=models.CharField(max_length=64, verbose_name="threshold"),
        ),
    ]
