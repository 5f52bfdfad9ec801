"""The ledger sets aside the batches that it cannot take. Its third edition begins."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_doors'),
    ]

    operations = [
        migrations.CreateModel(
            name='LedgerSetAside',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('draws', 'draws of a session'), ('evening', 'draws of an evening, by person'), ('late', 'draws by person, of sessions that closed late'), ('payouts', 'payouts of a night'), ('count', 'count of a session')], max_length=16)),
                ('gaming_day', models.DateField()),
                ('currency', models.CharField(max_length=3)),
                ('last_seq', models.BigIntegerField(default=0)),
                ('log_index', models.BigIntegerField(null=True)),
                ('content', models.BinaryField(default=b'')),
                ('error', models.CharField(max_length=500)),
                ('tries', models.IntegerField(default=0)),
                ('began_at', models.DateTimeField(auto_now_add=True)),
                ('next_try_at', models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='ledgerprocess',
            name='one_process_a_subject_at_once',
        ),
        migrations.AddField(
            model_name='ledgerbatch',
            name='edition',
            field=models.IntegerField(default=2),

        ),
        migrations.AddField(
            model_name='ledgercursor',
            name='edition',
            field=models.IntegerField(default=2),

        ),
        migrations.AddField(
            model_name='ledgerprocess',
            name='edition',
            field=models.IntegerField(default=2),

        ),
        migrations.AlterField(
            model_name='ledgerbatch',
            name='kind',
            field=models.CharField(choices=[('draws', 'draws of a session'), ('evening', 'draws of an evening, by person'), ('late', 'draws by person, of sessions that closed late'), ('payouts', 'payouts of a night'), ('count', 'count of a session')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='ledgerprocess',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('casino', 'name', 'edition'), name='one_process_a_subject_at_once'),
        ),
        migrations.AddField(
            model_name='ledgersetaside',
            name='casino',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger_set_aside', to='audit.casino'),
        ),
        migrations.AddField(
            model_name='ledgersetaside',
            name='stream',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='ledger_set_aside', to='audit.loggedstream'),
        ),
        migrations.AddConstraint(
            model_name='ledgersetaside',
            constraint=models.UniqueConstraint(condition=models.Q(('stream__isnull', False)), fields=('kind', 'stream'), name='set_aside_once'),
        ),
        migrations.AddConstraint(
            model_name='ledgersetaside',
            constraint=models.UniqueConstraint(condition=models.Q(('stream__isnull', True)), fields=('casino', 'kind', 'gaming_day', 'currency'), name='night_set_aside_once'),
        ),
        migrations.AlterField(model_name='ledgerbatch', name='edition', field=models.IntegerField(default=3)),
        migrations.AlterField(model_name='ledgercursor', name='edition', field=models.IntegerField(default=3)),
        migrations.AlterField(model_name='ledgerprocess', name='edition', field=models.IntegerField(default=3)),
    ]
