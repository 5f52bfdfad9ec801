"""The fifth edition of the ledger begins."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0014_hands")]

    operations = [
        migrations.AlterField(model_name="ledgerbatch", name="edition", field=models.IntegerField(default=5)),
        migrations.AlterField(model_name="ledgercursor", name="edition", field=models.IntegerField(default=5)),
        migrations.AlterField(model_name="ledgerprocess", name="edition", field=models.IntegerField(default=5)),
        migrations.AlterField(model_name="ledgeryear", name="edition", field=models.IntegerField(default=5)),
    ]
