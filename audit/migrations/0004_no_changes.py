"""The desk counts at every request: what noted the changes of what it counts is gone."""

from pathlib import Path

from django.db import migrations

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_result_slip"), ("django_celery_beat", "0019_alter_periodictasks_options")]

    operations = [
        migrations.RunSQL((AUDIT / "desk/sql/changes_forgotten.sql").read_text()),
        migrations.DeleteModel("Change"),
    ]
