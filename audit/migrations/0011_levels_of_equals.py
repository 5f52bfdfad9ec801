"""The ledger says how many subjects of each kind it expected when its year began."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_third_ledger'),
    ]

    operations = [
        migrations.AddField(model_name='ledgercursor', name='expected', field=models.JSONField(default=dict)),
        migrations.AddField(model_name='ledgeryear', name='expected', field=models.JSONField(default=dict)),
        migrations.AddField(model_name='ledgeryear', name='edition', field=models.IntegerField(default=2)),
        migrations.AlterField(model_name='ledgeryear', name='edition', field=models.IntegerField(default=3)),
        migrations.RemoveConstraint(model_name='ledgeryear', name='one_budget_a_year'),
        migrations.AddConstraint(
            model_name='ledgeryear',
            constraint=models.UniqueConstraint(fields=('casino', 'year', 'edition'), name='one_budget_a_year'),
        ),
    ]
