"""The ledger keeps how many subjects of each kind a year expected, and what each batch counted."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0010_fourth_ledger'),
    ]

    operations = [
        migrations.AddField(model_name='ledgercursor', name='expected', field=models.JSONField(default=dict)),
        migrations.AddField(model_name='ledgeryear', name='expected', field=models.JSONField(default=dict)),
        migrations.AddField(model_name='ledgeryear', name='edition', field=models.IntegerField(default=3)),
        migrations.AlterField(model_name='ledgeryear', name='edition', field=models.IntegerField(default=4)),
        migrations.AddField(model_name='ledgerpoint', name='counts', field=models.JSONField(default=list)),
        migrations.RemoveConstraint(model_name='ledgeryear', name='one_budget_a_year'),
        migrations.AddConstraint(
            model_name='ledgeryear',
            constraint=models.UniqueConstraint(fields=('casino', 'year', 'edition'), name='one_budget_a_year'),
        ),
    ]
