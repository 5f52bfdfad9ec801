"""What is active, and which run judges, are one definition each; workers note which periodic tasks ran."""

from pathlib import Path

from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_own_voiding")]

    operations = [
        migrations.RunSQL((AUDIT / "access/sql/active.sql").read_text()),
        migrations.RunSQL((AUDIT / "adjudication/sql/judging.sql").read_text()),
        migrations.CreateModel(
            name="TaskRun",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("ran_at", models.DateTimeField()),
            ],
        ),
    ]
