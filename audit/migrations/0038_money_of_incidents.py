"""The queue is in order from indexes alone: they have the incidents, their money, and who is concerned by them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0037_constraints'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='finding',
            name='finding_heads_incident',
        ),
        migrations.RemoveIndex(
            model_name='finding',
            name='finding_of_incident',
        ),
        migrations.RemoveIndex(
            model_name='finding',
            name='finding_by_size',
        ),
        migrations.RemoveIndex(
            model_name='finding',
            name='finding_claim',
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(condition=models.Q(('heads_case', True), ('status', 'standing')), fields=['case', 'casino'], include=('id', 'rule', 'table', 'gaming_day', 'currency', 'player', 'croupier'), name='finding_heads_incident'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(condition=models.Q(('status', 'standing')), fields=['case', 'casino'], include=('player', 'gaming_day'), name='finding_of_incident'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(condition=models.Q(('difference__isnull', False), ('status', 'standing')), fields=['case'], include=('casino', 'occurred_at', 'severity', 'currency', 'player', 'croupier', 'difference', 'owed', 'put_right_by', 'cleared'), name='finding_money'),
        ),
    ]
