"""The fourth edition of the ledger begins, and two more of its questions open a case."""

from pathlib import Path

from django.db import migrations, models

AUDIT = Path(__file__).resolve().parent.parent


class Migration(migrations.Migration):
    dependencies = [("audit", "0009_chips")]

    operations = [
        migrations.RunSQL((AUDIT / "casework/sql/questions_of_croupiers.sql").read_text()),
        migrations.AlterField(model_name="ledgerbatch", name="edition", field=models.IntegerField(default=4)),
        migrations.AlterField(model_name="ledgercursor", name="edition", field=models.IntegerField(default=4)),
        migrations.AlterField(model_name="ledgerprocess", name="edition", field=models.IntegerField(default=4)),
    ]
