"""The ledger sets aside what it cannot be fed."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0004_no_changes'),
    ]

    operations = [
        migrations.CreateModel(
            name='LedgerSetAside',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('draws', 'draws of a session'), ('payouts', 'payouts of a night'), ('count', 'count of a session')], max_length=16)),
                ('gaming_day', models.DateField()),
                ('currency', models.CharField(max_length=3)),
                ('last_seq', models.BigIntegerField(default=0)),
                ('log_index', models.BigIntegerField(null=True)),
                ('content', models.BinaryField(default=b'')),
                ('error', models.CharField(max_length=500)),
                ('tries', models.IntegerField(default=0)),
                ('began_at', models.DateTimeField(auto_now_add=True)),
                ('next_try_at', models.DateTimeField()),
                ('casino', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger_set_aside', to='audit.casino')),
                ('stream', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='ledger_set_aside', to='audit.loggedstream')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('stream__isnull', False)), fields=('kind', 'stream'), name='set_aside_once'), models.UniqueConstraint(condition=models.Q(('stream__isnull', True)), fields=('casino', 'kind', 'gaming_day', 'currency'), name='night_set_aside_once')],
            },
        ),
    ]
